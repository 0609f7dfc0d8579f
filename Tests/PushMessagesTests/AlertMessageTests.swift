// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import PushMessages
import Testing

@Suite struct AlertMessageTests {
  private func json(_ message: AlertMessage) -> String { String(decoding: message.encoded(), as: UTF8.self) }

  @Test("a push message with every part has exactly the documented bytes")
  func full() throws {
    let digest = String(repeating: "0a", count: 32)
    #expect(
      json(try AlertMessages.full())
        == #"{"aps":{"alert":{"body":"Received ¥12.00 from 张三","subtitle":"Tea shop","title":"Alipay"},"badge":3,"#
        + #""interruption-level":"time-sensitive","mutable-content":1,"relevance-score":0.75,"sound":"9f2c.wav","#
        + #""thread-id":"payments"},"attachment-url":"https://shop.example/tea.jpg","crier":{"amount":"12.00","#
        + #""clip":{"bytes":119760,"duration_ms":2705,"name":"9f2c.wav","sha256":"\#(digest)","#
        + #""url":"https://shop.example/v1/clips/9f2c.wav?signature=sssssssssss"},"currency":"CNY","#
        + #""id":"2026112000012345","kind":"received","locale":"zh-CN","pack":"zh-CN-warm","#
        + #""payer":{"avatar_url":"https://shop.example/zhang.png","name":"张三"},"sequence":42,"#
        + #""text":"支付宝到账十二元","tokens":["支付宝 cp","到账 pp","十 aw","二 aw","元 ae"]}}"#)
  }

  @Test("a field that a push message does not have is left out of the payload")
  func empty() {
    #expect(json(AlertMessage(title: "Hi")) == #"{"aps":{"alert":{"title":"Hi"},"mutable-content":1}}"#)
    #expect(
      json(AlertMessage(title: "Hi", badge: 0, mutableContent: false)) == #"{"aps":{"alert":{"title":"Hi"},"badge":0}}"#
    )
  }

  @Test("the sound of a critical alert is a dictionary with a volume in decimals")
  func critical() throws {
    let sound = try AlertMessage.Sound("default", criticalVolume: Hundredths(29))
    #expect(
      json(AlertMessage(sound: sound, mutableContent: false, interruptionLevel: .critical))
        == #"{"aps":{"alert":{},"interruption-level":"critical","#
        + #""sound":{"critical":1,"name":"default","volume":0.29}}}"#)
  }

  @Test("a relevance score is written exactly to the hundredth", arguments: 0...100)
  func hundredths(value: Int) throws {
    let digits = String(format: "%03d", value)
    var expected = "\(digits.first ?? "0").\(digits.suffix(2))"
    while expected.last == "0" { expected.removeLast() }
    if expected.last == "." { expected.removeLast() }
    #expect(json(AlertMessage(relevanceScore: try Hundredths(value))).contains(#""relevance-score":\#(expected)}"#))
  }

  @Test("a score and a volume must be between 0 and 100 hundredths")
  func badHundredths() {
    for value in [-1, 101, .max, .min] {
      let error = #expect(throws: PushMessageError.self) { try Hundredths(value) }
      #expect(error?.code == .hundredthsInvalid)
    }
    #expect(Hundredths.one.value == 100)
  }

  @Test(
    "the sound of a push is 'default', or a file name with its extension, because iOS adds no extension",
    arguments: [
      "", "a/b.wav", "../a.wav", ".wav", "a\n.wav", String(repeating: "a", count: 252) + ".wav", "alert", "bell.mp3",
      "wav", "chime.wav ",
    ])
  func badSound(name: String) {
    let error = #expect(throws: PushMessageError.self) { try AlertMessage.Sound(name) }
    #expect(error?.code == .soundInvalid)
  }

  @Test("the interruption levels are written with Apple's values")
  func levels() {
    #expect(
      InterruptionLevel.allCases.map(\.rawValue) == ["passive", "active", "time-sensitive", "critical"])
  }
}
