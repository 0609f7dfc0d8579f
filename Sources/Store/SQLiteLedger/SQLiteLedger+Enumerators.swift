// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
public import Ledger
import PushMessages

extension SQLiteLedger {
  public func enumerators(account: String, device: String) async throws(LedgerError) -> [Ledger.Enumerator]? {
    if account.hasZero || device.hasZero { return nil }
    return try await read { database in
      guard try Self.device(account, device, in: database) != nil else { return nil }
      let rows = try Row.fetchAll(
        database.cachedStatement(
          sql: """
            SELECT container, registered_at FROM device_enumerators WHERE account = ? AND device = ?
            ORDER BY registered_at, container
            """), arguments: [account, device])
      return try rows.map(Ledger.Enumerator.init(row:))
    }
  }

  public func addEnumerator(
    of container: String, account: String, device: String
  ) async throws(LedgerError) -> Ledger.Enumerator? {
    if account.hasZero || device.hasZero { return nil }
    try refuse(Ledger.brokenRule(ofContainer: container), while: .registering)
    return try await write(while: .registering, cost: 512 + container.utf8.count) { [self] database in
      guard try Self.device(account, device, in: database) != nil else { return nil }
      let known = try Int64.fetchOne(
        database.cachedStatement(
          sql: "SELECT registered_at FROM device_enumerators WHERE account = ? AND device = ? AND container = ?"),
        arguments: [account, device, container])
      if let known {
        return Ledger.Enumerator(container: container, registeredAt: Date(wholeMilliseconds: known), isNew: false)
      }
      let count = try Int.fetchOne(
        database.cachedStatement(sql: "SELECT count(*) FROM device_enumerators WHERE account = ? AND device = ?"),
        arguments: [account, device])
      let countOfAccount = try Int.fetchOne(
        database.cachedStatement(sql: "SELECT count(*) FROM device_enumerators WHERE account = ?"), arguments: [account]
      )
      guard count ?? 0 < options.limits.mostEnumerators, countOfAccount ?? 0 < options.limits.mostEnumeratorsOfAccount
      else {
        throw error(.tooManyEnumerators, while: .registering)
      }
      try checkSize(in: database)
      let at = timeStamp
      try database.cachedStatement(sql: "INSERT INTO device_enumerators VALUES (?, ?, ?, ?)")
        .execute(arguments: [account, device, container, at])
      return Ledger.Enumerator(container: container, registeredAt: Date(wholeMilliseconds: at), isNew: true)
    }
  }

  @discardableResult
  public func removeEnumerator(
    of container: String, account: String, device: String
  ) async throws(LedgerError) -> Bool {
    if account.hasZero || device.hasZero || container.hasZero { return false }
    return try await write(while: .registering) { database in
      try database.cachedStatement(
        sql: "DELETE FROM device_enumerators WHERE account = ? AND device = ? AND container = ?"
      ).execute(arguments: [account, device, container])
      return database.changesCount > 0
    }
  }

  // MARK: - What is pushed

  public func libraryNews(after position: Int64?) async throws(LedgerError) -> Ledger.LibraryNews? {
    try await read { database in
      let known =
        try position
        ?? Int64.fetchOne(database.cachedStatement(sql: "SELECT pushed FROM library_feed")) ?? 0
      let rows = try Row.fetchAll(
        database.cachedStatement(
          sql: """
            SELECT max(anchor) AS latest, account, group_id FROM library_changes NOT INDEXED WHERE anchor > ?
            GROUP BY account, group_id
            """), arguments: [known])
      return try Ledger.LibraryNews(rows: rows)
    }
  }

  public func noteLibraryPushed(upTo position: Int64, under seat: DeliverySeat?) async throws(LedgerError) {
    try check(seat, while: .changingLibrary)
    try await write(while: .changingLibrary) { database in
      try database.cachedStatement(sql: "UPDATE library_feed SET pushed = max(pushed, ?)").execute(arguments: [position]
      )
    }
  }

  public func libraryDevices(
    account only: String?, after last: Ledger.LibraryDevice?, limit: Int
  ) async throws(LedgerError) -> [Ledger.LibraryDevice] {
    if only?.hasZero == true { return [] }
    return try await read(isLong: true) { database in
      try Self.libraryDevices(
        "(devices.account, devices.id) > (?, ?) AND (? IS NULL OR devices.account = ?)",
        [last?.account ?? only ?? "", last?.id ?? "", only, only, Ledger.limit(limit)], in: database)
    }
  }

  public func libraryDevice(account: String, id: String) async throws(LedgerError) -> Ledger.LibraryDevice? {
    if account.hasZero || id.hasZero { return nil }
    return try await read { database in
      try Self.libraryDevices("devices.account = ? AND devices.id = ?", [account, id, 1], in: database).first
    }
  }

  /// - Parameter arguments: The arguments of the condition, and the maximum number of devices.
  private static func libraryDevices(
    _ condition: String, _ arguments: StatementArguments, in database: Database
  ) throws -> [Ledger.LibraryDevice] {
    let rows = try Row.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT devices.*, max(kind IN ('fileprovider', 'fileprovider_extension')) AS has_file_provider,
            max(kind IN ('background', 'alert')) AS has_background
          FROM devices JOIN device_tokens ON device_tokens.account = devices.account AND device = devices.id
          WHERE \(condition)
          GROUP BY devices.account, devices.id ORDER BY devices.account, devices.id LIMIT ?
          """),
      arguments: arguments)
    return try rows.map { row in
      let (account, id): (String, String) = (try row.value("account"), try row.value("id"))
      let containers = try String.fetchSet(
        database.cachedStatement(sql: "SELECT container FROM device_enumerators WHERE account = ? AND device = ?"),
        arguments: [account, id])
      return try Ledger.LibraryDevice(row: row, containers: containers)
    }
  }
}
