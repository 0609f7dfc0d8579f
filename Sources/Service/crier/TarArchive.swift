// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A tar archive of small files (POSIX ustar), and its gzip form (RFC 1952). Nothing is compressed: the files are
/// small, and every program that unpacks `.tar.gz` reads stored blocks too.
struct TarArchive {
  private static let blockSize = 512
  /// The longest name that the header has room for, in bytes.
  private static let longestName = 100
  private static let longestStored = 0xFFFF

  private(set) var bytes = Data()

  /// Adds a file that only its owner may read.
  ///
  /// - Parameters:
  ///   - name: The path of the file, at most 100 bytes in ASCII. A longer name is cut.
  ///   - date: The time of the file's last change.
  mutating func add(_ name: String, _ contents: Data, at date: Date) {
    var header = Data(count: Self.blockSize)
    func put(_ text: String, at offset: Int, length: Int) {
      let text = Data(text.utf8.prefix(length))
      header.replaceSubrange(offset..<offset + text.count, with: text)
    }
    func octal(_ number: Int, digits: Int) -> String {
      let text = String(max(0, number), radix: 8)
      return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
    put(name, at: 0, length: Self.longestName)
    put(octal(0o600, digits: 7), at: 100, length: 7)
    put(octal(0, digits: 7), at: 108, length: 7)
    put(octal(0, digits: 7), at: 116, length: 7)
    put(octal(contents.count, digits: 11), at: 124, length: 11)
    put(octal(Int(date.timeIntervalSince1970), digits: 11), at: 136, length: 11)
    put("        ", at: 148, length: 8)
    put("0", at: 156, length: 1)
    put("ustar", at: 257, length: 5)
    put("00", at: 263, length: 2)
    let sum = header.reduce(0) { $0 + Int($1) }
    put(octal(sum, digits: 6) + "\0 ", at: 148, length: 8)
    bytes += header + contents
    bytes += Data(count: (Self.blockSize - contents.count % Self.blockSize) % Self.blockSize)
  }

  /// The archive with its end, in the form of gzip.
  var gzip: Data {
    let archive = bytes + Data(count: 2 * Self.blockSize)
    // The method "deflate", no flags, no time, and an unknown system.
    var data = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF])
    var rest = archive[...]
    repeat {
      let part = rest.prefix(Self.longestStored)
      rest = rest.dropFirst(part.count)
      data.append(rest.isEmpty ? 1 : 0)
      data.append(littleEndian: UInt16(part.count))
      data.append(littleEndian: ~UInt16(part.count))
      data += part
    } while !rest.isEmpty
    data.append(littleEndian: Self.checksum(of: archive))
    data.append(littleEndian: UInt32(truncatingIfNeeded: archive.count))
    return data
  }

  /// Returns the CRC-32 of bytes, as in RFC 1952, section 8.
  static func checksum(of bytes: Data) -> UInt32 {
    let table = (0..<256 as Range<UInt32>).map { index in
      (0..<8).reduce(index) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
    }
    return ~bytes.reduce(~0) { table[Int(($0 ^ UInt32($1)) & 0xFF)] ^ ($0 >> 8) }
  }
}

extension Data {
  fileprivate mutating func append<Number: FixedWidthInteger>(littleEndian number: Number) {
    for index in 0..<Number.bitWidth / 8 { append(UInt8(truncatingIfNeeded: number >> (8 * index))) }
  }
}
