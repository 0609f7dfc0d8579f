// SPDX-License-Identifier: Apache-2.0

public import Foundation
import GRDB
public import Ledger
import PushMessages

extension SQLiteLedger {
  @discardableResult
  public func register(
    _ new: NewDevice, key: NewKey, renewsKey: Bool, with ownKey: String?, by actor: Ledger.Administrator
  ) async throws(LedgerError) -> Ledger.Registration {
    try refuse(new.brokenRule(with: key), while: .registering)
    return try await write(while: .registering, cost: 2048) { [self] database in
      let former = try Self.device(new.account, new.id, in: database)
      if let ownKey, try former == nil || !Self.isKey(ownKey, of: new, in: database) {
        throw error(.keyNotInForce, while: .registering)
      }
      let new = ownKey == nil ? new : new.staying(where: former)
      guard try !Self.isNameTaken(new.id, group: new.deviceGroup, of: new.account, in: database) else {
        throw error(.deviceNameTaken, while: .registering)
      }
      if former == nil {
        try checkSize(in: database)
        let count = try Int.fetchOne(
          database.cachedStatement(sql: "SELECT count(*) FROM devices WHERE account = ?"), arguments: [new.account])
        guard count ?? 0 < options.limits.mostDevices else {
          throw error(.tooManyDevices, while: .registering)
        }
      }
      if let group = new.deviceGroup, group != former?.deviceGroup {
        let count = try Int.fetchOne(
          database.cachedStatement(sql: "SELECT count(*) FROM devices WHERE account = ? AND device_group = ?"),
          arguments: [new.account, group])
        guard count ?? 0 < options.limits.mostDevicesInGroup else {
          throw error(.tooManyDevices, while: .registering)
        }
      }
      let storesKey = former?.keyID == nil || renewsKey
      if storesKey {
        if former != nil { try revokeKeys(ofDevice: new.id, account: new.account, by: actor, in: database) }
        try insert(key, in: database)
        try record(.keyCreated, by: actor, subject: key.id, in: database)
      }
      try database.cachedStatement(
        sql: """
          INSERT INTO devices
            (account, id, app, environment, app_group, device_group, locale, tone, key_id, registered_at, changed_at,
             first_sequence, last_sequence, registered_after)
          VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?10, ?11, ?11,
            coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'pushes'), 0))
          ON CONFLICT (account, id) DO UPDATE SET
            app = ?3, environment = ?4, app_group = ?5, device_group = ?6, locale = ?7, tone = ?8, key_id = ?9,
            changed_at = ?10
          """
      ).execute(arguments: [
        new.account, new.id, new.app, new.environment.rawValue, new.appGroup, new.deviceGroup, new.locale, new.tone,
        storesKey ? key.id : former?.keyID, timeStamp,
        former == nil ? Self.lastSequence(new.account, new.id, in: database) : 0,
      ])
      let moved = try setTokens(of: new, keepsRefusals: new.hasSamePlace(as: former), in: database)
      guard let device = try Self.device(new.account, new.id, in: database) else { throw UnreadableRow() }
      return Ledger.Registration(device: device, isNew: former == nil, isKeyStored: storesKey, movedTokens: moved)
    }
  }

