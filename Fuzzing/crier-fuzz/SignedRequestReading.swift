// SPDX-License-Identifier: Apache-2.0

import Foundation
import ServiceAccess

/// The head of a signed request: none is accepted but what was signed with the key.
enum SignedRequestReading {
  private static let digest = Data(repeating: 7, count: 32)
  private static let now = Date(timeIntervalSince1970: 1_795_000_000)

  /// Lines: the timestamp, the signature, the target; then the body.
  @Sendable static func check(_ bytes: [UInt8]) {
    let parts = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 4 else { return }
    let texts = parts.prefix(3).map { String(decoding: $0, as: UTF8.self) }
    let body = Data(parts[3])
    if let request = try? SignedRequest(timestamp: texts[0], signature: texts[1]) {
      let isAccepted: Void? = try? request.check(
        method: "POST", target: texts[2], body: body, keyDigest: digest, at: now)
      require(isAccepted == nil, "what was not signed with the key is not accepted")
    }
    let time = Int64(now.timeIntervalSince1970)
    let signed = SignedRequest(signing: "POST", texts[2], body: body, with: digest, at: time)
    let fields = signed.headerFields
    guard let read = try? SignedRequest(timestamp: fields[0].value, signature: fields[1].value) else {
      fatalError("Broken rule: the fields of a signed request can be read")
    }
    require(read == signed, "a signed request reads as it was written")
    let isValid: Void? = try? read.check(method: "POST", target: texts[2], body: body, keyDigest: digest, at: now)
    require(isValid != nil, "what was signed with the key is accepted")
    let isOther: Void? = try? read.check(
      method: "POST", target: texts[2], body: body + [0], keyDigest: digest, at: now)
    require(isOther == nil, "another body is not accepted")
  }
}
