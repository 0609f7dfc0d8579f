// SPDX-License-Identifier: Apache-2.0

import Foundation
import TextFormats

extension RecordingSheet {
  /// The columns of ``csv``, in order.
  enum Column: String, CaseIterable {
    case number, file, token, text, position, how, example, block, locale
  }

  /// The recording sheet as comma-separated values with a header, in UTF-8. It can be edited in a spreadsheet, and
  /// ``rows(csv:)`` can read it again.
  public var csv: String {
    var lines = CSVWriter.record(Column.allCases.map(\.rawValue))
    for block in blocks {
      for row in block.rows {
        let fields = Column.allCases.map { column in
          switch column {
          case .number: String(row.number)
          case .file: row.file
          case .token: row.token
          case .text: row.text
          case .position: row.position.rawValue
          case .how: row.how
          case .example: row.example
          case .block: block.coverage
          case .locale: row.locale ?? ""
          }
        }
        lines += CSVWriter.record(fields)
      }
    }
    return lines
  }

  /// Reads a recording sheet that people may have edited. Rows and optional columns may be missing, and their order may
  /// differ. Unknown columns are ignored. Empty rows, which spreadsheets leave behind, are skipped.
  ///
  /// - Parameter csv: the file's contents.
  /// - Returns: the rows in the file's order.
  /// - Throws: ``PackMakingError`` for the first fault. It states the line of the fault.
  public static func rows(csv: some Collection<UInt8>) throws(PackMakingError) -> [SheetRow] {
    var reader = CSVReader()
    reader.append(csv)
    reader.end()
    guard let header = try record(&reader) else {
      throw PackMakingError(
        .columnMissing, sheetLine: 1, "the file is empty",
        remedy: "use a sheet with the header that the program writes")
    }
    let places = try columns(of: header)
    var rows: [SheetRow] = []
    var lines: [TokenPlace: Int] = [:]
    while let record = try record(&reader) {
      guard !record.isBlank else { continue }
      let row = try row(record, places)
      let place = TokenPlace(tokens: row.tokens, position: row.position)
      if let first = lines.updateValue(record.line, forKey: place) {
        throw PackMakingError(
          .tokenRepeated, sheetLine: record.line,
          "the token already occurs in line \(first) with the position \(row.position.rawValue)",
          remedy: "delete one of the two lines")
      }
      rows.append(row)
    }
    return rows
  }

  private static func record(_ reader: inout CSVReader) throws(PackMakingError) -> CSVRecord? {
    do {
      return try reader.next()
    } catch {
      throw PackMakingError(
        .notCSV, sheetLine: error.line, "field \(error.field) \(error.problem)", remedy: error.remedy)
    }
  }

  /// Returns the indices of the required columns.
  private static func columns(of header: CSVRecord) throws(PackMakingError) -> [Column: Int] {
    let names = header.fields.map { $0.filter { !$0.isWhitespace }.lowercased() }
    var places: [Column: Int] = [:]
    for column in [Column.number, .file, .token, .text, .position] {
      guard let place = names.firstIndex(of: column.rawValue) else {
        throw PackMakingError(
          .columnMissing, sheetLine: header.line, "the header has no column “\(column.rawValue)”",
          remedy: "put the columns number, file, token, text and position into the first line, separated by commas")
      }
      places[column] = place
    }
    places[.locale] = names.firstIndex(of: Column.locale.rawValue)
    return places
  }

  private static func row(_ record: CSVRecord, _ places: [Column: Int]) throws(PackMakingError) -> SheetRow {
    func field(_ column: Column) throws(PackMakingError) -> String {
      let value = places[column].flatMap { record.fields.indices.contains($0) ? record.fields[$0] : nil } ?? ""
      let trimmed = String(value.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
      guard !trimmed.isEmpty else { throw invalid(column, "is empty", "fill it in, or delete the line") }
      return trimmed
    }
    func invalid(_ column: Column, _ problem: String, _ remedy: String) -> PackMakingError {
      PackMakingError(.fieldInvalid, sheetLine: record.line, "\(column.rawValue) \(problem)", remedy: remedy)
    }
    guard let number = Int(try field(.number)), number > 0 else {
      throw invalid(.number, "is not a whole number above zero", "write 1, 2, 3 and so on")
    }
    let file = try field(.file)
    guard !file.hasPrefix("."), !file.unicodeScalars.contains(where: { "/\\\0".unicodeScalars.contains($0) }) else {
      throw invalid(.file, "is not a plain file name", "write a name without folders, such as 001")
    }
    // Several token names, separated by spaces, are a phrase.
    let token = try field(.token).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    guard let position = ClipPosition(rawValue: try field(.position).lowercased()) else {
      throw invalid(.position, "is not a known position", "write plain, rising or final")
    }
    let locale = places[.locale].flatMap { record.fields.indices.contains($0) ? record.fields[$0] : nil }?
      .trimmingCharacters(in: .whitespaces)
    return SheetRow(
      number: number, file: file, token: token, text: try field(.text), position: position,
      locale: locale?.isEmpty == false ? locale : nil)
  }
}
