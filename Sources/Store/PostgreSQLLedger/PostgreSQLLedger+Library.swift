// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Ledger
import PostgreSQL
import TextFormats

extension PostgreSQLLedger {
  // MARK: - Recording

  /// Records that clips of accounts are in the folders of app groups, in the given order. A clip that is already recorded
  /// with the same digest keeps its position. Of a clip that is given twice, the first one counts.
  func record(_ clips: [(clip: LibrarySound, account: String)], in session: borrowing PostgreSQLSession) throws {
    let clips = clips.compactMap { (clip, account) in
      Data(sha256: clip.sha256).map { (clip: clip, account: account, digest: $0) }
    }
    if clips.isEmpty { return }
    // Most clips are known. Their rows are only kept from being removed, so that announcements with the same clip do not
    // wait for each other. All rows are locked and inserted in one order.
    var known: Set<[Data]> = []
    for row in try session.rows(
      """
      SELECT library_changes.account, library_changes.name, library_changes.group_id
      FROM unnest($1::text[], $2::text[], $3::text[], $4::bytea[]) AS given (account, group_id, name, sha256)
      JOIN library_changes ON library_changes.account = given.account AND library_changes.name = given.name
        AND library_changes.group_id = given.group_id AND library_changes.sha256 = given.sha256
      WHERE kind = 'clip' AND change <> 'removed'
      ORDER BY library_changes.account, library_changes.name, library_changes.group_id FOR KEY SHARE OF library_changes
      """,
      [
        .strings(clips.map(\.account)), .strings(clips.map(\.clip.group)), .strings(clips.map(\.clip.name)),
        .byteStrings(clips.map(\.digest)),
      ])
    {
      let place: [String] = [try row.read("account"), try row.read("name"), try row.read("group_id")]
      known.insert(place.map(\.bytes))
    }
    let new = clips.filter { !known.contains([$0.account.bytes, $0.clip.name.bytes, $0.clip.group.bytes]) }
    if new.isEmpty { return }
    // If two nodes record a new clip at once, the second one waits, and then finds the row of the first one. The anchors
    // are in the given order, also where a row that was removed gets the new anchor.
    try session.execute(
      """
      WITH new AS MATERIALIZED (
        SELECT CASE WHEN pg_current_xact_id() IS NOT NULL THEN nextval('library_anchors') END AS anchor, given.*
        FROM (
          SELECT account, group_id, name, sha256, bytes FROM (
            SELECT DISTINCT ON (account, name, group_id) account, group_id, name, sha256, bytes, place
            FROM unnest($2::text[], $3::text[], $4::text[], $5::bytea[], $6::bigint[]) WITH ORDINALITY
              AS given (account, group_id, name, sha256, bytes, place)
            ORDER BY account, name, group_id, place) AS first
          ORDER BY place) AS given)
      INSERT INTO library_changes (anchor, account, group_id, kind, name, sha256, bytes, change, at)
      SELECT anchor, account, group_id, 'clip', name, sha256, bytes, 'added', $1 FROM new
      ORDER BY account COLLATE "C", name COLLATE "C", group_id COLLATE "C"
      ON CONFLICT (name, account, group_id) WHERE kind = 'clip' \(Self.replacing)
      """,
      [
        .int64(timeStamp), .strings(new.map(\.account)), .strings(new.map(\.clip.group)),
        .strings(new.map(\.clip.name)), .byteStrings(new.map(\.digest)), .int64s(new.map { Int64($0.clip.bytes) }),
      ])
  }

  /// Replaces the row of a file that was removed, or that had another digest, by a new row.
  private static let replacing = """
    DO UPDATE SET anchor = excluded.anchor, sha256 = excluded.sha256, bytes = excluded.bytes, at = excluded.at,
      change = CASE library_changes.change WHEN 'removed' THEN 'added' ELSE 'changed' END
    WHERE library_changes.change = 'removed' OR library_changes.sha256 <> excluded.sha256
    """

  /// Records that files were removed.
  ///
  /// - Parameter condition: The condition of the files. The condition must not name anchors, because anchors change.
  /// - Returns: The number of files.
  private func remove(
    _ condition: String, _ values: [PostgreSQLValue], in session: borrowing PostgreSQLSession
  ) throws -> Int {
    // The second statement sees the rows as they are when they are locked.
    guard try Self.lockFiles(condition, values, in: session) > 0 else { return 0 }
    return try session.execute(
      """
      UPDATE library_changes SET anchor = DEFAULT, change = 'removed', at = $\(values.count + 1)
      WHERE change <> 'removed' AND (\(condition))
      """, values + [.int64(timeStamp)])
  }

  /// Locks files that are in the library. All transactions lock them in the same order.
  private static func lockFiles(
    _ condition: String, _ values: [PostgreSQLValue], in session: borrowing PostgreSQLSession
  ) throws -> Int {
    try session.execute(
      """
      SELECT 1 FROM library_changes WHERE change <> 'removed' AND (\(condition))
      ORDER BY account, name, group_id FOR UPDATE
      """, values)
  }

