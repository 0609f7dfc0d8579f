// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushMessages

/// Checks the two readers of pushes: that of Apple's answers in the service, and that of payloads on the phone.
enum PushReading {
  /// Checks that the reason of an answer is safe to log, that its wait is at most a day, and that only the status 200
  /// means that the push was accepted. The first two bytes are the status, the bytes up to the first line feed are
  /// `Retry-After`, and the rest is the body.
  @Sendable static func checkResponse(_ bytes: [UInt8]) {
    let head = bytes.prefix(2)
    let lines = bytes.dropFirst(2).split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
    let field = lines.first.map { String(decoding: $0, as: UTF8.self) }
    let response = PushResponse(
      status: head.reduce(0) { $0 << 8 | Int($1) }, header: { $0 == "retry-after" ? field : nil },
      body: Data(lines.count > 1 ? Array(lines[1]) : []))
    let isPlain = response.reason?.utf8.allSatisfy { isASCIILetterOrDigit($0) } ?? true
    require(isPlain && (response.reason?.utf8.count ?? 1) <= 64, "a reason is safe to log")
    require((0...86_400).contains(response.retryAfter ?? 0), "a wait is at most a day")
    if case .delivered = PushConsequence(response) {
      require(response.status == 200, "only the status 200 means that the push was accepted")
    }
  }

  /// Checks that a payload is refused, or stays the same when it is written, read again and written again.
  @Sendable static func checkPayload(_ bytes: [UInt8]) {
    guard let content = try? AlertMessage.Content(payload: Data(bytes)) else { return }
    if let amount = content.amount {
      require(amount.value.utf8.allSatisfy { $0 == 0x2E || isDigit($0) }, "an amount has only digits and a point")
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    guard let json = try? encoder.encode(["crier": content]),
      let again = try? AlertMessage.Content(payload: json)
    else { fatalError("Broken rule: a content that was written can be read") }
    require((try? encoder.encode(["crier": again])) == json, "a content keeps its values when written")
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  private static func isASCIILetterOrDigit(_ byte: UInt8) -> Bool {
    isDigit(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
  }
}