  /// Returns whether a key belongs to a device and is not revoked.
  private static func isKey(_ id: String, of device: NewDevice, in database: Database) throws -> Bool {
    try Bool.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT EXISTS (SELECT 1 FROM keys WHERE id = ? AND account = ? AND device = ? AND revoked_at IS NULL)
          """), arguments: [id, device.account, device.id]) ?? false
  }

  /// Returns whether a device and a group of devices of the account would have the same name. Pushes to the group would
  /// then reach only the device.
  private static func isNameTaken(
    _ id: String, group: String?, of account: String, in database: Database
  ) throws -> Bool {
    if group == id { return true }
    return try Bool.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT EXISTS (SELECT 1 FROM devices WHERE account = ?1 AND device_group = ?2 AND id <> ?2)
            OR EXISTS (SELECT 1 FROM devices WHERE account = ?1 AND id = ?3)
          """), arguments: [account, id, group]) ?? false
  }

  /// Returns the number of the latest announcement that was pushed to a device with an id; 0 for none.
  private static func lastSequence(_ account: String, _ id: String, in database: Database) throws -> Int64 {
    try Int64.fetchOne(
      database.cachedStatement(sql: "SELECT max(sequence) FROM pushes WHERE account = ? AND device = ?"),
      arguments: [account, id]) ?? 0
  }

  /// Revokes all keys of a device. After a rotation, a device may have two.
  private func revokeKeys(
    ofDevice id: String, account: String, by actor: Ledger.Administrator, in database: Database
  ) throws {
    let keys = try String.fetchAll(
      database.cachedStatement(
        sql: "SELECT id FROM keys WHERE account = ? AND device = ? AND revoked_at IS NULL ORDER BY rowid"),
      arguments: [account, id])
    for key in keys { try revoke(key, by: actor, in: database) }
  }

  /// Stores the tokens of a registration. Each registration renews the time of a token, even if the token was known. If
  /// APNs later reports that the token was no longer valid at an earlier time, the token stays, because the phone has
  /// registered it since.
  ///
  /// - Returns: The kinds of the tokens that another device had.
  private func setTokens(
    of new: NewDevice, keepsRefusals: Bool, in database: Database
  ) throws -> Set<PushTokenKind> {
    var moved: Set<PushTokenKind> = []
    let kinds = new.tokens.keys.map(\.rawValue)
    for kind in PushTokenKind.allCases where !kinds.contains(kind.rawValue) {
      try database.cachedStatement(sql: "DELETE FROM device_tokens WHERE account = ? AND device = ? AND kind = ?")
        .execute(arguments: [new.account, new.id, kind.rawValue])
    }
    for (kind, token) in new.tokens {
      let losers = try String.fetchAll(
        database.cachedStatement(
          sql: """
            DELETE FROM device_tokens WHERE account = ?1 AND token = ?2 AND device <> ?3
              AND (SELECT app || ' ' || environment FROM devices
                   WHERE devices.account = ?1 AND devices.id = device_tokens.device) = ?4
            RETURNING device
            """),
        arguments: [new.account, token, new.id, "\(new.app) \(new.environment.rawValue)"])
      for loser in losers {
        moved.insert(kind)
        try database.cachedStatement(sql: "UPDATE devices SET changed_at = ? WHERE account = ? AND id = ?")
          .execute(arguments: [timeStamp, new.account, loser])
      }
      try database.cachedStatement(
        sql: """
          INSERT INTO device_tokens (account, device, kind, token, registered_at) VALUES (?1, ?2, ?3, ?4, ?5)
          ON CONFLICT (account, device, kind) DO UPDATE SET token = ?4, registered_at = ?5,
            refusals = CASE WHEN token = ?4 AND ?6 THEN refusals ELSE 0 END
          """
      ).execute(arguments: [new.account, new.id, kind.rawValue, token, timeStamp, keepsRefusals])
    }
    return moved
  }

  public func device(account: String, id: String) async throws(LedgerError) -> Ledger.Device? {
    if account.hasZero || id.hasZero { return nil }
    return try await read { try Self.device(account, id, in: $0) }
  }

  public func devices(account: String, named name: String) async throws(LedgerError) -> [Ledger.Device] {
    if account.hasZero || name.hasZero { return [] }
    return try await read { database in
      if let device = try Self.device(account, name, in: database) { return [device] }
      let ids = try String.fetchAll(
        database.cachedStatement(sql: "SELECT id FROM devices WHERE account = ? AND device_group = ? ORDER BY id"),
        arguments: [account, name])
      return try ids.compactMap { try Self.device(account, $0, in: database) }
    }
  }

  public func devices(account: String, after id: String, limit: Int) async throws(LedgerError) -> [Ledger.Device] {
    if account.hasZero || id.hasZero { return [] }
    return try await read(isLong: true) { database in
      let ids = try String.fetchAll(
        database.cachedStatement(sql: "SELECT id FROM devices WHERE account = ? AND id > ? ORDER BY id LIMIT ?"),
        arguments: [account, id, Ledger.limit(limit)])
      return try ids.compactMap { try Self.device(account, $0, in: database) }
    }
  }

  @discardableResult
  public func removeDevice(
    account: String, id: String, by actor: Ledger.Administrator
  ) async throws(LedgerError) -> Bool {
    if account.hasZero || id.hasZero { return false }
    return try await write(while: .registering) { [self] database in
      guard try Self.device(account, id, in: database) != nil else { return false }
      try revokeKeys(ofDevice: id, account: account, by: actor, in: database)
      try database.execute(sql: "DELETE FROM device_tokens WHERE account = ? AND device = ?", arguments: [account, id])
      try database.execute(sql: "DELETE FROM devices WHERE account = ? AND id = ?", arguments: [account, id])
      return true
    }
  }

  public func countRefusal(
    ofToken token: String, account: String, device: String, under seat: DeliverySeat?
  ) async throws(LedgerError) {
    try check(seat, while: .registering)
    if token.hasZero || account.hasZero || device.hasZero { return }
    try await write(while: .registering) { database in
      try database.cachedStatement(
        sql: "UPDATE device_tokens SET refusals = refusals + 1 WHERE account = ? AND device = ? AND token = ?"
      ).execute(arguments: [account, device, token])
    }
  }

  @discardableResult
  public func removeToken(
    _ token: String, account: String, device: String, invalidSince moment: Date, under seat: DeliverySeat?
  ) async throws(LedgerError) -> Bool {
    try check(seat, while: .registering)
    guard let moment = moment.wholeMilliseconds, !token.hasZero, !account.hasZero, !device.hasZero else {
      return false
    }
    return try await write(while: .registering) { database in
      try database.cachedStatement(
        sql: "DELETE FROM device_tokens WHERE account = ? AND device = ? AND token = ? AND registered_at < ?"
      ).execute(arguments: [account, device, token, moment])
      return database.changesCount > 0
    }
  }

  static func device(_ account: String, _ id: String, in database: Database) throws -> Ledger.Device? {
    let statement = try database.cachedStatement(sql: "SELECT * FROM device_tokens WHERE account = ? AND device = ?")
    let tokens = try statement.all([account, id]) {
      (try $0.name("kind") as PushTokenKind, try Ledger.Device.Token(row: $0))
    }
    let outcomes = try database.cachedStatement(
      sql: "SELECT * FROM device_outcomes WHERE account = ? AND device = ?"
    ).all([account, id]) { (try $0.name("kind") as PushTokenKind, try Ledger.Device.Outcome(row: $0)) }
    let device = try database.cachedStatement(sql: "SELECT * FROM devices WHERE account = ? AND id = ?")
    return try device.first([account, id]) { row in
      try Ledger.Device(
        row: row, tokens: Dictionary(tokens) { first, _ in first },
        outcomes: Dictionary(outcomes) { first, _ in first })
    }
  }
}