  @discardableResult
  public func removeFromLibrary(clip name: String, group: String) async throws(LedgerError) -> Bool {
    if name.hasZero || group.hasZero { return false }
    return try await write(while: .changingLibrary) { [self] session in
      try remove("kind = 'clip' AND name = $1 AND group_id = $2", [.string(name), .string(group)], in: session) > 0
    }
  }

  /// Records that clips no longer belong to an account, unless the account still has the clips in another announcement
  /// or a batch.
  func forget(_ clips: [String], account: String, in session: borrowing PostgreSQLSession) throws {
    let clips = clips.filter { !$0.hasZero }
    let condition = "kind = 'clip' AND name = ANY($1) AND account = $2"
    // Another node may be accepting an announcement with the same clip. If that node has recorded the clip, this
    // transaction waits for that node, and the look-up sees the announcement. If not, that node waits for this
    // transaction, and then adds the clip again. The locks therefore come before the look-up.
    guard try Self.lockFiles(condition, [.strings(clips), .string(account)], in: session) > 0 else { return }
    let gone = try session.all(
      """
      SELECT clip AS name FROM unnest($1::text[]) AS gone (clip)
      WHERE NOT (\(Self.lookUps(["="], clip: "gone.clip", account: "$2")))
      """, [.strings(clips), .string(account)]
    ) { row in try row.read("name", as: String.self) }
    _ = try remove(condition, [.strings(gone), .string(account)], in: session)
  }

  @discardableResult
  public func setLibraryPacks(_ packs: [LibraryPack], broken: Set<String>) async throws(LedgerError) -> Bool {
    try refuse(packs.lazy.compactMap(\.brokenRule).first, while: .changingLibrary)
    return try await write(while: .changingLibrary) { [self] session in
      try setFiles(
        of: .pack, packs.map { LibraryFile(group: nil, name: $0.id, sha256: $0.sha256, bytes: $0.bytes) },
        conflict: "(name) WHERE kind = 'pack'", in: session
      ) { broken.contains($0.name) }
    }
  }

  @discardableResult
  public func setLibraryTones(
    _ tones: [LibrarySound], unreadable: Set<String>
  ) async throws(LedgerError) -> Bool {
    try refuse(LibrarySound.brokenRule(of: tones), while: .changingLibrary)
    return try await write(while: .changingLibrary) { [self] session in
      try setFiles(
        of: .tone, tones.map { LibraryFile(group: $0.group, name: $0.name, sha256: $0.sha256, bytes: $0.bytes) },
        conflict: "(name, group_id) WHERE kind = 'tone'", in: session
      ) { file in file.group.map(unreadable.contains) ?? false }
    }
  }

  /// A pack or a tone.
  private struct LibraryFile {
    var group: String?
    var name: String
    var sha256: String
    var bytes: Int

    var place: [Data] { [group?.bytes ?? Data(), name.bytes] }
  }

  /// Records which packs or tones exist. Records of any others are removed.
  ///
  /// - Parameters:
  ///   - conflict: The unique index of the kind's rows.
  ///   - stays: Returns whether the record of a pack or tone that is not among the given ones stays unchanged.
  /// - Returns: Whether anything has changed.
  private func setFiles(
    of kind: LibraryChange.Kind, _ files: [LibraryFile], conflict: String, in session: borrowing PostgreSQLSession,
    stays: (LibraryFile) -> Bool
  ) throws -> Bool {
    // Two nodes that record their folders at once do so one after the other, so that the result is one of the two lists.
    // Nothing else changes these rows.
    try session.lock(.libraryFiles, kind.rawValue)
    var known: [(file: LibraryFile, isRemoved: Bool)] = []
    for row in try session.rows(
      """
      SELECT group_id, name, sha256, bytes, change FROM library_changes WHERE kind = '\(kind.rawValue)'
      ORDER BY group_id, name
      """)
    {
      let file = LibraryFile(
        group: try row.read("group_id"), name: try row.read("name"),
        sha256: try row.read("sha256", as: Data.self).hexadecimal, bytes: try row.value("bytes"))
      known.append((file, try row.name("change") == LibraryChange.Change.removed))
    }
    let present = Set(known.filter { !$0.isRemoved }.map { $0.file.place + [$0.file.sha256.bytes] })
    var isChanged = false
    for file in files where !present.contains(file.place + [file.sha256.bytes]) {
      guard let digest = Data(sha256: file.sha256) else { continue }
      try session.execute(
        """
        INSERT INTO library_changes (group_id, kind, name, sha256, bytes, change, at)
        VALUES ($1, $2, $3, $4, $5, 'added', $6) ON CONFLICT \(conflict) \(Self.replacing)
        """,
        [
          .string(file.group), .string(kind.rawValue), .string(file.name), .bytes(digest), .int64(Int64(file.bytes)),
          .int64(timeStamp),
        ])
      isChanged = true
    }
    let listed = Set(files.map(\.place))
    for (file, isRemoved) in known where !isRemoved && !listed.contains(file.place) && !stays(file) {
      _ = try remove(
        "kind = $1 AND name = $2 AND group_id IS NOT DISTINCT FROM $3",
        [.string(kind.rawValue), .string(file.name), .string(file.group)], in: session)
      isChanged = true
    }
    return isChanged
  }

