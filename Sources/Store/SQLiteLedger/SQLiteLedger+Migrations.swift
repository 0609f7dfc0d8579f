// SPDX-License-Identifier: Apache-2.0

public import Foundation
import GRDB
public import Ledger

extension SQLiteLedger {
  /// The names of the migrations that this version knows, in the order in which they are applied.
  public static var knownMigrations: [String] { Schema.migrator.migrations }

  /// Returns the names of the migrations that were applied to a ledger's file, in their order. The file is not changed.
  ///
  /// - Throws: ``LedgerError``.
  public static func appliedMigrations(of file: URL) throws(LedgerError) -> [String] {
    do {
      var configuration = Configuration()
      configuration.readonly = true
      let reader = try DatabaseQueue(path: file.path(percentEncoded: false), configuration: configuration)
      defer { try? reader.close() }
      let applied = try reader.read { try Schema.migrator.appliedIdentifiers($0) }
      return knownMigrations.filter(applied.contains) + applied.subtracting(knownMigrations).sorted()
    } catch {
      throw LedgerError(error, while: .opening, in: file)
    }
  }
}
