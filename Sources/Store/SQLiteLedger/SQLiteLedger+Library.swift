// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
public import Ledger

extension SQLiteLedger {
  // MARK: - Recording

  /// Records that a clip of an account is in the folder of an app group. A clip that is already recorded with the same
  /// digest keeps its position.
  func record(_ clip: LibrarySound, account: String, in database: Database) throws {
    guard let digest = Data(sha256: clip.sha256) else { return }
    let former = try Row.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT anchor, sha256, change FROM library_changes
          WHERE kind = 'clip' AND name = ? AND account = ? AND group_id = ?
          """), arguments: [clip.name, account, clip.group])
    guard let change = try Self.change(from: former, to: digest) else { return }
    try insert(
      change, .clip, clip.name, account: account, group: clip.group, digest, clip.bytes, replacing: former,
      in: database)
  }

  /// Returns the change for a file with a digest; nil if the library has this file already.
  private static func change(from former: Row?, to digest: Data) throws -> LibraryChange.Change? {
    LibraryChange.Change(from: try former.map { (try $0.name("change"), try $0.value("sha256")) }, to: digest)
  }

  private func insert(
    _ change: LibraryChange.Change, _ kind: LibraryChange.Kind, _ name: String, account: String?, group: String?,
    _ digest: Data, _ bytes: Int, replacing former: Row?, in database: Database
  ) throws {
    if let former {
      try database.cachedStatement(sql: "DELETE FROM library_changes WHERE anchor = ?")
        .execute(arguments: [try former.value("anchor") as Int64])
    }
    try database.cachedStatement(
      sql: """
        INSERT INTO library_changes (account, group_id, kind, name, sha256, bytes, change, at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        """
    ).execute(arguments: [account, group, kind.rawValue, name, digest, bytes, change.rawValue, timeStamp])
  }

  /// Records that files were removed.
  ///
  /// - Parameter rows: Rows of `library_changes`, which must not be removals.
  private func remove(_ rows: [Row], in database: Database) throws {
    for row in rows {
      try insert(
        .removed, try row.name("kind"), try row.value("name"), account: try row.optional("account"),
        group: try row.optional("group_id"), try row.value("sha256"), try row.value("bytes"), replacing: row,
        in: database)
    }
  }

  @discardableResult
  public func removeFromLibrary(clip name: String, group: String) async throws(LedgerError) -> Bool {
    if name.hasZero || group.hasZero { return false }
    return try await write(while: .changingLibrary) { [self] database in
      let rows = try Row.fetchAll(
        database.cachedStatement(
          sql: """
            SELECT * FROM library_changes
            WHERE kind = 'clip' AND name = ? AND group_id = ? AND change <> 'removed' ORDER BY anchor
            """), arguments: [name, group])
      try remove(rows, in: database)
      return !rows.isEmpty
    }
  }

  /// Records that clips no longer belong to an account, unless the account still has the clips in another announcement
  /// or a batch.
  func forget(_ clips: [String], account: String, in database: Database) throws {
    for clip in clips {
      let isKept = try Bool.fetchOne(
        database.cachedStatement(sql: Self.clipOfAccount), arguments: ["clip": clip, "account": account])
      if isKept == true { continue }
      try remove(
        try Row.fetchAll(
          database.cachedStatement(
            sql: """
              SELECT * FROM library_changes
              WHERE kind = 'clip' AND name = ? AND account = ? AND change <> 'removed' ORDER BY anchor
              """), arguments: [clip, account]), in: database)
    }
  }

  @discardableResult
  public func setLibraryPacks(_ packs: [LibraryPack], broken: Set<String>) async throws(LedgerError) -> Bool {
    try refuse(packs.lazy.compactMap(\.brokenRule).first, while: .changingLibrary)
    return try await write(while: .changingLibrary) { [self] database in
      try setFiles(of: .pack, packs.map { (nil, $0.id, $0.sha256, $0.bytes) }, in: database) { row in
        try broken.contains(row.value("name"))
      }
    }
  }

  @discardableResult
  public func setLibraryTones(_ tones: [LibrarySound], unreadable: Set<String>) async throws(LedgerError) -> Bool {
    try refuse(LibrarySound.brokenRule(of: tones), while: .changingLibrary)
    return try await write(while: .changingLibrary) { [self] database in
      try setFiles(of: .tone, tones.map { ($0.group, $0.name, $0.sha256, $0.bytes) }, in: database) { row in
        try unreadable.contains(row.value("group_id"))
      }
    }
  }

  /// Records which packs or tones exist. Records of any others are removed.
  ///
  /// - Parameter stays: Returns whether the record of a pack or tone that is not among the given ones stays unchanged.
  /// - Returns: Whether anything has changed.
  private func setFiles(
    of kind: LibraryChange.Kind, _ files: [(group: String?, name: String, sha256: String, bytes: Int)],
    in database: Database, stays: (Row) throws -> Bool
  ) throws -> Bool {
    let rows = try Row.fetchAll(
      database.cachedStatement(
        sql: "SELECT * FROM library_changes WHERE kind = '\(kind.rawValue)' ORDER BY group_id, name"))
    func place(_ row: Row) throws -> [String?] { [try row.optional("group_id"), try row.value("name") as String] }
    let known = try Dictionary(rows.map { (try place($0), $0) }) { first, _ in first }
    var isChanged = false
    for file in files {
      let former = known[[file.group, file.name]]
      guard let digest = Data(sha256: file.sha256), let change = try Self.change(from: former, to: digest) else {
        continue
      }
      try insert(
        change, kind, file.name, account: nil, group: file.group, digest, file.bytes, replacing: former, in: database)
      isChanged = true
    }
    let listed = Set(files.map { [$0.group, $0.name] })
    let gone = try rows.filter { row in
      try !listed.contains(place(row)) && !stays(row) && row.name("change") != LibraryChange.Change.removed
    }
    try remove(gone, in: database)
    return isChanged || !gone.isEmpty
  }

  /// Forgets removals that were recorded before a moment. An anchor that is older than a forgotten removal has expired.
  ///
  /// - Returns: The number of removals that were forgotten.
  func pruneLibrary(before moment: Int64) async throws(LedgerError) -> Int {
    try await repeatWhilePruning { database in
      let anchors = try Int64.fetchAll(
        database.cachedStatement(
          sql: "SELECT anchor FROM library_changes WHERE change = 'removed' AND at < ? ORDER BY at LIMIT 200"),
        arguments: [moment])
      for anchor in anchors {
        try database.cachedStatement(sql: "DELETE FROM library_changes WHERE anchor = ?").execute(arguments: [anchor])
      }
      if let last = anchors.max() {
        try database.cachedStatement(sql: "UPDATE library_feed SET expired = max(expired, ?)")
          .execute(arguments: [last])
      }
      return anchors.count
    }
  }

  // MARK: - Reading

  public func libraryChanges(
    account: String, group: String, after anchor: LibraryAnchor?, limit: Int
  ) async throws(LedgerError) -> LibraryPage? {
    if account.hasZero || group.hasZero { return nil }
    let limit = Ledger.limit(limit)
    return try await read(isLong: true) { database in
      guard let feed = try Row.fetchOne(database.cachedStatement(sql: "SELECT id, expired FROM library_feed")) else {
        throw UnreadableRow()
      }
      let id = LibraryAnchor.digest(of: try feed.value("id"), account: account, group: group)
      let last = try Self.lastLibraryPosition(in: database)
      let from = anchor ?? LibraryAnchor(position: 0, since: last, feed: id)
      let expired: Int64 = try feed.value("expired")
      let latest = max(from.position, from.since)
      guard from.feed == id, latest <= last, latest >= expired else { return nil }
      let arguments: StatementArguments = [from.position, from.since, limit + 1]
      // Each of the three lists is a separate query, which uses the index of the groups. With one query for all of
      // them, SQLite would sort all rows.
      let clips = try database.cachedStatement(
        sql: """
          SELECT * FROM library_changes WHERE account = ? AND group_id = ? AND anchor > ?
            AND (change <> 'removed' OR anchor > ?) ORDER BY anchor LIMIT ?
          """
      ).all([account, group] + arguments, LibraryChange.init(row:))
      let packs = try database.cachedStatement(
        sql: """
          SELECT * FROM library_changes WHERE account IS NULL AND group_id IS NULL AND anchor > ?
            AND (change <> 'removed' OR anchor > ?) ORDER BY anchor LIMIT ?
          """
      ).all(arguments, LibraryChange.init(row:))
      let tones = try database.cachedStatement(
        sql: """
          SELECT * FROM library_changes WHERE account IS NULL AND group_id = ? AND anchor > ?
            AND (change <> 'removed' OR anchor > ?) ORDER BY anchor LIMIT ?
          """
      ).all([group] + arguments, LibraryChange.init(row:))
      return LibraryPage(clips + packs + tones, limit: limit, from: from, last: last)
    }
  }

  private static func lastLibraryPosition(in database: Database) throws -> Int64 {
    try Int64.fetchOne(
      database.cachedStatement(sql: "SELECT seq FROM sqlite_sequence WHERE name = 'library_changes'")) ?? 0
  }

  public func libraryClip(sha256: String, account: String, group: String) async throws(LedgerError) -> String? {
    guard let digest = Data(sha256: sha256), !account.hasZero, !group.hasZero else { return nil }
    return try await read { database in
      try String.fetchOne(
        database.cachedStatement(
          sql: """
            SELECT name FROM library_changes
            WHERE kind = 'clip' AND sha256 = ? AND account = ? AND group_id = ? AND change <> 'removed' LIMIT 1
            """), arguments: [digest, account, group])
    }
  }

  public func libraryTone(sha256: String, group: String) async throws(LedgerError) -> String? {
    guard let digest = Data(sha256: sha256), !group.hasZero else { return nil }
    return try await read { database in
      try String.fetchOne(
        database.cachedStatement(
          sql: """
            SELECT name FROM library_changes
            WHERE account IS NULL AND group_id = ? AND sha256 = ? AND change <> 'removed' LIMIT 1
            """), arguments: [group, digest])
    }
  }

  public func libraryClips(after position: Int64, limit: Int) async throws(LedgerError) -> [(
    position: Int64, clip: PublishedClip
  )] {
    try await read(isLong: true) { database in
      try database.cachedStatement(
        sql: """
          SELECT anchor, name, group_id FROM library_changes
          WHERE anchor > ? AND kind = 'clip' AND change <> 'removed' ORDER BY anchor LIMIT ?
          """
      ).all([position, Ledger.limit(limit, most: 10_000)]) { row in
        (try row.value("anchor"), PublishedClip(name: try row.value("name"), group: try row.optional("group_id")))
      }
    }
  }
}
