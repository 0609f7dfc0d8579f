// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import PushMessages
import Testing

/// The messages of these tests.
enum AlertMessages {
  static func clip(name: String = "9f2c.wav", urlBytes: Int = 60) throws -> PushedClip {
    let url = "https://shop.example/v1/clips/9f2c.wav?signature="
    let padding = String(repeating: "s", count: max(0, urlBytes - url.utf8.count))
    return try PushedClip(
      name: name, url: try #require(URL(string: url + padding)),
      sha256: String(repeating: "0a", count: 32), bytes: 119_760, durationMilliseconds: 2_705)
  }

  static func spoken() throws -> AlertMessage.Content.Spoken {
    try AlertMessage.Content.Spoken(
      pack: "zh-CN-warm",
      tokens: [
        ClipToken(name: "支付宝", role: .channel, pause: .piece),
        ClipToken(name: "到账", role: .phrase, pause: .piece),
        ClipToken(name: "十", role: .amount, pause: .word),
        ClipToken(name: "二", role: .amount, pause: .word),
        ClipToken(name: "元", role: .amount, pause: .end),
      ])
  }

  /// A message with every part.
  static func full() throws -> AlertMessage {
    AlertMessage(
      title: "Alipay", subtitle: "Tea shop", body: "Received ¥12.00 from 张三", badge: 3,
      sound: try AlertMessage.Sound("9f2c.wav"), threadID: "payments", interruptionLevel: .timeSensitive,
      relevanceScore: try Hundredths(75), attachmentURL: URL(string: "https://shop.example/tea.jpg"),
      content: AlertMessage.Content(
        id: "2026112000012345", sequence: 42, locale: "zh-CN",
        amount: try AlertMessage.Content.Amount(value: "12.00", currency: "CNY"), kind: "received",
        text: "支付宝到账十二元", clip: try clip(), spoken: try spoken(),
        payer: AlertMessage.Content.Payer(name: "张三", avatarURL: URL(string: "https://shop.example/zhang.png"))))
  }
}
