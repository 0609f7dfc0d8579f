// SPDX-License-Identifier: Apache-2.0

package import Ledger

/// A copy of all rows, and their comparison. Only a few rows are in memory at once.
package struct RowTransfer: Sendable {
  let report: @Sendable (LedgerMove.Progress) throws -> Void

  package init(report: @escaping @Sendable (LedgerMove.Progress) throws -> Void) { self.report = report }

  /// Copies all rows into a new ledger, and then compares them.
  ///
  /// - Throws: ``RowFault`` with `valueUnstorable` or `copyDiffers`; the errors of both ledgers.
  package func run<Source: LedgerRows & ~Copyable, Target: NewLedgerRows & ~Copyable>(
    from source: borrowing Source, to target: borrowing Target
  ) throws -> LedgerMoveReport {
    var total = 0
    for table in MovedTable.all { total += try source.count(of: table) }
    try copy(from: source, to: target, total)
    return try compare(source, with: target, total)
  }

  private func copy<Source: LedgerRows & ~Copyable, Target: NewLedgerRows & ~Copyable>(
    from source: borrowing Source, to target: borrowing Target, _ total: Int
  ) throws {
    var done = 0
    try report(LedgerMove.Progress(step: .copying, rows: done, total: total))
    for table in MovedTable.all {
      var key: [MovedValue] = []
      var place = 0
      while case let rows = try source.rows(of: table, after: key, limit: table.rowsAtOnce), let last = rows.last {
        for (index, row) in rows.enumerated() {
          for (column, value) in zip(table.columns, row) {
            if case .unstorable = value { throw RowFault(.valueUnstorable, table, row, place + index + 1, column.name) }
          }
        }
        try target.insert(rows, into: table)
        key = table.key(of: last)
        place += rows.count
        done += rows.count
        try report(LedgerMove.Progress(step: .copying, rows: done, total: total))
      }
    }
    for table in MovedTable.all where table.numbering != .none {
      try target.setLastNumber(try source.lastNumber(of: table), of: table)
    }
    try target.complete()
  }

  /// Compares all rows, and the last numbers.
  ///
  /// - Throws: ``RowFault`` with `copyDiffers`.
  private func compare<Source: LedgerRows & ~Copyable, Target: LedgerRows & ~Copyable>(
    _ source: borrowing Source, with target: borrowing Target, _ total: Int
  ) throws -> LedgerMoveReport {
    var done = 0
    try report(LedgerMove.Progress(step: .checking, rows: done, total: total))
    var tables: [LedgerMoveReport.Table] = []
    for table in MovedTable.all {
      var digest = RowDigest()
      var key: [MovedValue] = []
      var place = 0
      while true {
        let rows = try source.rows(of: table, after: key, limit: table.rowsAtOnce)
        let copies = try target.rows(of: table, after: key, limit: table.rowsAtOnce)
        if let fault = RowFault(comparing: rows, with: copies, of: table, behind: place) { throw fault }
        guard let last = rows.last else { break }
        for row in rows { digest.add(row) }
        key = table.key(of: last)
        place += rows.count
        done += rows.count
        try report(LedgerMove.Progress(step: .checking, rows: done, total: total))
      }
      guard try source.lastNumber(of: table) == target.lastNumber(of: table) else {
        throw RowFault(.copyDiffers, "table \(table.name), last number")
      }
      tables.append(LedgerMoveReport.Table(name: table.name, rows: place, sha256: digest.hexadecimal))
    }
    return LedgerMoveReport(tables: tables)
  }
}
