// SPDX-License-Identifier: Apache-2.0

import Announcer
import TextFormats

/// Checks that a list of announcements, in CSV or JSON lines, gives the same records, whatever pieces it arrives in.
enum ListReading {
  /// Checks an input. The first byte is the size of the pieces.
  @Sendable static func check(_ bytes: [UInt8]) {
    guard let size = bytes.first.map({ Int($0) + 1 }) else { return }
    let list = Array(bytes.dropFirst())
    let whole = rows(of: list, inPiecesOf: max(1, list.count))
    let pieces = rows(of: list, inPiecesOf: size)
    require(whole == pieces, "a list reads the same in whatever pieces it comes")
    var end = 0
    for row in whole {
      require(row.endOffset >= end && row.endOffset <= list.count, "rows end in order, within the list")
      end = row.endOffset
    }
    writeAgain(list)
  }

  private static func rows(of list: [UInt8], inPiecesOf size: Int) -> [BatchRow] {
    var reader = BatchRows()
    var rows: [BatchRow] = []
    do {
      for start in stride(from: 0, to: list.count, by: size) {
        reader.append(Array(list[start..<min(start + size, list.count)]))
        while let row = try reader.next() { rows.append(row) }
      }
      reader.end()
      while let row = try reader.next() { rows.append(row) }
    } catch {
      // The list as a whole is invalid, but the rows before the fault remain valid.
    }
    return rows
  }

  /// Checks that records survive being written and read again.
  private static func writeAgain(_ list: [UInt8]) {
    guard let records = try? records(of: list) else { return }
    let written = records.map { CSVWriter.record($0) }.joined()
    require((try? self.records(of: Array(written.utf8))) == records, "records that are written read as they were")
  }

  private static func records(of list: [UInt8]) throws(CSVError) -> [[String]] {
    var reader = CSVReader()
    reader.append(list)
    reader.end()
    var records: [[String]] = []
    while let record = try reader.next() { records.append(record.fields) }
    return records
  }
}
