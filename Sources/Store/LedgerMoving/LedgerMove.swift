// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
public import Foundation
import Ledger
public import PostgreSQL
import PostgreSQLLedger
import SQLiteLedger

/// A copy of all rows of a ledger into an empty ledger of the other kind.
///
/// No process may use either ledger meanwhile. The source is not changed. The new ledger has all rows or none: in
/// PostgreSQL, everything is one transaction; a file gets its name when all of it is on the disk. Before that, all rows
/// are read again on both sides and compared.
public enum LedgerMove: Sendable, Hashable {
  case intoDatabase(from: URL, to: PostgreSQLAddress)
  case intoFile(from: PostgreSQLAddress, to: URL)

  /// The progress of a move.
  public struct Progress: Sendable, Hashable {
    public enum Step: Sendable, Hashable, CaseIterable {
      case copying, checking
    }

    public let step: Step
    /// The number of rows that the step is done with.
    public let rows: Int
    /// The number of rows of the ledger.
    public let total: Int
  }

  /// Moves the ledger.
  ///
  /// - Parameter report: Called after every few rows, and when a step begins. If it throws, the move ends with this
  ///   error, and nothing is kept.
  /// - Throws: ``LedgerError``; `CancellationError` if the task was cancelled; the error of `report`.
  public func run(
    reporting report: @escaping @Sendable (Progress) throws -> Void = { _ in }
  ) async throws -> LedgerMoveReport {
    let transfer = RowTransfer(report: report)
    do {
      switch self {
      case .intoDatabase(let file, let address):
        let source = try await onWaitingThread { () throws(LedgerError) in try ClosedLedgerFile(file) }
        return try await PostgreSQLLedger.fill(at: address) { session in
          try source.read { rows in try transfer.run(from: rows, to: session) }
        }
      case .intoFile(let address, let file):
        let target = try await onWaitingThread { () throws(LedgerError) in try NewLedgerFile(for: file) }
        defer { target.discard() }
        return try await PostgreSQLLedger.read(at: address) { session in
          // The file gets its name while the database is still locked, so nobody has written since it was read.
          let report = try target.fill { rows in try transfer.run(from: session, to: rows) }
          try target.publish()
          return report
        }
      }
    } catch let fault as RowFault {
      throw LedgerError(fault.code, while: .moving, in: file, field: fault.description)
    } catch {
      // If the outcome is not known, the user has to know that.
      if Task.isCancelled, (error as? LedgerError)?.code != .outcomeUnknown { throw CancellationError() }
      throw error
    }
  }

  private var file: URL {
    switch self {
    case .intoDatabase(let file, _), .intoFile(_, let file): file
    }
  }
}
