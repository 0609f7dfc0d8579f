// SPDX-License-Identifier: Apache-2.0

/// The character that separates the fields of a file.
///
/// The first line of a file that is not blank decides the separator for the whole file. A line such as `sep=;` names
/// the separator. In any other line, the separator that occurs most often outside quotation marks is taken. If two
/// separators are equally frequent, or if the line has none, the separator is the comma. Spreadsheets write semicolons
/// in countries where the comma is the decimal separator.
public enum CSVSeparator: Sendable, Hashable, CaseIterable {
  case comma, semicolon, tab

  var byte: UInt8 {
    switch self {
    case .comma: UInt8(ascii: ",")
    case .semicolon: UInt8(ascii: ";")
    case .tab: UInt8(ascii: "\t")
    }
  }

  /// The name in messages, with its article.
  public var name: String { "a \(self)" }

  /// The plural of the name, for messages.
  public var plural: String { "\(self)s" }

  /// The beginning of a line that names the separator.
  static let mark = Array("sep=".utf8)
}

/// The search for the separator in the first line that is not blank. Each byte is read once, even if the pieces are
/// small.
struct SeparatorSearch: Sendable {
  /// The separator; `nil` until the line is complete.
  private(set) var result: CSVSeparator?

  /// The number of bytes that have been read.
  private var count = 0
  private var line: [UInt8] = []
  private var counts: [CSVSeparator: Int] = [:]
  private var isQuoted = false
  private var isBlank = true

  /// Reads the rest of the bytes, up to the size of a record.
  ///
  /// - Parameters:
  ///   - bytes: All bytes since the start of the file.
  ///   - isEnd: Whether there are no more bytes.
  mutating func read(_ bytes: ArraySlice<UInt8>, isEnd: Bool) {
    for byte in bytes.dropFirst(count) {
      count += 1
      take(byte)
      if count == CSVReader.largestRecord, result == nil { decide() }
      if result != nil { return }
    }
    if isEnd, result == nil { decide() }
  }

  private mutating func take(_ byte: UInt8) {
    if !isQuoted, byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") {
      if isBlank {
        line = []
        return
      }
      return decide()
    }
    if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
    if line.count < CSVSeparator.mark.count + 2 { line.append(byte) }
    if byte != UInt8(ascii: " ") { isBlank = false }
    guard !isQuoted, let separator = CSVSeparator.allCases.first(where: { $0.byte == byte }) else { return }
    counts[separator, default: 0] += 1
  }

  private mutating func decide() {
    if line.count == CSVSeparator.mark.count + 1, line.starts(with: CSVSeparator.mark),
      let named = CSVSeparator.allCases.first(where: { $0.byte == line.last })
    {
      result = named
      return
    }
    let most = counts.values.max() ?? 0
    result = CSVSeparator.allCases.first { counts[$0, default: 0] == most } ?? .comma
  }
}
