// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Ledger
import PostgreSQL
import PushMessages

// Registering and removing a device lock the devices of the account, then the keys, and then rows of devices in the order
// of their ids. Accepting and ending a push lock only rows of devices. Nobody waits in a circle then.
extension PostgreSQLLedger {
  @discardableResult
  public func register(
    _ new: NewDevice, key: NewKey, renewsKey: Bool, with ownKey: String?, by actor: Ledger.Administrator
  ) async throws(LedgerError) -> Ledger.Registration {
    try refuse(new.brokenRule(with: key), while: .registering)
    return try await write(while: .registering, cost: 2048) { [self] session in
      // The limits and the names cannot be checked by constraints. Until the commit, no other node changes which devices
      // and tokens the account has.
      try session.lock(.devices, new.account)
      let former = try Self.device(new.account, new.id, in: session)
      if let ownKey, try former == nil || !Self.isKey(ownKey, of: new, in: session) {
        throw error(.keyNotInForce, while: .registering)
      }
      let new = ownKey == nil ? new : new.staying(where: former)
      let group = new.deviceGroup
      guard try !Self.isNameTaken(new.id, group: group, of: new.account, in: session) else {
        throw error(.deviceNameTaken, while: .registering)
      }
      try checkCounts(of: new, group: group == former?.deviceGroup ? nil : group, isNew: former == nil, in: session)
      // A device that has a key never loses it, so a rotation at this moment does not matter here.
      let storesKey = former?.keyID == nil || renewsKey
      if storesKey {
        try lockKeys(in: session)
        if former != nil { try revokeKeys(ofDevice: new.id, account: new.account, by: actor, in: session) }
        try insert(key, in: session)
        try record(.keyCreated, by: actor, subject: key.id, in: session)
      }
      try lockDevices(thatHaveTokensOf: new, in: session)
      try store(new, keyID: storesKey ? key.id : nil, in: session)
      let moved = try setTokens(of: new, keepsRefusals: new.hasSamePlace(as: former), in: session)
      guard let device = try Self.device(new.account, new.id, in: session) else { throw UnreadableRow() }
      return Ledger.Registration(
        device: device, isNew: former == nil, isKeyStored: storesKey, movedTokens: moved)
    }
  }

  /// Returns whether a key belongs to a device and is not revoked.
  private static func isKey(
    _ id: String, of device: NewDevice, in session: borrowing PostgreSQLSession
  ) throws -> Bool {
    try session.value(
      """
      SELECT EXISTS (
        SELECT 1 FROM keys WHERE id = $1 AND account = $2 AND device = $3 AND revoked_at IS NULL) AS value
      """, [.string(id), .string(device.account), .string(device.id)]) ?? false
  }

  /// Returns whether a device and a group of devices of the account would have the same name. Pushes to the group would
  /// then reach only the device.
  private static func isNameTaken(
    _ id: String, group: String?, of account: String, in session: borrowing PostgreSQLSession
  ) throws -> Bool {
    if group == id { return true }
    return try session.value(
      """
      SELECT EXISTS (SELECT 1 FROM devices WHERE account = $1 AND device_group = $2 AND id <> $2)
        OR EXISTS (SELECT 1 FROM devices WHERE account = $1 AND id = $3) AS value
      """, [.string(account), .string(id), .string(group)]) ?? false
  }

  /// Checks the number of devices of the account and of the group.
  ///
  /// - Parameter group: A group that the device joins; nil if it joins none.
  private func checkCounts(
    of new: NewDevice, group: String?, isNew: Bool, in session: borrowing PostgreSQLSession
  ) throws {
    if isNew {
      let count: Int64? = try session.value(
        "SELECT count(*) AS value FROM devices WHERE account = $1", [.string(new.account)])
      guard count ?? 0 < Int64(options.limits.mostDevices) else { throw error(.tooManyDevices, while: .registering) }
    }
    if let group {
      let count: Int64? = try session.value(
        "SELECT count(*) AS value FROM devices WHERE account = $1 AND device_group = $2",
        [.string(new.account), .string(group)])
      guard count ?? 0 < Int64(options.limits.mostDevicesInGroup) else {
        throw error(.tooManyDevices, while: .registering)
      }
    }
  }

  /// Revokes all keys of a device. After a rotation, a device may have two. The caller has locked the keys.
  private func revokeKeys(
    ofDevice id: String, account: String, by actor: Ledger.Administrator, in session: borrowing PostgreSQLSession
  ) throws {
    // Recording the uses of keys locks their rows in the order of the ids, and without the lock of all keys.
    try session.execute(
      "SELECT id FROM keys WHERE account = $1 AND device = $2 AND revoked_at IS NULL ORDER BY id FOR NO KEY UPDATE",
      [.string(account), .string(id)])
    let keys = try session.all(
      "SELECT id FROM keys WHERE account = $1 AND device = $2 AND revoked_at IS NULL ORDER BY number",
      [.string(account), .string(id)]
    ) { row in try row.read("id", as: String.self) }
    for key in keys { try revoke(key, by: actor, in: session) }
  }

