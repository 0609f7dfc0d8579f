// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import PushMessages
import Testing

@testable import NotificationServiceKit

struct PushedTextsTests {
  private func texts(_ json: String) -> PushedTexts {
    (try? NotificationPayload(readable: Data(json.utf8)))?.texts ?? PushedTexts()
  }

  @Test("every text of a push that iOS reads is read")
  func all() {
    let texts = texts(
      """
      {"aps":{"alert":{"title":"Alipay","subtitle":"Tea shop","body":"¥12.50"},"badge":3,"category":"payment",
      "interruption-level":"time-sensitive","relevance-score":0.75,"thread-id":"till-2"},"crier":{"id":"1"}}
      """)
    #expect(texts.title == "Alipay")
    #expect(texts.subtitle == "Tea shop")
    #expect(texts.body == "¥12.50")
    #expect(texts.badge == 3)
    #expect(texts.category == "payment")
    #expect(texts.interruptionLevel == .timeSensitive)
    #expect(texts.relevanceScore == 0.75)
    #expect(texts.thread == "till-2")
  }

  @Test("an alert that is a text, and not a dictionary, is the body")
  func text() {
    #expect(texts(#"{"aps":{"alert":"Paid"}}"#).body == "Paid")
    #expect(texts(#"{"aps":{"alert":"Paid"}}"#).title == nil)
  }

  @Test("a badge of 0 is kept, because it removes the number from the app's icon")
  func noBadge() { #expect(texts(#"{"aps":{"badge":0}}"#).badge == 0) }

  @Test("each interruption level is read by its name", arguments: InterruptionLevel.allCases)
  func levels(level: InterruptionLevel) {
    #expect(texts(#"{"aps":{"interruption-level":"\#(level.rawValue)"}}"#).interruptionLevel == level)
  }

  @Test("a relevance score is limited to 0 to 1", arguments: [(-3.0, 0.0), (0.5, 0.5), (7.0, 1.0)])
  func scores(score: Double, kept: Double) {
    #expect(texts(#"{"aps":{"relevance-score":\#(score)}}"#).relevanceScore == kept)
  }

  @Test(
    "a value of a wrong type in a push counts as absent, and the other values are read",
    arguments: [
      #""alert":7"#, #""alert":{"title":7}"#, #""badge":"3""#, #""badge":1.5"#, #""thread-id":{}"#,
      #""interruption-level":"loud""#, #""interruption-level":1"#, #""relevance-score":"high""#, #""category":[]"#,
      #""alert":null"#,
    ])
  func otherTypes(member: String) {
    var expected = PushedTexts()
    expected.body = nil
    #expect(texts(#"{"aps":{\#(member)}}"#) == expected)
    let name = member.hasPrefix(#""category""#) ? "thread-id" : "category"
    let texts = texts(#"{"aps":{\#(member),"\#(name)":"kept"}}"#)
    #expect((texts.category ?? texts.thread) == "kept")
  }

  @Test(
    "a push without texts is read as having no texts",
    arguments: ["", "{", "[]", "{}", #"{"aps":7}"#, #"{"aps":null}"#, #"{"aps":{}}"#])
  func nothing(json: String) { #expect(texts(json) == PushedTexts()) }
}
