// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A write-ahead log of SQLite beside its database. The log has no index, which shows that no program has
/// it open.
///
/// A program that is killed while it closes the ledger can leave such a log, although everything in it is in the
/// database already. The format is described in <https://www.sqlite.org/fileformat2.html#the_write_ahead_log>: numbers
/// are big-endian.
struct LogFile {
  static let headerBytes = 32
  private static let frameHeaderBytes = 24

  /// The last committed content of each page, by the page's number.
  private let pages: [UInt32: Data]
  private let pageBytes: Int

  /// Reads a log. Frames after the last commit, and frames of an earlier log, have no effect.
  ///
  /// - Returns: Nil if the bytes are not a log.
  init?(_ bytes: Data) {
    let bytes = Data(bytes)
    guard bytes.count >= Self.headerBytes, Self.number(bytes, 0) & ~1 == 0x377F_0682 else { return nil }
    pageBytes = Int(Self.number(bytes, 8))
    guard (512...65_536).contains(pageBytes) else { return nil }
    let salt = bytes[16..<24]
    var (committed, open): ([UInt32: Data], [UInt32: Data]) = ([:], [:])
    var position = Self.headerBytes
    while position + Self.frameHeaderBytes + pageBytes <= bytes.count {
      guard bytes[position + 8..<position + 16] == salt else { break }
      let page = position + Self.frameHeaderBytes
      open[Self.number(bytes, position)] = bytes[page..<page + pageBytes]
      if Self.number(bytes, position + 4) != 0 {
        committed.merge(open) { $1 }
        open = [:]
      }
      position = page + pageBytes
    }
    pages = committed
  }

  /// Returns whether bytes are the header of a log: whether the first number and the checksum are right.
  static func isHeader(_ header: [UInt8]) -> Bool {
    guard header.count == headerBytes else { return false }
    let numbers = stride(from: 0, to: headerBytes, by: 4).map { number(Data(header), $0) }
    guard numbers[0] & ~1 == 0x377F_0682 else { return false }
    var sum: (UInt32, UInt32) = (0, 0)
    for position in stride(from: 0, to: 6, by: 2) {
      // The last bit of the first number tells whether the checksum uses the numbers as they are or with swapped bytes.
      let pair = (numbers[position], numbers[position + 1])
      sum.0 &+= (numbers[0] & 1 == 1 ? pair.0 : pair.0.byteSwapped) &+ sum.1
      sum.1 &+= (numbers[0] & 1 == 1 ? pair.1 : pair.1.byteSwapped) &+ sum.0
    }
    return sum == (numbers[6], numbers[7])
  }

  /// Returns whether every page of the log is in the database already.
  func isContained(in database: FileHandle) throws -> Bool {
    for (number, content) in pages {
      guard number > 0 else { return false }
      try database.seek(toOffset: UInt64(number - 1) * UInt64(pageBytes))
      guard try database.read(upToCount: pageBytes) == content else { return false }
    }
    return true
  }

  private static func number(_ bytes: Data, _ position: Int) -> UInt32 {
    bytes[position..<position + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }
}