  /// Locks the device, and the devices from which its tokens are to be taken, in the order in which pushes lock
  /// devices.
  private func lockDevices(thatHaveTokensOf new: NewDevice, in session: borrowing PostgreSQLSession) throws {
    try session.execute(
      """
      SELECT id FROM devices WHERE account = $1 AND (id = $2 OR id = ANY(ARRAY(
        SELECT device FROM device_tokens WHERE account = $1 AND token = ANY($3))))
      ORDER BY id FOR NO KEY UPDATE
      """, [.string(new.account), .string(new.id), .strings(Array(new.tokens.values))])
  }

  /// - Parameter keyID: The id of the device's key; nil for the key that it has.
  private func store(_ new: NewDevice, keyID: String?, in session: borrowing PostgreSQLSession) throws {
    // The device is not visible before the commit, so all pushes to it get higher numbers than the one that is read here.
    // Pushes to a removed device with the same id have lower ones, because its removal waited for them.
    try session.execute(
      """
      INSERT INTO devices
        (account, id, app, environment, app_group, device_group, locale, tone, key_id, registered_at, changed_at,
         first_sequence, last_sequence, registered_after)
      SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, former.sequence, former.sequence,
        (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM push_numbers)
      FROM (SELECT coalesce(max(sequence), 0) AS sequence FROM pushes WHERE account = $1 AND device = $2) AS former
      ON CONFLICT (account, id) DO UPDATE SET
        app = $3, environment = $4, app_group = $5, device_group = $6, locale = $7, tone = $8,
        key_id = coalesce($9, devices.key_id), changed_at = $10
      """,
      [
        .string(new.account), .string(new.id), .string(new.app), .string(new.environment.rawValue),
        .string(new.appGroup), .string(new.deviceGroup), .string(new.locale), .string(new.tone), .string(keyID),
        .int64(timeStamp),
      ])
  }

  /// Stores the tokens of a registration. Each registration renews the time of a token, even if the token was known. If
  /// APNs later reports that the token was no longer valid at an earlier time, the token stays, because the phone has
  /// registered it since.
  ///
  /// - Returns: The kinds of the tokens that another device had.
  private func setTokens(
    of new: NewDevice, keepsRefusals: Bool, in session: borrowing PostgreSQLSession
  ) throws -> Set<PushTokenKind> {
    let tokens = new.tokens.sorted { $0.key.rawValue < $1.key.rawValue }
    try session.execute(
      "DELETE FROM device_tokens WHERE account = $1 AND device = $2 AND kind <> ALL($3)",
      [.string(new.account), .string(new.id), .strings(tokens.map(\.key.rawValue))])
    var moved: Set<PushTokenKind> = []
    for (kind, token) in tokens {
      let losers = try session.all(
        """
        DELETE FROM device_tokens USING devices
        WHERE device_tokens.account = $1 AND token = $2 AND device <> $3
          AND devices.account = $1 AND devices.id = device AND app = $4 AND environment = $5
        RETURNING device
        """,
        [
          .string(new.account), .string(token), .string(new.id), .string(new.app), .string(new.environment.rawValue),
        ]
      ) { row in try row.read("device", as: String.self) }
      if !losers.isEmpty {
        moved.insert(kind)
        try session.execute(
          "UPDATE devices SET changed_at = $1 WHERE account = $2 AND id = ANY($3)",
          [.int64(timeStamp), .string(new.account), .strings(losers)])
      }
      try session.execute(
        """
        INSERT INTO device_tokens (account, device, kind, token, registered_at) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (account, device, kind) DO UPDATE SET token = $4, registered_at = $5,
          refusals = CASE WHEN device_tokens.token = $4 AND $6 THEN device_tokens.refusals ELSE 0 END
        """,
        [
          .string(new.account), .string(new.id), .string(kind.rawValue), .string(token), .int64(timeStamp),
          .bool(keepsRefusals),
        ])
    }
    return moved
  }

  public func device(account: String, id: String) async throws(LedgerError) -> Ledger.Device? {
    if account.hasZero || id.hasZero { return nil }
    return try await readTogether { try Self.device(account, id, in: $0) }
  }

  public func devices(account: String, named name: String) async throws(LedgerError) -> [Ledger.Device] {
    if account.hasZero || name.hasZero { return [] }
    return try await readTogether { session in
      if let device = try Self.device(account, name, in: session) { return [device] }
      let ids = try session.all(
        "SELECT id FROM devices WHERE account = $1 AND device_group = $2 ORDER BY id",
        [.string(account), .string(name)]
      ) { row in try row.read("id", as: String.self) }
      return try Self.devices(ids.map { (account, $0) }, in: session)
    }
  }

