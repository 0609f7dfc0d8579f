// SPDX-License-Identifier: Apache-2.0

import Foundation
import ServiceAccess

/// Checks that a signed request is accepted only if it was signed with the key.
enum SignedRequestReading {
  private static let digest = Data(repeating: 7, count: 32)
  private static let now = Date(timeIntervalSince1970: 1_795_000_000)

  /// Checks an input. Its lines are the timestamp, the signature, the target, the idempotency key and the content type;
  /// then the body follows.
  @Sendable static func check(_ bytes: [UInt8]) {
    let parts = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 5, omittingEmptySubsequences: false)
    guard parts.count == 6 else { return }
    let texts = parts.prefix(5).map { String(decoding: $0, as: UTF8.self) }
    let content = SignedRequest.Content(
      method: "POST", target: texts[2], idempotencyKey: texts[3].isEmpty ? nil : texts[3],
      contentType: texts[4].isEmpty ? nil : texts[4], body: Data(parts[5]))
    if let request = try? SignedRequest(timestamp: texts[0], signature: texts[1]) {
      require(!isAccepted(request, content), "a request that was not signed with the key is refused")
    }
    let signed = SignedRequest(signing: content, with: digest, at: Int64(now.timeIntervalSince1970))
    let fields = signed.headerFields
    guard let read = try? SignedRequest(timestamp: fields[0].value, signature: fields[1].value) else {
      fatalError("Broken rule: the fields of a signed request can be read")
    }
    require(read == signed, "a signed request reads as it was written")
    require(isAccepted(read, content), "a request that was signed with the key is accepted")
    for change in changes {
      var other = content
      change(&other)
      require(!isAccepted(read, other), "a request that was changed in transit is refused")
    }
  }

  /// The changes to a request. Each of them turns any request into a different one.
  private static let changes: [@Sendable (inout SignedRequest.Content) -> Void] = [
    { $0.method = "PUT" }, { $0.target += "x" }, { $0.body.append(0) },
    { $0.idempotencyKey = ($0.idempotencyKey ?? "") + "x" }, { $0.contentType = ($0.contentType ?? "") + "x" },
  ]

  private static func isAccepted(_ request: SignedRequest, _ content: SignedRequest.Content) -> Bool {
    (try? request.check(content, keyDigest: digest, at: now)) != nil
  }
}
