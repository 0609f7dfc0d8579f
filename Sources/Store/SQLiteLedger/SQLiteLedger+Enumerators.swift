// SPDX-License-Identifier: Apache-2.0

public import Foundation
import GRDB
public import PushMessages

extension Ledger {
  /// A container that the file-provider extension of a device shows now.
  public struct Enumerator: Sendable, Hashable {
    /// The identifier of the container.
    public let container: String
    public let registeredAt: Date
    /// Whether the call that returned this value has added the container.
    public let isNew: Bool
  }

  /// Returns the containers that the extension of a device shows now, in the order of their registration.
  ///
  /// - Returns: nil when the account has no such device.
  public func enumerators(account: String, device: String) async throws(LedgerError) -> [Enumerator]? {
    if account.hasZero || device.hasZero { return nil }
    return try await read { database in
      guard try Self.device(account, device, in: database) != nil else { return nil }
      let rows = try Row.fetchAll(
        database.cachedStatement(
          sql: """
            SELECT container, registered_at FROM device_enumerators WHERE account = ? AND device = ?
            ORDER BY registered_at, container
            """), arguments: [account, device])
      return try rows.map { row in
        Enumerator(
          container: try row.value("container"),
          registeredAt: Date(wholeMilliseconds: try row.value("registered_at")), isNew: false)
      }
    }
  }

  /// Records that the extension of a device shows a container. The record is durable when the call returns.
  ///
  /// - Parameter container: The identifier of the container, 1 to 1,024 bytes.
  /// - Returns: nil when the account has no such device.
  /// - Throws: ``LedgerError`` with `invalidValue`, `tooManyEnumerators`, `diskFull`, `busy` or a file error. Nothing
  ///   was changed then.
  public func addEnumerator(
    of container: String, account: String, device: String
  ) async throws(LedgerError) -> Enumerator? {
    if account.hasZero || device.hasZero { return nil }
    guard isText(container, 1...1024) else {
      throw LedgerError(.invalidValue, while: .registering, in: file, field: "container (1 to 1024 bytes without NUL)")
    }
    return try await write(while: .registering, cost: 512 + container.utf8.count) { [self] database in
      guard try Self.device(account, device, in: database) != nil else { return nil }
      let known = try Int64.fetchOne(
        database.cachedStatement(
          sql: "SELECT registered_at FROM device_enumerators WHERE account = ? AND device = ? AND container = ?"),
        arguments: [account, device, container])
      if let known {
        return Enumerator(container: container, registeredAt: Date(wholeMilliseconds: known), isNew: false)
      }
      let count = try Int.fetchOne(
        database.cachedStatement(sql: "SELECT count(*) FROM device_enumerators WHERE account = ? AND device = ?"),
        arguments: [account, device])
      let countOfAccount = try Int.fetchOne(
        database.cachedStatement(sql: "SELECT count(*) FROM device_enumerators WHERE account = ?"), arguments: [account]
      )
      guard count ?? 0 < options.mostEnumerators, countOfAccount ?? 0 < options.mostEnumeratorsOfAccount else {
        throw LedgerError(.tooManyEnumerators, while: .registering, in: file)
      }
      try checkSize(in: database)
      let at = timeStamp
      try database.cachedStatement(sql: "INSERT INTO device_enumerators VALUES (?, ?, ?, ?)")
        .execute(arguments: [account, device, container, at])
      return Enumerator(container: container, registeredAt: Date(wholeMilliseconds: at), isNew: true)
    }
  }

  /// Records that the extension of a device no longer shows a container.
  ///
  /// - Returns: Whether the container was recorded before.
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

  /// The changes of the libraries after a position.
  public struct LibraryNews: Sendable, Hashable {
    /// An account and an app group.
    public struct Group: Sendable, Hashable {
      public let account: String
      public let group: String

      public init(account: String, group: String) { (self.account, self.group) = (account, group) }
    }

    /// The position of the latest change of any library.
    public let position: Int64
    /// The groups whose clips have changed.
    public let clips: Set<Group>
    /// The app groups whose tones have changed, for all accounts.
    public let tones: Set<String>
    /// Whether voice packs have changed, which concerns all groups.
    public let hasPacks: Bool
  }

  /// Returns the changes of the libraries after a position; nil if there are none.
  ///
  /// - Parameter position: The position up to which changes are known; nil for the position that
  ///   ``noteLibraryPushed(upTo:)`` recorded.
  public func libraryNews(after position: Int64?) async throws(LedgerError) -> LibraryNews? {
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
      guard let latest = try rows.map({ try $0.value("latest") as Int64 }).max() else { return nil }
      let groups: [LibraryNews.Group] = try rows.compactMap { row in
        guard let account: String = try row.optional("account") else { return nil }
        return LibraryNews.Group(account: account, group: try row.value("group_id"))
      }
      let common = try rows.filter { try ($0.optional("account") as String?) == nil }
      let tones = try common.compactMap { try $0.optional("group_id") as String? }
      return LibraryNews(
        position: latest, clips: Set(groups), tones: Set(tones), hasPacks: tones.count < common.count)
    }
  }

  /// Records the position up to which pushes were made for the changes of the libraries.
  public func noteLibraryPushed(upTo position: Int64) async throws(LedgerError) {
    try await write(while: .changingLibrary) { database in
      try database.cachedStatement(sql: "UPDATE library_feed SET pushed = max(pushed, ?)").execute(arguments: [position]
      )
    }
  }

  /// A device that gets pushes about changes of the library.
  public struct LibraryDevice: Sendable, Hashable {
    public let account: String
    public let id: String
    public let app: String
    public let environment: PushEnvironment
    public let appGroup: String?
    /// Whether the device has a token for file-provider pushes.
    public let hasFileProvider: Bool
    /// Whether the device has a token for background pushes, or one for notifications, which can be used for them too.
    public let hasBackground: Bool
    /// The identifiers of the containers that the device's extension shows now.
    public let containers: Set<String>
  }

  /// Returns the devices that have a token, in the order of their accounts and ids, beginning after a device.
  ///
  /// - Parameters:
  ///   - only: The account whose devices are returned; nil for the devices of all accounts.
  ///   - limit: The maximum number of devices, 1 to 1,000.
  public func libraryDevices(
    account only: String? = nil, after last: LibraryDevice? = nil, limit: Int = 500
  ) async throws(LedgerError) -> [LibraryDevice] {
    if only?.hasZero == true { return [] }
    return try await read(isLong: true) { database in
      try Self.libraryDevices(
        "(devices.account, devices.id) > (?, ?) AND (? IS NULL OR devices.account = ?)",
        [last?.account ?? only ?? "", last?.id ?? "", only, only, min(max(limit, 1), 1000)], in: database)
    }
  }

  /// Returns one of the devices of ``libraryDevices(account:after:limit:)``; nil if it was removed or has no token.
  public func libraryDevice(account: String, id: String) async throws(LedgerError) -> LibraryDevice? {
    if account.hasZero || id.hasZero { return nil }
    return try await read { database in
      try Self.libraryDevices("devices.account = ? AND devices.id = ?", [account, id, 1], in: database).first
    }
  }

  /// - Parameter arguments: The arguments of the condition, and the maximum number of devices.
  private static func libraryDevices(
    _ condition: String, _ arguments: StatementArguments, in database: Database
  ) throws -> [LibraryDevice] {
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
      return LibraryDevice(
        account: account, id: id, app: try row.value("app"), environment: try row.name("environment"),
        appGroup: try row.optional("app_group"), hasFileProvider: try row.value("has_file_provider"),
        hasBackground: try row.value("has_background"), containers: containers)
    }
  }
}