  public func devices(
    account: String, after id: String, limit: Int
  ) async throws(LedgerError) -> [Ledger.Device] {
    if account.hasZero || id.hasZero { return [] }
    return try await readTogether(isLong: true) { session in
      let ids = try session.all(
        "SELECT id FROM devices WHERE account = $1 AND id > $2 ORDER BY id LIMIT $3",
        [.string(account), .string(id), Self.limit(limit)]
      ) { row in try row.read("id", as: String.self) }
      return try Self.devices(ids.map { (account, $0) }, in: session)
    }
  }

  @discardableResult
  public func removeDevice(
    account: String, id: String, by actor: Ledger.Administrator
  ) async throws(LedgerError) -> Bool {
    if account.hasZero || id.hasZero { return false }
    return try await write(while: .registering) { [self] session in
      // A registration with the device's own key comes before this, or finds the key revoked.
      try session.lock(.devices, account)
      guard try Self.device(account, id, in: session) != nil else { return false }
      try lockKeys(in: session)
      try revokeKeys(ofDevice: id, account: account, by: actor, in: session)
      // Pushes that are being accepted for the device have locked its row, so this statement waits for them. The
      // tokens, outcomes and enumerators of the device are removed with the row.
      try session.execute("DELETE FROM devices WHERE account = $1 AND id = $2", [.string(account), .string(id)])
      return true
    }
  }

  public func countRefusal(
    ofToken token: String, account: String, device: String, under seat: DeliverySeat?
  ) async throws(LedgerError) {
    if token.hasZero || account.hasZero || device.hasZero { return }
    try await write(while: .registering, under: seat) { session in
      try session.execute(
        "UPDATE device_tokens SET refusals = refusals + 1 WHERE account = $1 AND device = $2 AND token = $3",
        [.string(account), .string(device), .string(token)])
    }
  }

  @discardableResult
  public func removeToken(
    _ token: String, account: String, device: String, invalidSince moment: Date, under seat: DeliverySeat?
  ) async throws(LedgerError) -> Bool {
    guard let moment = moment.wholeMilliseconds, !token.hasZero, !account.hasZero, !device.hasZero else {
      return false
    }
    return try await write(while: .registering, under: seat) { session in
      // If the token is being registered again, this waits, and then finds the new time.
      try session.execute(
        "DELETE FROM device_tokens WHERE account = $1 AND device = $2 AND token = $3 AND registered_at < $4",
        [.string(account), .string(device), .string(token), .int64(moment)]) > 0
    }
  }
}

// MARK: - Reading

extension PostgreSQLLedger {
  static func device(
    _ account: String, _ id: String, in session: borrowing PostgreSQLSession
  ) throws -> Ledger.Device? {
    try devices([(account, id)], in: session).first
  }

  /// Returns devices with their tokens and outcomes, in the given order. Those that do not exist are left out.
  static func devices(
    _ names: [(account: String, id: String)], in session: borrowing PostgreSQLSession
  ) throws -> [Ledger.Device] {
    if names.isEmpty { return [] }
    let values: [PostgreSQLValue] = [.strings(names.map(\.account)), .strings(names.map(\.id))]
    let results = try session.pipeline { pipeline in
      pipeline.add(
        """
        SELECT place, account, id, app, environment, app_group, device_group, locale, tone, key_id, first_sequence,
          last_sequence, registered_after, registered_at, changed_at
        FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS wanted (account, id, place)
        JOIN devices USING (account, id) ORDER BY place
        """, values)
      pipeline.add(
        """
        SELECT place, kind, token, registered_at, refusals
        FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS wanted (account, device, place)
        JOIN device_tokens USING (account, device)
        """, values)
      pipeline.add(
        """
        SELECT place, kind, state, reason, at
        FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS wanted (account, device, place)
        JOIN device_outcomes USING (account, device)
        """, values)
    }
    var tokens: [Int64: [PushTokenKind: Ledger.Device.Token]] = [:]
    for row in results[1] {
      tokens[try row.read("place"), default: [:]][try row.name("kind")] = try Ledger.Device.Token(row: row)
    }
    var outcomes: [Int64: [PushTokenKind: Ledger.Device.Outcome]] = [:]
    for row in results[2] {
      outcomes[try row.read("place"), default: [:]][try row.name("kind")] = try Ledger.Device.Outcome(row: row)
    }
    return try results[0].map { row in
      let place: Int64 = try row.read("place")
      return try Ledger.Device(row: row, tokens: tokens[place] ?? [:], outcomes: outcomes[place] ?? [:])
    }
  }
}
