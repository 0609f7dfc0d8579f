// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Ledger

extension Schema {
  /// Adds the words of answers in the form in which they are searched, so that a search neither reads nor decodes their
  /// reports. The words are removed together with their answer.
  static func addWords(to database: Database) throws {
    try database.execute(sql: "ALTER TABLE answers ADD COLUMN words BLOB")
    let page = try database.makeStatement(
      sql: "SELECT rowid AS number, report FROM answers WHERE rowid > ? ORDER BY rowid LIMIT 500")
    let update = try database.makeStatement(sql: "UPDATE answers SET words = ? WHERE rowid = ?")
    var last = Int64.min
    while true {
      let rows = try Row.fetchAll(page, arguments: [last])
      for row in rows {
        last = try row.value("number")
        guard let words = SearchText(wordsOf: try row.value("report")) else { continue }
        try update.execute(arguments: [words.bytes, last])
      }
      if rows.isEmpty { return }
    }
  }
}
