// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushMessages
import TestSupport
import Testing

@Suite struct PushResponseTests {
  private func response(_ body: String, status: Int = 410, headers: [String: String] = [:]) -> PushResponse {
    PushResponse(status: status, header: { headers[$0] }, body: Data(body.utf8))
  }

  @Test("the answer to an accepted push has the push's id, and no reason")
  func accepted() {
    let response = response("", status: 200, headers: ["apns-id": "0e9a6e6c-5c0b-4f6e-9d4e-2b4d6b1e0001"])
    #expect(response == PushResponse(status: 200, id: "0e9a6e6c-5c0b-4f6e-9d4e-2b4d6b1e0001"))
  }

  @Test("a refusal has Apple's reason, and the time in milliseconds since which the token is invalid")
  func refused() {
    #expect(
      response(#"{"reason":"Unregistered","timestamp":1800000000123}"#)
        == PushResponse(
          status: 410, reason: "Unregistered", invalidSince: Date(timeIntervalSince1970: 1_800_000_000.123)))
  }

  @Test("a value of another type in APNs' answer counts as missing, and the other value is read")
  func otherTypes() {
    #expect(response(#"{"reason":7,"timestamp":1000}"#).invalidSince == Date(timeIntervalSince1970: 1))
    #expect(response(#"{"reason":"Unregistered","timestamp":"soon"}"#).reason == "Unregistered")
    #expect(response(#"{"reason":null,"timestamp":null,"more":[{}]}"#) == PushResponse(status: 410))
  }

  @Test(
    "a time in APNs' answer that is not between 1970 and 9999 counts as missing",
    arguments: ["-1", "253402300800000", "9223372036854775808", "1e400", "-1e400", "1.5", "0x10", "[1]"])
  func badTime(time: String) {
    #expect(response(#"{"reason":"Unregistered","timestamp":\#(time)}"#).invalidSince == nil)
  }

  @Test(
    "a reason in APNs' answer that is not safe to log counts as missing",
    arguments: ["", "Bad Token", #"Bad\nToken"#, "BadTokén", "<b>", "\u{0663}", String(repeating: "A", count: 65)])
  func badReason(reason: String) {
    #expect(response(#"{"reason":"\#(reason)"}"#).reason == nil)
  }

  @Test(
    "an answer of APNs whose body is not Apple's JSON has no reason",
    arguments: [
      "", " ", "null", "true", "7", "[]", "{}", "\"Unregistered\"", "<html>", "{\"reason\":", "{\"reason\" \"x\"}",
      "\0",
      String(repeating: "[", count: 4_000), String(repeating: "{\"reason\":", count: 400),
      #"{"reason":"Unregistered"}"# + String(repeating: " ", count: 5_000),
    ])
  func badBody(body: String) {
    let response = response(body)
    #expect(response.reason == nil)
    #expect(response.invalidSince == nil)
  }

  @Test("answers with random bytes, and documented answers with changed bytes, are read without a crash")
  func randomBodies() {
    var generator = SplitMix64(seed: 17)
    let documented = Array(#"{"reason":"Unregistered","timestamp":1800000000123}"#.utf8)
    for round in 0..<20_000 {
      var bytes = documented
      if round.isMultiple(of: 2) {
        bytes = (0..<Int.random(in: 0...80, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator)
        }
      } else {
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
          bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
        }
      }
      let response = PushResponse(status: 410, header: { _ in nil }, body: Data(bytes))
      let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
      #expect(response.reason?.allSatisfy(plain.contains) != false)
      _ = PushConsequence(response)
    }
  }

  @Test(
    "the header Retry-After is read as whole seconds of up to a day",
    arguments: [
      ("0", 0), ("120", 120), ("86400", 86_400), ("86401", nil), ("-1", nil), ("1.5", nil), ("", nil),
      ("99999999999999999999", nil), ("Wed, 21 Oct 2026 07:28:00 GMT", nil),
    ] as [(String, Int?)])
  func retryAfter(value: String, seconds: Int?) {
    #expect(response("", status: 503, headers: ["retry-after": value]).retryAfter == seconds)
  }

  @Test("an answer of APNs is read up to 4,096 bytes, and a longer one has no reason")
  func largestBody() {
    let refusal = #"{"reason":"Unregistered"}"#
    let largest = refusal + String(repeating: " ", count: 4_096 - refusal.utf8.count)
    #expect(response(largest).reason == "Unregistered")
    #expect(response(largest + " ").reason == nil)
  }
}
