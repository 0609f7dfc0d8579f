// SPDX-License-Identifier: Apache-2.0

public import Announcements
import Foundation
import TextFormats

/// One row of a list of announcements. It contains the announcement, or the error in the row.
public struct BatchRow: Sendable, Hashable {
  /// The number of the line on which the row begins, counted from 1.
  public var line: Int
  /// The number of the element in a JSON array, counted from 1; `nil` for a list that is not a JSON array.
  public var element: Int?
  public var id: String?
  public var announcement: Result<Announcement, AnnouncementError>

  /// Sentences about unknown keys or columns, for the report of the row.
  public var warnings: [String] = []

  /// The offset in the list, in bytes, at which the row ends.
  public var endOffset = 0
}

/// Reads a list of announcements from bytes that arrive in pieces. Memory holds only one row and one piece.
///
/// The list has one of two formats. In CSV (RFC 4180), the first row names the columns with ``PayloadDecoder/rowKeys``;
/// the separator may also be a semicolon or a tab (`CSVSeparator`). In JSON lines, each line is a payload or
/// `{"text": "…", "locale": "…"}`. A JSON array of such objects is read like JSON lines. A payment's `id` is optional.
/// Blank lines are skipped, and so are rows of CSV that contain separators only.
public struct BatchRows: Sendable {
  public enum Format: String, Sendable, Hashable, CaseIterable {
    case csv
    /// JSON lines, or a JSON array.
    case jsonl
  }

  private enum Form {
    case csv, lines, array
  }

  /// The names of the unknown columns, spelled as in the list. They are known after the first row was read.
  public private(set) var unknownColumns: [String] = []

  private let unknownKeys: PayloadDecoder.UnknownKeys

  /// The warnings about columns. They are part of the report of each row.
  private var columnWarnings: [String] = []

  /// The format of the list; `nil` if its first character determines it.
  private let format: Format?
  /// The form of the list; `nil` until it is known.
  private var form: Form?
  private var hasEnded = false
  private var csv = CSVReader()
  private var lines = LineReader(longest: PayloadDecoder.largestBytes)
  private var array = JSONArrayReader(longest: PayloadDecoder.largestBytes)

  /// Whether a row was read.
  private var hasRows = false

  /// The white space at the beginning of the list.
  private var lead: [UInt8] = []

  /// The key for each cell of a row: `nil` if the column is unknown. The array is `nil` until the header was read.
  private var columns: [String?]?

  private static let blanks = Set(" \t\r\n".utf8)
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// - Parameters:
  ///   - format: The format of the list. If it is `nil`, a list that begins with `{`, or with `[` and a JSON value, is
  ///     JSON. Any other list is CSV.
  ///   - unknownKeys: How to treat unknown keys. If unknown keys are refused, an unknown column is an error of the
  ///     whole list.
  public init(format: Format? = nil, unknownKeys: PayloadDecoder.UnknownKeys = .warn) {
    self.format = format
    self.unknownKeys = unknownKeys
    if format == .csv { form = .csv }
  }

  /// Adds the next piece of the list. A piece may have any size.
  public mutating func append(_ bytes: [UInt8]) {
    switch form {
    case .csv: csv.append(bytes)
    case .lines: lines.append(bytes)
    case .array: array.append(bytes)
    case nil:
      lead += bytes
      if let form = Self.form(of: lead, format) {
        decide(form)
      } else if lead.count > PayloadDecoder.largestBytes {
        decide(fallback)
      }
    }
  }

  /// Returns the form of a list, determined by its first characters; `nil` if more characters are needed.
  private static func form(of lead: [UInt8], _ format: Format?) -> Form? {
    let marks = lead.lazy.filter { !blanks.contains($0) && !byteOrderMark.contains($0) }.prefix(2)
    guard let first = marks.first else { return nil }
    guard first == UInt8(ascii: "[") else { return format == .jsonl || first == UInt8(ascii: "{") ? .lines : .csv }
    if format == .jsonl { return .array }
    // In CSV, the first column may have a name in brackets, such as `[till]`. `[null]` would also be such a name, so a
    // word of JSON after the bracket does not make the list JSON.
    guard let next = marks.dropFirst().first else { return nil }
    return #"{]["-0123456789"#.utf8.contains(next) ? .array : .csv
  }

  /// The form of a list without any characters.
  private var fallback: Form { format == .jsonl ? .lines : .csv }

  /// Marks the end of the list.
  public mutating func end() {
    if form == nil { decide(fallback) }
    hasEnded = true
    csv.end()
    lines.end()
    array.end()
  }

  private mutating func decide(_ form: Form) {
    self.form = form
    append(lead)
    lead = []
  }

  /// Returns the next row.
  ///
  /// - Returns: The row. The result is `nil` if more bytes are needed or, after ``end()``, if there are no more rows.
  /// - Throws: An error of the whole list: the header is missing, no announcement can be formed from its columns, a
  ///   JSON array cannot be divided any further, or the list has no row (`listEmpty`).
  public mutating func next() throws(AnnouncementError) -> BatchRow? {
    let row: BatchRow? =
      switch form {
      case .csv: try nextRecord()
      case .lines: nextLine()
      case .array: try nextElement()
      case nil: nil
      }
    if row != nil { hasRows = true }
    if row == nil, hasEnded, !hasRows {
      throw AnnouncementError(
        .listEmpty, "list", form == .csv ? "has a header and no row" : "has no row",
        remedy: "write at least one announcement")
    }
    return row
  }

