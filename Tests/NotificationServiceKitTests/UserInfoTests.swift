// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import NotificationServiceKit

struct UserInfoTests {
  @Test("a payload that is converted to userInfo and back is unchanged")
  func roundTrip() throws {
    let payload =
      #"{"aps":{"alert":{"title":"Alipay"},"badge":3},"crier":{"tokens":["ten aw"],"sequence":42},"flag":true}"#
    let userInfo = UserInfo.userInfo(of: Data(payload.utf8))
    let again = try JSONSerialization.jsonObject(with: UserInfo.payload(of: userInfo)) as? NSDictionary
    #expect(again == (try JSONSerialization.jsonObject(with: Data(payload.utf8))) as? NSDictionary)
  }

  @Test("amounts stay text and integers stay integers when a payload is converted to userInfo")
  func numbers() {
    let payload = UserInfo.payload(of: [
      "crier": ["amount": "12.50", "sequence": 9_007_199_254_740_993] as [String: Any]
    ])
    let text = String(decoding: payload, as: UTF8.self)
    #expect(text.contains(#""amount":"12.50""#))
    #expect(text.contains(#""sequence":9007199254740993"#))
  }

  @Test("a value of userInfo that JSON cannot represent is left out, and every other value stays")
  func unconvertible() throws {
    let userInfo: [AnyHashable: Any] = [
      "aps": ["sound": "clip.wav", "when": Date()] as [String: Any], "list": [1, Date(), "two"] as [Any],
      "other": Date(),
    ]
    let payload = UserInfo.payload(of: userInfo)
    #expect(try NotificationPayload(payload).sound == "clip.wav")
    let object = try #require(JSONSerialization.jsonObject(with: payload) as? [String: Any])
    #expect(Set(object.keys) == ["aps", "list"])
    #expect((object["aps"] as? [String: Any])?.keys.sorted() == ["sound"])
    #expect((object["list"] as? [Any])?.count == 2)
  }

  @Test("a key of userInfo that is not a text is left out")
  func keys() throws {
    let payload = UserInfo.payload(of: [1: "one", "aps": ["sound": "clip.wav"]])
    #expect(String(decoding: payload, as: UTF8.self) == #"{"aps":{"sound":"clip.wav"}}"#)
  }

  @Test("an infinite number and NaN in userInfo are left out", arguments: [Double.infinity, -.infinity, .nan])
  func notFinite(number: Double) {
    #expect(String(decoding: UserInfo.payload(of: ["a": number, "b": 1]), as: UTF8.self) == #"{"b":1}"#)
  }

  @Test("an empty userInfo is an empty object")
  func empty() { #expect(String(decoding: UserInfo.payload(of: [:]), as: UTF8.self) == "{}") }

  @Test("a payload that is not a JSON object gives an empty userInfo", arguments: ["", "[1]", "7", "{", #""text""#])
  func noObject(payload: String) { #expect(UserInfo.userInfo(of: Data(payload.utf8)).isEmpty) }
}
