// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Ledger
import TextFormats

/// A SHA-256 digest of rows. Each value is added with its kind and, unless it has a fixed length, with its length, so
/// that different values never give the same bytes.
struct RowDigest {
  private var function = SHA256()
  private var bytes = Data()

  /// The number of bytes that are added at once.
  private static let pieceBytes = 64 << 10

  mutating func add(_ row: [MovedValue]) {
    for value in row { append(value) }
    if bytes.count >= Self.pieceBytes { flush() }
  }

  /// The digest of all rows so far, as 64 hexadecimal digits.
  var hexadecimal: String {
    var copy = self
    copy.flush()
    return copy.function.finalize().hexadecimal
  }

  private mutating func flush() {
    function.update(data: bytes)
    bytes.removeAll(keepingCapacity: true)
  }

  private mutating func append(_ value: MovedValue) {
    switch value {
    case .null, .unstorable: bytes.append(0)
    case .integer(let number):
      bytes.append(1)
      append(UInt64(bitPattern: number))
    case .real(let number):
      bytes.append(2)
      // Zero has two signs, which count as equal.
      append((number + 0).bitPattern)
    case .text(let text):
      bytes.append(3)
      append(UInt64(text.utf8.count))
      bytes.append(contentsOf: text.utf8)
    case .bytes(let data):
      bytes.append(4)
      append(UInt64(data.count))
      bytes.append(data)
    }
  }

  private mutating func append(_ number: UInt64) {
    for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
  }
}
