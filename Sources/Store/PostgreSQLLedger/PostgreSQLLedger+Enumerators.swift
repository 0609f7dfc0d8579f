// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Ledger
import PostgreSQL

extension PostgreSQLLedger {
  public func enumerators(account: String, device: String) async throws(LedgerError) -> [Ledger.Enumerator]? {
    if account.hasZero || device.hasZero { return nil }
    return try await readTogether { session in
      guard try Self.hasDevice(account, device, in: session) else { return nil }
      return try session.all(
        """
        SELECT container, registered_at FROM device_enumerators WHERE account = $1 AND device = $2
        ORDER BY registered_at, container
        """, [.string(account), .string(device)], Ledger.Enumerator.init(row:))
    }
  }

  public func addEnumerator(
    of container: String, account: String, device: String
  ) async throws(LedgerError) -> Ledger.Enumerator? {
    if account.hasZero || device.hasZero { return nil }
    try refuse(Ledger.brokenRule(ofContainer: container), while: .registering)
    return try await write(while: .registering, cost: 512 + container.utf8.count) { [self] session in
      // The limits count rows of the whole account, and the device must not be removed meanwhile.
      try session.lock(.devices, account)
      guard try Self.hasDevice(account, device, in: session) else { return nil }
      let known = try session.first(
        """
        SELECT container, registered_at FROM device_enumerators
        WHERE account = $1 AND device = $2 AND container = $3
        """, [.string(account), .string(device), .string(container)], Ledger.Enumerator.init(row:))
      if let known { return known }
      let counts = try session.first(
        """
        SELECT count(*) FILTER (WHERE device = $2) AS of_device, count(*) AS of_account
        FROM device_enumerators WHERE account = $1
        """, [.string(account), .string(device)]
      ) { row in (ofDevice: try row.value("of_device") as Int, ofAccount: try row.value("of_account") as Int) }
      guard let counts, counts.ofDevice < options.limits.mostEnumerators,
        counts.ofAccount < options.limits.mostEnumeratorsOfAccount
      else { throw error(.tooManyEnumerators, while: .registering) }
      let at = timeStamp
      try session.execute(
        "INSERT INTO device_enumerators (account, device, container, registered_at) VALUES ($1, $2, $3, $4)",
        [.string(account), .string(device), .string(container), .int64(at)])
      return Ledger.Enumerator(container: container, registeredAt: Date(wholeMilliseconds: at), isNew: true)
    }
  }

  @discardableResult
  public func removeEnumerator(
    of container: String, account: String, device: String
  ) async throws(LedgerError) -> Bool {
    if account.hasZero || device.hasZero || container.hasZero { return false }
    return try await write(while: .registering) { session in
      try session.execute(
        "DELETE FROM device_enumerators WHERE account = $1 AND device = $2 AND container = $3",
        [.string(account), .string(device), .string(container)]) > 0
    }
  }

  private static func hasDevice(
    _ account: String, _ id: String, in session: borrowing PostgreSQLSession
  ) throws -> Bool {
    try session.value(
      "SELECT EXISTS (SELECT 1 FROM devices WHERE account = $1 AND id = $2) AS value",
      [.string(account), .string(id)]) ?? false
  }

  // MARK: - What is pushed

  public func libraryNews(after position: Int64?) async throws(LedgerError) -> Ledger.LibraryNews? {
    let last = try await settledNumber(of: .libraryChanges).settled
    return try await readTogether { session in
      let stored: Int64? = try session.value("SELECT pushed AS value FROM library_feed")
      let rows = try session.rows(
        """
        SELECT max(anchor) AS latest, account, group_id FROM library_changes WHERE anchor > $1 AND anchor <= $2
        GROUP BY account, group_id
        """, [.int64(position ?? stored ?? 0), .int64(last)])
      return try Ledger.LibraryNews(rows: rows)
    }
  }

  public func noteLibraryPushed(upTo position: Int64, under seat: DeliverySeat?) async throws(LedgerError) {
    try await write(while: .changingLibrary, under: seat) { session in
      try session.execute("UPDATE library_feed SET pushed = $1 WHERE pushed < $1", [.int64(position)])
    }
  }

  public func libraryDevices(
    account only: String?, after last: Ledger.LibraryDevice?, limit: Int
  ) async throws(LedgerError) -> [Ledger.LibraryDevice] {
    if only?.hasZero == true { return [] }
    return try await readTogether(isLong: true) { session in
      try Self.libraryDevices(
        "(devices.account, devices.id) > ($2, $3) AND ($4::text IS NULL OR devices.account = $4)",
        [Self.limit(limit), .string(last?.account ?? only ?? ""), .string(last?.id ?? ""), .string(only)], in: session)
    }
  }

  public func libraryDevice(account: String, id: String) async throws(LedgerError) -> Ledger.LibraryDevice? {
    if account.hasZero || id.hasZero { return nil }
    return try await readTogether { session in
      try Self.libraryDevices(
        "devices.account = $2 AND devices.id = $3", [.int64(1), .string(account), .string(id)], in: session
      ).first
    }
  }

  /// - Parameter values: The maximum number of devices, and the values of the condition.
  private static func libraryDevices(
    _ condition: String, _ values: [PostgreSQLValue], in session: borrowing PostgreSQLSession
  ) throws -> [Ledger.LibraryDevice] {
    try session.all(
      """
      SELECT devices.account, devices.id, app, environment, app_group,
        bool_or(kind IN ('fileprovider', 'fileprovider_extension')) AS has_file_provider,
        bool_or(kind IN ('background', 'alert')) AS has_background,
        ARRAY(SELECT container FROM device_enumerators
              WHERE device_enumerators.account = devices.account AND device_enumerators.device = devices.id) AS containers
      FROM devices JOIN device_tokens ON device_tokens.account = devices.account AND device_tokens.device = devices.id
      WHERE \(condition)
      GROUP BY devices.account, devices.id ORDER BY devices.account, devices.id LIMIT $1
      """, values
    ) { row in
      try Ledger.LibraryDevice(row: row, containers: Set(try row.read("containers", as: [String].self)))
    }
  }
}