  // MARK: JSON lines

  private mutating func nextLine() -> BatchRow? {
    while let line = lines.next() {
      var bytes = line.bytes[...]
      if line.number == 1, bytes.starts(with: Self.byteOrderMark) { bytes = bytes.dropFirst(3) }
      guard bytes.contains(where: { !Self.blanks.contains($0) }) else { continue }
      let row = payload(bytes, "write each payload on its own line, and shorten it")
      return BatchRow(
        line: line.number, id: row.id, announcement: row.announcement, warnings: row.warnings,
        endOffset: lines.consumedBytes)
    }
    return nil
  }

  private mutating func nextElement() throws(AnnouncementError) -> BatchRow? {
    do throws(JSONArrayReader.Fault) {
      guard let element = try array.next() else { return nil }
      let row = payload(element.bytes[...], "shorten it")
      return BatchRow(
        line: element.line, element: element.number, id: row.id, announcement: row.announcement,
        warnings: row.warnings, endOffset: array.consumedBytes)
    } catch {
      throw AnnouncementError(
        .payloadMalformed, "line \(error.line), element \(error.number)", error.problem, remedy: error.remedy)
    }
  }

  /// - Parameter remedy: What to do about a payload that is too long.
  private func payload(_ bytes: ArraySlice<UInt8>, _ remedy: String) -> PayloadRow {
    guard bytes.count > PayloadDecoder.largestBytes else {
      return PayloadDecoder.row(json: Data(bytes), unknownKeys: unknownKeys)
    }
    return PayloadRow(
      announcement: .failure(
        AnnouncementError(
          .payloadTooLarge, "payload", "is longer than \(PayloadDecoder.largestBytes) bytes", remedy: remedy)))
  }

  // MARK: CSV

  private mutating func nextRecord() throws(AnnouncementError) -> BatchRow? {
    if columns == nil { try readHeader() }
    guard let columns else { return nil }
    let (line, row): (Int, PayloadRow)
    do throws(CSVError) {
      guard let record = try nextFilledRecord() else { return nil }
      (line, row) = (record.line, Self.row(record.fields, columns, csv.separator ?? .comma))
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

  private static func row(_ cells: [String], _ columns: [String?], _ separator: CSVSeparator) -> PayloadRow {
    guard cells.count == columns.count else {
      return PayloadRow(
        announcement: .failure(
          AnnouncementError(
            .payloadMalformed, "row", "has \(cells.count) fields, but the header has \(columns.count)",
            remedy: "write one field for each column, separate the fields by \(separator.plural) as in the header, and "
              + "put fields that contain \(separator.name) in quotation marks")))
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
      var fault = Self.malformed(error, in: "line \(error.line), field \(error.field)")
      if error.code == .recordTooLong { fault.remedy += ". The header must end with a line break. \(Self.lineEnds)" }
      throw fault
    }
    guard let header else {
      guard hasEnded else { return }
      throw AnnouncementError(
        .listEmpty, "list", "is empty",
        remedy: "give CSV with a header, JSON lines that begin with {, or a JSON array of objects")
    }
    let known = Set(PayloadDecoder.rowKeys)
    // Names are accepted as people and spreadsheets write them, such as `Amount` or ` currency`.
    let columns = header.fields.map { field -> String? in
      // A name with characters outside ASCII must not match. Some letters fold to ASCII letters, and composing letters
      // could take a long time.
      guard field.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
      let name = field.lowercased().filter { !$0.isWhitespace }
      return known.contains(name) ? name : nil
    }
    if csv.lacksLineBreak {
      let isOdd = columns.contains(nil) || columns.count > known.count
      throw AnnouncementError(
        .listEmpty, "list",
        "has a header of \(columns.count) column\(columns.count == 1 ? "" : "s"), without a line break, and no row",
        remedy: isOdd ? "its line ends may be lost. \(Self.lineEnds)" : "write at least one announcement")
    }
    // If a column is missing because its name is misspelt, the error reports the misspelt name.
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
        "name the columns: either amount (or minor) and currency, or text")
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
          "keep only one of them, or use a column 'kind' instead")
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

  /// What to do about a list that has lost its line ends.
  private static let lineEnds = "curl removes them with -d; did you mean --data-binary?"

  private static func headerFault(
    _ header: CSVRecord, _ code: AnnouncementError.Code, _ column: String, _ problem: String, _ remedy: String
  ) -> AnnouncementError {
    AnnouncementError(code, "line \(header.line), column \(column)", problem, remedy: remedy)
  }

  private static func malformed(_ error: CSVError, in subject: String) -> AnnouncementError {
    AnnouncementError(.payloadMalformed, subject, error.problem, remedy: error.remedy)
  }
}