  /// Forgets removals that were recorded before a moment. An anchor that is older than a forgotten removal has expired.
  ///
  /// - Returns: The number of removals that were forgotten.
  func pruneLibrary(before moment: Int64) async throws(LedgerError) -> Int {
    // A reader assumes that the anchor of a forgotten removal is settled, so only settled removals are forgotten.
    let last = try await settledNumber(of: .libraryChanges).settled
    return try await repeatWhilePruning { session in
      let anchors = try session.all(
        """
        DELETE FROM library_changes WHERE anchor = ANY(ARRAY(
          SELECT anchor FROM library_changes WHERE change = 'removed' AND at < $1 AND anchor <= $2
          ORDER BY at LIMIT 200 FOR UPDATE SKIP LOCKED))
        RETURNING anchor
        """, [.int64(moment), .int64(last)]
      ) { row in try row.read("anchor", as: Int64.self) }
      if let last = anchors.max() {
        try session.execute("UPDATE library_feed SET expired = $1 WHERE expired < $1", [.int64(last)])
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
    let (settled, taken) = try await settledNumber(of: .libraryChanges, isLong: true)
    return try await readTogether(isLong: true) { session in
      let feed = try session.first("SELECT id, expired FROM library_feed") { row in
        (id: try row.read("id", as: String.self), expired: try row.read("expired", as: Int64.self))
      }
      guard let feed else { throw UnreadableRow() }
      let id = LibraryAnchor.digest(of: feed.id, account: account, group: group)
      // A number is also settled if another node has found it settled and has put it into an anchor.
      let last = max(settled, feed.expired, anchor?.feed == id ? min(anchor?.position ?? 0, taken) : 0)
      let from = anchor ?? LibraryAnchor(position: 0, since: last, feed: id)
      let latest = max(from.position, from.since)
      guard from.feed == id, latest <= max(last, taken), latest >= feed.expired else { return nil }
      // Each of the three lists uses the index of the groups.
      let columns = "SELECT anchor, kind, name, sha256, bytes, change, at FROM library_changes"
      let condition = """
        anchor > $1 AND anchor <= $2 AND (change <> 'removed' OR anchor > $3) ORDER BY anchor LIMIT $4
        """
      let values: [PostgreSQLValue] = [
        .int64(from.position), .int64(last), .int64(from.since), .int64(Int64(limit + 1)),
      ]
      let results = try session.pipeline { pipeline in
        pipeline.add(
          "\(columns) WHERE account = $5 AND group_id = $6 AND \(condition)",
          values + [.string(account), .string(group)])
        pipeline.add("\(columns) WHERE account IS NULL AND group_id IS NULL AND \(condition)", values)
        pipeline.add("\(columns) WHERE account IS NULL AND group_id = $5 AND \(condition)", values + [.string(group)])
      }
      let found = try results.flatMap { try $0.map(LibraryChange.init(row:)) }
      return LibraryPage(found, limit: limit, from: from, last: last)
    }
  }

  public func libraryClip(
    sha256: String, account: String, group: String
  ) async throws(LedgerError) -> String? {
    guard let digest = Data(sha256: sha256), !account.hasZero, !group.hasZero else { return nil }
    return try await read { session in
      try session.value(
        """
        SELECT name AS value FROM library_changes
        WHERE kind = 'clip' AND sha256 = $1 AND account = $2 AND group_id = $3 AND change <> 'removed' LIMIT 1
        """, [.bytes(digest), .string(account), .string(group)])
    }
  }

  public func libraryTone(sha256: String, group: String) async throws(LedgerError) -> String? {
    guard let digest = Data(sha256: sha256), !group.hasZero else { return nil }
    return try await read { session in
      try session.value(
        """
        SELECT name AS value FROM library_changes
        WHERE account IS NULL AND group_id = $1 AND sha256 = $2 AND change <> 'removed' LIMIT 1
        """, [.string(group), .bytes(digest)])
    }
  }

  public func libraryClips(
    after position: Int64, limit: Int
  ) async throws(LedgerError) -> [(position: Int64, clip: PublishedClip)] {
    let last = try await settledNumber(of: .libraryChanges, isLong: true).settled
    return try await read(isLong: true) { session in
      try session.all(
        """
        SELECT anchor, name, group_id FROM library_changes
        WHERE anchor > $1 AND anchor <= $2 AND kind = 'clip' AND change <> 'removed' ORDER BY anchor LIMIT $3
        """, [.int64(position), .int64(last), Self.limit(limit, most: 10_000)]
      ) { row in
        (try row.read("anchor"), PublishedClip(name: try row.read("name"), group: try row.read("group_id")))
      }
    }
  }
}
