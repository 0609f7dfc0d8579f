// SPDX-License-Identifier: Apache-2.0

import TextFormats

/// A SHA-256 digest (FIPS 180-4) of bytes that arrive in pieces, such as the body of an HTTP answer.
///
/// It is used to name files and to find changed files. No secret depends on it. It is a value, so a copy can be
/// continued independently.
package struct IncrementalSHA256: Sendable {
  private var function = SHA256Function()

  package init() {}

  /// The number of bytes that are copied at a time from an array.
  private static let pieceBytes = 64 << 10

  /// Adds the next bytes. A long array is copied in pieces, because a phone has little memory.
  package mutating func add(_ bytes: some Sequence<UInt8>) {
    guard let array = bytes as? [UInt8], array.count > Self.pieceBytes else { return function.add(Array(bytes)) }
    for start in stride(from: 0, to: array.count, by: Self.pieceBytes) {
      function.add(Array(array[start..<min(start + Self.pieceBytes, array.count)]))
    }
  }

  /// Returns the digest of all bytes so far as 64 lower-case hexadecimal digits. More bytes can be added afterwards.
  package func hexadecimalDigest() -> String { function.digest().hexadecimal }

  /// Returns the digest of the bytes as 64 lower-case hexadecimal digits.
  package static func hexadecimalDigest(of bytes: some Sequence<UInt8>) -> String {
    var digest = IncrementalSHA256()
    digest.add(bytes)
    return digest.hexadecimalDigest()
  }

  /// Returns whether a text has the form of a digest of this type: 64 lower-case hexadecimal digits.
  package static func isHexadecimalDigest(_ text: String) -> Bool {
    text.utf8.count == 64 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }
}
