// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOHPACK
import PushMessages

/// The answer to a push, as far as it has arrived.
struct PushAnswer {
  /// The maximum size of the body, in bytes. A body from APNs has less than 100 bytes.
  static let largestBody = 4_096

  private var status: Int?
  private var fields = HPACKHeaders()
  private var body = ByteBuffer()

  /// Adds a block of header fields. Informational answers come before the final one (RFC 9110, section 15.2), and are
  /// dropped. Fields after those of the final answer are trailers, which are ignored.
  mutating func add(_ block: HPACKHeaders) {
    guard status.map({ (100..<200).contains($0) }) ?? true else { return }
    status = block.first(name: ":status").flatMap { Int($0) }
    fields = block
  }

  /// Adds a part of the body.
  ///
  /// - Returns: False if the body is too long. The body is dropped then, and only the status is used.
  mutating func add(_ part: ByteBuffer) -> Bool {
    guard body.readableBytes + part.readableBytes <= Self.largestBody else {
      body = ByteBuffer()
      return false
    }
    body.writeImmutableBuffer(part)
    return true
  }

  /// The whole answer; nil if it has no final status.
  var response: PushResponse? {
    guard let status, (200..<600).contains(status) else { return nil }
    return PushResponse(
      status: status, header: { fields.first(name: $0) }, body: Data(body.readableBytesView))
  }
}
