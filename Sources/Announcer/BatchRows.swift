// SPDX-License-Identifier: Apache-2.0

public import Announcements
import CommaSeparatedValues
import Foundation

/// One row of a list of announcements. It contains the announcement, or the error in the row.
public struct BatchRow: Sendable, Hashable {
  /// The number of the line on which the row begins, counted from 1.
  public var line: Int
  public var id: String?
  public var announcement: Result<Announcement, AnnouncementError>

  /// Sentences about unknown keys or columns, for the report of the row.
  public var warnings: [String]

  /// The offset in the list, in bytes, at which the row ends.
  public var endOffset: Int

  public init(
    line: Int, id: String? = nil, announcement: Result<Announcement, AnnouncementError>, warnings: [String] = [],
    endOffset: Int = 0
  ) {
    self.line = line
    self.id = id
    self.announcement = announcement
    self.warnings = warnings
    self.endOffset = endOffset
  }
}

/// Reads a list of announcements from bytes that arrive in pieces. Memory holds only one row and one piece.
///
/// The list has one of two formats. In CSV (RFC 4180), the first row names the columns with ``PayloadDecoder/rowKeys``.
/// In JSON lines, each line is a payload or `{"text": "…", "locale": "…"}`. A payment's `id` is optional. Blank lines
/// are skipped, and so are rows of CSV that contain separators only.
public struct BatchRows: Sendable {
  public enum Format: String, Sendable, Hashable, CaseIterable {
    case csv, jsonl
  }

  /// The names of the unknown columns, spelled as in the list. They are known after the first row was read.
  public private(set) var unknownColumns: [String] = []

  private let unknownKeys: PayloadDecoder.UnknownKeys

  /// The warnings about columns. They are part of the report of each row.
  private var columnWarnings: [String] = []

  /// The format of the list; `nil` until the first character determines it.
  private var format: Format?
  private var hasEnded = false
  private var csv = CSVReader()
  private var lines = LineReader(longest: PayloadDecoder.largestBytes)

  /// Whether a line of JSON was read.
  private var hasRows = false

  /// The white space before the first other character.
  private var lead: [UInt8] = []

  /// The key for each cell of a row: `nil` if the column is unknown. The array is `nil` until the header was read.
  private var columns: [String?]?

  private static let blanks = Set(" \t\r\n".utf8)
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// - Parameters:
  ///   - format: The format of the list. If it is `nil`, the list is JSON lines if its first character is `{`, or `[`
  ///     before `{` or `]`, and otherwise CSV.
  ///   - unknownKeys: How to treat unknown keys. If unknown keys are refused, an unknown column is an error of the
  ///     whole list.
  public init(format: Format? = nil, unknownKeys: PayloadDecoder.UnknownKeys = .warn) {
    self.format = format
    self.unknownKeys = unknownKeys
  }

  /// Adds the next piece of the list. A piece may have any size.
  public mutating func append(_ bytes: [UInt8]) {
    switch format {
    case .csv: csv.append(bytes)
    case .jsonl: lines.append(bytes)
    case nil:
      lead += bytes
      let isFirst = { (byte: UInt8) in !Self.blanks.contains(byte) && !Self.byteOrderMark.contains(byte) }
      let marks = lead.lazy.filter(isFirst).prefix(2)
      if let first = marks.first, first != UInt8(ascii: "[") || marks.count == 2 {
        let next = marks.dropFirst().first
        let isArray = first == UInt8(ascii: "[") && (next == UInt8(ascii: "{") || next == UInt8(ascii: "]"))
        decide(first == UInt8(ascii: "{") || isArray ? .jsonl : .csv)
      } else if lead.count > PayloadDecoder.largestBytes {
        decide(.csv)
      }
    }
  }

  /// Marks the end of the list.
  public mutating func end() {
    if format == nil { decide(.csv) }
    hasEnded = true
    csv.end()
    lines.end()
  }

  private mutating func decide(_ format: Format) {
    self.format = format
    append(lead)
    lead = []
  }

  /// Returns the next row.
  ///
  /// - Returns: The row. The result is `nil` if more bytes are needed or, after ``end()``, if there are no more rows.
  /// - Throws: An error of the whole list: the header is missing, or no announcement can be formed from its columns.
  public mutating func next() throws(AnnouncementError) -> BatchRow? {
    switch format {
    case .csv: try nextRecord()
    case .jsonl: try nextLine()
    case nil: nil
    }
  }

  // MARK: JSON lines

  private mutating func nextLine() throws(AnnouncementError) -> BatchRow? {
    while let line = lines.next() {
      var bytes = line.bytes[...]
      if line.number == 1, bytes.starts(with: Self.byteOrderMark) { bytes = bytes.dropFirst(3) }
      guard let first = bytes.first(where: { !Self.blanks.contains($0) }) else { continue }
      if first == UInt8(ascii: "["), !hasRows {
        throw AnnouncementError(
          .payloadMalformed, "list", "is a JSON array",
          remedy: "write each of its objects on a line of its own, without brackets around and commas between them")
      }
      hasRows = true
      let row =
        bytes.count > PayloadDecoder.largestBytes
        ? Self.tooLong : PayloadDecoder.row(json: Data(bytes), unknownKeys: unknownKeys)
      return BatchRow(
        line: line.number, id: row.id, announcement: row.announcement, warnings: row.warnings,
        endOffset: lines.consumedBytes)
    }
    return nil
  }

  private static var tooLong: PayloadRow {
    PayloadRow(
      announcement: .failure(
        AnnouncementError(
          .payloadTooLarge, "payload", "is longer than \(PayloadDecoder.largestBytes) bytes",
          remedy: "write each payload on its own line, and shorten it")))
  }

