// SPDX-License-Identifier: Apache-2.0

package import Ledger

/// The row and the column that prevent a move. It contains no value except the row's own number.
package struct RowFault: Error, CustomStringConvertible {
  package let code: LedgerError.Code
  package let description: String

  init(_ code: LedgerError.Code, _ description: String) { (self.code, self.description) = (code, description) }

  /// - Parameters:
  ///   - place: The place of the row in the order of the keys, from 1.
  ///   - column: The name of the column; nil if the whole row is missing or should not exist.
  init(_ code: LedgerError.Code, _ table: MovedTable, _ row: [MovedValue], _ place: Int, _ column: String?) {
    var words = ["table \(table.name)", "row \(place)"]
    // A number says more than the place. Another key, such as an account and an id, does not belong in a message.
    if table.numbering != .none, case .integer(let number)? = table.key(of: row).first {
      words[1] = "\(table.keyColumns.first?.name ?? "number") \(number)"
    }
    if let column { words.append("column \(column)") }
    self.init(code, words.joined(separator: ", "))
  }

  /// The first difference between rows and their copies; nil if there is none.
  ///
  /// - Parameter done: The number of rows of the table before these.
  init?(comparing rows: [[MovedValue]], with copies: [[MovedValue]], of table: MovedTable, behind done: Int) {
    for (index, (row, copy)) in zip(rows, copies).enumerated() {
      guard let column = zip(row, copy).enumerated().first(where: { $1.0 != $1.1 })?.offset else { continue }
      self.init(.copyDiffers, table, row, done + index + 1, table.columns[column].name)
      return
    }
    guard rows.count != copies.count else { return nil }
    let place = min(rows.count, copies.count)
    self.init(.copyDiffers, table, rows.count > copies.count ? rows[place] : copies[place], done + place + 1, nil)
  }
}
