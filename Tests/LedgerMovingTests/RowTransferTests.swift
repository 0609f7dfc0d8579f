// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Ledger
import Testing

@testable import LedgerMoving

/// A ledger whose rows are in memory.
private final class Rows: NewLedgerRows {
  private var rows: [String: [[MovedValue]]] = [:]
  private var numbers: [String: Int64] = [:]
  private(set) var isComplete = false
  /// Changes a row before it is stored.
  var change: (MovedTable, inout [MovedValue]) -> Void = { _, _ in }
  /// Whether the next row is lost.
  var losesRow = false
  var losesNumbers = false

  func count(of table: MovedTable) -> Int { rows[table.name, default: []].count }

  func rows(of table: MovedTable, after key: [MovedValue], limit: Int) -> [[MovedValue]] {
    let all = rows[table.name, default: []]
    let start = key.isEmpty ? 0 : (all.firstIndex { table.key(of: $0) == key } ?? all.count) + 1
    return Array(all.dropFirst(start).prefix(limit))
  }

  func lastNumber(of table: MovedTable) -> Int64 { numbers[table.name] ?? 0 }

  func insert(_ new: [[MovedValue]], into table: MovedTable) {
    for row in new {
      var row = row
      change(table, &row)
      if losesRow { losesRow = false } else { rows[table.name, default: []].append(row) }
    }
  }

  func setLastNumber(_ number: Int64, of table: MovedTable) {
    if !losesNumbers { numbers[table.name] = number }
  }

  func complete() { isComplete = true }
}

@Suite("Copying and comparing rows")
struct RowTransferTests {
  private static let commands = MovedTable.all.first { $0.name == "commands" }
  private static let lanes = MovedTable.all.first { $0.name == "lanes" }

  /// Returns rows of the tables `commands` (number, at, value, lane, kind) and `lanes` (last_passed, lane).
  private func ledger(commands count: Int64 = 3) throws -> Rows {
    let ledger = Rows()
    let commands = try #require(Self.commands)
    for number in 1...count {
      ledger.insert(
        [[.integer(number), .integer(0), .null, .text("é"), .text("pause")]], into: commands)
    }
    ledger.setLastNumber(count + 5, of: commands)
    ledger.insert([[.integer(7), .text("a")], [.null, .text("b")]], into: try #require(Self.lanes))
    return ledger
  }

  private func run(_ source: Rows, _ target: Rows) throws -> LedgerMoveReport {
    try RowTransfer { _ in }.run(from: source, to: target)
  }

  @Test("all rows and the last numbers are copied, and counted by table")
  func copied() throws {
    let (source, target) = (try ledger(commands: 2_500), Rows())
    let steps = Locked<[LedgerMove.Progress]>([])
    let report = try RowTransfer { progress in steps.withLock { $0.append(progress) } }.run(from: source, to: target)
    #expect(report.rows == 2_502 && report.tables.count == MovedTable.all.count)
    #expect(report.tables.first { $0.name == "commands" }?.rows == 2_500)
    let commands = try #require(Self.commands)
    #expect(target.isComplete && target.count(of: commands) == 2_500 && target.lastNumber(of: commands) == 2_505)
    #expect(
      steps.withLock { $0.map(\.rows) } == [0, 2, 1_002, 2_002, 2_502, 0, 2, 1_002, 2_002, 2_502])
    #expect(
      steps.withLock { $0.map(\.step) } == Array(repeating: .copying, count: 5) + Array(repeating: .checking, count: 5))
  }

  @Test("the comparison finds a changed value, even if it is equal as a text")
  func changedValue() throws {
    let target = Rows()
    target.change = { table, row in
      if table.name == "commands", row[0] == .integer(2) { row[3] = .text("e\u{301}") }
    }
    let fault = try #require(throws: RowFault.self) { try run(try ledger(), target) }
    #expect(fault.code == .copyDiffers && fault.description == "table commands, number 2, column lane")
  }

  @Test("the comparison finds a lost row")
  func lostRow() throws {
    let target = Rows()
    target.change = { table, row in target.losesRow = table.name == "commands" && row[0] == .integer(3) }
    let fault = try #require(throws: RowFault.self) { try run(try ledger(), target) }
    #expect(fault.code == .copyDiffers && fault.description == "table commands, number 3")
  }

  @Test("the comparison finds an additional row, and does not name its key if the key is a text")
  func additionalRow() throws {
    let target = Rows()
    target.insert([[.null, .text("0")]], into: try #require(Self.lanes))
    let fault = try #require(throws: RowFault.self) { try run(try ledger(), target) }
    #expect(fault.code == .copyDiffers && fault.description == "table lanes, row 1, column last_passed")
  }

  @Test("the comparison finds a last number that was not stored")
  func lostNumber() throws {
    let target = Rows()
    target.losesNumbers = true
    let fault = try #require(throws: RowFault.self) { try run(try ledger(), target) }
    #expect(fault.code == .copyDiffers && fault.description == "table commands, last number")
  }

  @Test("if a table contains a text that cannot be stored, the error is reported before any row of the table is stored")
  func unstorable() throws {
    let (source, target) = (Rows(), Rows())
    let lanes = try #require(Self.lanes)
    source.insert([[.null, .text("a")], [.null, .unstorable]], into: lanes)
    let fault = try #require(throws: RowFault.self) { try run(source, target) }
    #expect(fault.code == .valueUnstorable && fault.description == "table lanes, row 2, column lane")
    #expect(target.count(of: lanes) == 0 && !target.isComplete)
  }

  @Test("two ledgers have the same digests only if they have the same rows")
  func digests() throws {
    func digest(_ rows: [[MovedValue]]) throws -> String {
      let source = Rows()
      source.insert(rows, into: try #require(Self.lanes))
      return try #require(try run(source, Rows()).tables.first { $0.name == "lanes" }).sha256
    }
    let all = try [
      digest([]), digest([[.integer(1), .text("a")]]), digest([[.integer(2), .text("a")]]),
      digest([[.null, .text("a")]]), digest([[.integer(1), .text("ab")]]),
      digest([[.integer(1), .text("a")], [.integer(1), .text("b")]]),
    ]
    #expect(Set(all).count == all.count)
    #expect(try digest([[.integer(1), .text("a")]]) == all[1])
    #expect(all.allSatisfy { $0.utf8.count == 64 })
  }
}
