// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import PlaybackOrder
import PushMessages

/// A payment with texts of the sizes that the service stores for an announcement in zh-CN with a payer.
struct SamplePayment: Sendable {
  let account: String
  let lane: String
  let id: String
  let clip: PublishedClip
  private let digest: String
  private let amount: String

  static let appGroup = "group.crier"
  static let device = "phone-1"
  private static let marks = (0..<12).map {
    #"{"end_ms":\#(700 + $0 * 400),"start_ms":\#(300 + $0 * 400),"text":"二十"}"#
  }.joined(separator: ",")
  private static let words = "支付宝到账一百二十八元五角一分，来自张三"

  /// - Parameters:
  ///   - shop: The number of the shop, which has an account and a lane.
  ///   - id: The id, which no other payment of the account has.
  init(shop: Int, id: String) {
    let digits = String(shop)
    let number = String(repeating: "0", count: max(0, 7 - digits.count)) + digits
    (account, lane, self.id) = ("shop-\(number)", "lane-\(number)", id)
    amount = "\(Int.random(in: 1...999)).\(Int.random(in: 10...99))"
    digest = (0..<4).map { _ in String(UInt64.random(in: .min ... .max) | 1 << 63, radix: 16) }.joined()
    clip = PublishedClip(name: "\(digest).wav", group: Self.appGroup)
  }

  private var url: String {
    "https://crier.example/v1/clips/\(clip.name)?expires=1796640108&signature=sLyVUSnKcNleHXlI-JklYDoQo7ME57WwDlGukVNpSfU"
  }

  private var payload: Data {
    Data(
      #"""
      {"id":"\#(id)","amount":"\#(amount)","currency":"CNY","channel":"alipay","payer":"张三",\#
      "deliver":["clip","play","push"],"device":"phone-1"}
      """#.utf8)
  }

  private var decision: Decision {
    Decision(
      kind: "received", text: Self.words, locale: "zh-CN", amount: .init(value: amount, currency: "CNY"),
      channel: "alipay", payer: "张三", method: "speech", voice: "cmn-latn-pinyin+f2", clip: clip,
      durationMilliseconds: 5_076, loudnessLUFS: -16.05)
  }

  var announcement: StoredAnnouncement {
    StoredAnnouncement(account: account, id: id, lane: lane, category: .payment, payload: payload)
  }

  var answer: NewAnswer {
    NewAnswer(
      account: account, key: "id:\(id)", bodyDigest: Data(count: 32), id: id, status: 201,
      report: Data(
        #"""
        {"amount":{"currency":"CNY","value":"\#(amount)"},"cached":false,"clip":{"bytes":224506,"channels":1,\#
        "duration_ms":5076,"encoding":"pcm16","format":"wav","name":"\#(clip.name)",\#
        "path":"/var/lib/crier/containers/group.crier/Library/Sounds/\#(clip.name)","sample_rate":22050,\#
        "sha256":"\#(digest)","url":"\#(url)"},"fallback":null,"id":"\#(id)","locale":"zh-CN",\#
        "loudness_lufs":-16.05,"marks":[\#(Self.marks)],"method":"speech","reproducible":true,"shortened":[],\#
        "text":"\#(Self.words)","unspoken":[],"voice":"cmn-latn-pinyin+f2","warnings":[]}
        """#.utf8),
      clip: clip, decision: decision,
      rendered: ["cached": "false", "duration_ms": "5076", "method": "speech"])
  }

  var sound: LibrarySound {
    LibrarySound(name: clip.name, group: Self.appGroup, sha256: digest, bytes: 224_506)
  }

  var push: NewPush {
    NewPush(
      device: Self.device, kind: .alert, priority: 10, clip: clip.name, expiresAt: Date().addingTimeInterval(3_600),
      body: NewPush.Body(
        beforeSequence: Data(
          #"""
          {"aps":{"alert":{"body":"来自张三","subtitle":"支付宝","title":"到账 ¥\#(amount)"},\#
          "interruption-level":"time-sensitive","mutable-content":1,"sound":"\#(clip.name)","thread-id":"payments"},\#
          "crier":{"amount":"\#(amount)","clip":{"bytes":224506,"duration_ms":5076,"name":"\#(clip.name)",\#
          "sha256":"\#(digest)","url":"\#(url)"},"currency":"CNY","id":"\#(id)","kind":"received","locale":"zh-CN",\#
          "payer":{"name":"张三"},"sequence":
          """#.utf8), afterSequence: Data(#","text":"\#(Self.words)"}}"#.utf8)))
  }
}
