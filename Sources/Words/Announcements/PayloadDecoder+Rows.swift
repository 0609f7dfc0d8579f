// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The content of one row of a list: a text to be spoken, or a payload. The payment in the payload need not have an id.
public struct PayloadRow: Sendable, Hashable {
  /// The id of the row of the list, if it could be read. It may be known even if the rest of the row is invalid.
  public var id: String?
  public var announcement: Result<Announcement, AnnouncementError>

  /// Sentences for the report, one for each key that the decoder does not know.
  public var warnings: [String]

  public init(id: String? = nil, announcement: Result<Announcement, AnnouncementError>, warnings: [String] = []) {
    self.id = id
    self.announcement = announcement
    self.warnings = warnings
  }
}

extension PayloadDecoder {
  /// The largest size of a payload, or of a line of JSON, in bytes.
  public static let largestBytes = PayloadParser.largestBytes

  /// The column names of a list that is not JSON: the keys of a payment and of a text.
  public static let rowKeys = PayloadKeys.payment + ["text"]

  /// Reads a line of JSON: a payload as in ``decode(_:)``, or `{"text": "…", "locale": "…"}`.
  ///
  /// - Parameter line: UTF-8, with the limits of a payload.
  public static func row(json line: Data, unknownKeys: UnknownKeys = .warn) -> PayloadRow {
    do throws(AnnouncementError) {
      return row(try fields(of: line), unknownKeys)
    } catch {
      return PayloadRow(announcement: .failure(error))
    }
  }

  /// Reads the cells of a table's row.
  ///
  /// - Parameter cells: The cells, keyed by ``rowKeys`` and ``keyOfState(column:)``. An empty cell counts as absent.
  ///   The exceptions are the column `kind` and the columns that replace it: if a list has such a column, it needs a
  ///   value for each payment. `amount` is decimal text; `minor` and `sequence` are whole numbers.
  public static func row(cells: [String: String]) -> PayloadRow {
    var values: [String: PayloadValue] = [:]
    var fault: AnnouncementError?
    let isPayment = ["amount", "minor"].contains { cells[$0]?.isEmpty == false }
    for (key, cell) in cells {
      let isKind = key == "kind" || !rowKeys.contains(key)
      guard !cell.isEmpty || (isPayment ? isKind : key == "text") else { continue }
      values[key] = .string(cell)
      guard ["minor", "sequence"].contains(key) else { continue }
      if let number = wholeNumber(cell) {
        values[key] = .number(number)
      } else {
        fault = AnnouncementError(
          .fieldInvalid, key, "is not a whole number below 2^63", remedy: "write only digits")
      }
    }
    let row = row(PayloadFields(path: "", values: values), .warn)
    return fault.map { PayloadRow(id: row.id, announcement: .failure($0)) } ?? row
  }

  private static func row(_ top: PayloadFields, _ treatment: UnknownKeys) -> PayloadRow {
    var fields = top
    if case .object(let payment)? = top.value("payment") { fields = top.fields("payment", payment) }
    let id = try? identifier(fields)
    do throws(AnnouncementError) {
      let warnings = try unknownKeys(of: top, in: Surroundings(allowsText: true), treatment)
      if let text = try text(top) { return PayloadRow(id: id, announcement: .success(text), warnings: warnings) }
      let payload = try announcement(top, requiresID: false)
      return PayloadRow(id: id, announcement: .success(payload), warnings: warnings)
    } catch {
      return PayloadRow(id: id, announcement: .failure(error))
    }
  }

  /// Reads the text of a row of a list.
  ///
  /// - Returns: `nil` when the row holds a payload instead of a text.
  static func text(_ top: PayloadFields) throws(AnnouncementError) -> Announcement? {
    guard top.value("text") != nil else { return nil }
    // A request that was accepted under earlier rules is still read.
    let payment = top.wasAccepted ? ["amount", "minor"] : PayloadKeys.neverBesideText
    let other = (["payment", "aps"] + payment).first { top.value($0) != nil }
    switch (try top.textOrBlank("text", atMost: Announcement.longestText), other) {
    case (let text?, nil):
      return .text(text, locale: try top.text("locale", atMost: 64))
    case (nil, _?):
      // A text that is too long is an error, unless it was accepted earlier.
      _ = try top.text("text", atMost: Announcement.longestText)
      return nil
    case (nil, nil):
      throw AnnouncementError(
        .nothingToSay, "text", "is empty", remedy: "give a text to be spoken, or a payment")
    case (_?, let other?):
      throw AnnouncementError(
        .fieldsConflict, "text and \(other)", "are both given", remedy: "give a text to be spoken, or a payment")
    }
  }

  private static func wholeNumber(_ cell: String) -> String? {
    let digits = cell.utf8.first == UInt8(ascii: "-") ? cell.utf8.dropFirst() : cell.utf8[...]
    guard digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
    return Int64(cell).map { String($0) }
  }
}