  // MARK: CSV

  private mutating func nextRecord() throws(AnnouncementError) -> BatchRow? {
    if columns == nil { try readHeader() }
    guard let columns else { return nil }
    let (line, row): (Int, PayloadRow)
    do throws(CSVError) {
      guard let record = try nextFilledRecord() else { return nil }
      (line, row) = (record.line, Self.row(record.fields, columns))
    } catch {
      (line, row) = (error.line, PayloadRow(announcement: .failure(Self.malformed(error, in: "field \(error.field)"))))
    }
    return BatchRow(
      line: line, id: row.id, announcement: row.announcement, warnings: columnWarnings, endOffset: csv.consumedBytes)
  }

  private mutating func nextFilledRecord() throws(CSVError) -> CSVRecord? {
    while let record = try csv.next() { if !record.isBlank { return record } }
    return nil
  }

  private static func row(_ cells: [String], _ columns: [String?]) -> PayloadRow {
    guard cells.count == columns.count else {
      return PayloadRow(
        announcement: .failure(
          AnnouncementError(
            .payloadMalformed, "row", "has \(cells.count) fields, but the header has \(columns.count)",
            remedy: "write one field for each column, and put fields that contain a comma in quotation marks")))
    }
    var named: [String: String] = [:]
    for case (let column?, let cell) in zip(columns, cells) { named[column] = cell }
    return PayloadDecoder.row(cells: named)
  }

  private mutating func readHeader() throws(AnnouncementError) {
    let header: CSVRecord?
    do throws(CSVError) {
      header = try nextFilledRecord()
    } catch {
      throw Self.malformed(error, in: "line \(error.line), field \(error.field)")
    }
    guard let header else {
      guard hasEnded else { return }
      throw AnnouncementError(
        .payloadMalformed, "list", "is empty", remedy: "give CSV with a header, or JSON lines that begin with {")
    }
    let known = Set(PayloadDecoder.rowKeys)
    // Names are accepted as people and spreadsheets write them, such as `Amount` or ` currency`.
    let columns = header.fields.map { field -> String? in
      // Names that are not ASCII must not match. Some letters fold to ASCII letters, and composing letters could take
      // long.
      guard field.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
      let name = field.lowercased().filter { !$0.isWhitespace }
      return known.contains(name) ? name : nil
    }
    // A misspelt name is reported rather than the column that seems to be missing because of it.
    for (name, column) in zip(header.fields, columns) where column == nil {
      try Self.reported(header) { () throws(AnnouncementError) in try PayloadDecoder.checkSpelling(ofColumn: name) }
    }
    let names = Set(columns.compactMap(\.self))
    if let twice = names.sorted().first(where: { name in columns.count { $0 == name } > 1 }) {
      throw Self.headerFault(header, .fieldsConflict, twice, "occurs twice", "name each column once")
    }
    let isPayment = names.contains("amount") || names.contains("minor")
    guard isPayment || names.contains("text") else {
      throw Self.headerFault(
        header, .fieldMissing, "amount", "is missing",
        "name the columns, separated by commas: either amount (or minor) and currency, or text")
    }
    guard !isPayment || names.contains("currency") else {
      throw Self.headerFault(header, .fieldMissing, "currency", "is missing", "an amount needs a currency")
    }
    try takeUnknownColumns(of: header, columns)
    self.columns = names.contains("kind") ? columns : try Self.withStates(header, columns)
  }

  /// If there is no column `kind`, adds the columns from which the kind of a payment can be derived.
  private static func withStates(
    _ header: CSVRecord, _ columns: [String?]
  ) throws(AnnouncementError) -> [String?] {
    var states: Set<String> = []
    var all = columns
    for (index, name) in header.fields.enumerated() where columns[index] == nil {
      guard let key = PayloadDecoder.keyOfState(column: name) else { continue }
      guard states.insert(key).inserted else {
        throw headerFault(
          header, .fieldsConflict, PayloadDecoder.printable(name), "means the same as another column",
          "keep only one of them, or use a column kind instead")
      }
      all[index] = key
    }
    return all
  }

  private mutating func takeUnknownColumns(
    of header: CSVRecord, _ columns: [String?]
  ) throws(AnnouncementError) {
    unknownColumns = zip(header.fields, columns).filter { $0.1 == nil }.map(\.0)
    for name in unknownColumns {
      try Self.reported(header) { () throws(AnnouncementError) in try PayloadDecoder.checkColumn(name) }
    }
    if unknownKeys == .refuse, let first = unknownColumns.first {
      throw Self.headerFault(
        header, .fieldUnknown, PayloadDecoder.printable(first), "is not a column",
        "remove it, or do not request strict handling")
    }
    columnWarnings = PayloadDecoder.warnings(ofColumns: unknownColumns)
  }

  /// Checks a column, and names the header's line in the error.
  private static func reported(
    _ header: CSVRecord, _ check: () throws(AnnouncementError) -> Void
  ) throws(AnnouncementError) {
    do throws(AnnouncementError) {
      try check()
    } catch {
      throw headerFault(header, error.code, error.subject, error.problem, error.remedy)
    }
  }

  private static func headerFault(
    _ header: CSVRecord, _ code: AnnouncementError.Code, _ column: String, _ problem: String, _ remedy: String
  ) -> AnnouncementError {
    AnnouncementError(code, "line \(header.line), column \(column)", problem, remedy: remedy)
  }

  private static func malformed(_ error: CSVError, in subject: String) -> AnnouncementError {
    AnnouncementError(.payloadMalformed, subject, error.problem, remedy: error.remedy)
  }
}
