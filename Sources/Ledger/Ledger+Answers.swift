// SPDX-License-Identifier: Apache-2.0

public import Foundation
import GRDB

extension Ledger {
  /// An answer holds for so many seconds: 24 hours. After that the same key is a new request's.
  public static let answerLifetime: TimeInterval = 86_400

  /// What is known of a request at one moment: the answer that holds for its key, and without one its announcement.
  ///
  /// - Returns: `answer` is nil when there is none, or none any more; `announcement` is nil when there is an answer, and
  ///   when nothing is known of the id.
  public func known(
    account: String, key: String, id: String
  ) async throws(LedgerError) -> (answer: Answer?, announcement: Announcement?) {
    if account.hasZero || key.hasZero || id.hasZero { return (nil, nil) }
    let oldest = oldestAnswer
    return try await read { database in
      if let answer = try Self.answer(account, key, since: oldest, in: database) { return (answer, nil) }
      return (nil, try Self.announcement(account, id, in: database))
    }
  }

  /// Stores an answer and accepts its announcement for a player, both or neither: durable when it returns.
  ///
  /// - When an answer of the account and key holds, nothing is written: it comes back, with the state of its own
  ///   announcement.
  /// - When the announcement is in the ledger without an answer that holds, it is the same announcement, and is not played
  ///   again: the answer alone is written.
  ///
  /// - Parameter announcement: with the answer's account and id; nil when nothing is to be played.
  /// - Throws: ``LedgerError`` with `invalidValue`, `waitingListFull`, `diskFull`, `busy` or a fault of the file; nothing
  ///   was written then.
  public func accept(
    answer new: NewAnswer, playing announcement: NewAnnouncement? = nil
  ) async throws(LedgerError) -> AnswerAcceptance {
    if let rule = new.brokenRule ?? announcement?.brokenRule {
      throw LedgerError(.invalidValue, while: .answering, in: file, field: rule)
    }
    if let announcement, announcement.account != new.account || announcement.id != new.id {
      throw LedgerError(.invalidValue, while: .answering, in: file, field: "announcement (the answer's account and id)")
    }
    let cost = 512 + new.report.count + (announcement?.payload.count ?? 0)
    return try await write(while: .answering, cost: cost) { [self] database in
      if let first = try Self.answer(new.account, new.key, since: oldestAnswer, in: database) {
        return AnswerAcceptance(
          answer: first, isDuplicate: true, isSameBody: first.bodyDigest == new.bodyDigest,
          acceptance: try Self.known(first, payload: announcement?.payload, in: database))
      }
      try checkRoom(in: database)
      let at = timeStamp
      // One that is too old to hold makes room for it.
      try database.cachedStatement(
        sql: """
          INSERT OR REPLACE INTO answers
            (account, key, body_digest, id, status, report, clip, clip_group, created_at)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
          """
      ).execute(arguments: [
        new.account, new.key, new.bodyDigest, new.id, new.status, new.report, new.clip?.name, new.clip?.group, at,
      ])
      let answer = Answer(
        account: new.account, key: new.key, bodyDigest: new.bodyDigest, id: new.id, status: new.status,
        report: new.report, clip: new.clip, createdAt: Date(wholeMilliseconds: at))
      return AnswerAcceptance(
        answer: answer, isDuplicate: false, isSameBody: true,
        acceptance: try announcement.map { try accept($0, in: database) })
    }
  }

  /// The announcement of an id, with what is known of it; nil when nothing is.
  public func announcement(account: String, id: String) async throws(LedgerError) -> Announcement? {
    if account.hasZero || id.hasZero { return nil }
    return try await read { try Self.announcement(account, id, in: $0) }
  }

  /// An account's last announcements, newest first: those that were answered, and those that were accepted for a player.
  ///
  /// - Parameter limit: 1 to 1,000. There may be fewer though there are older ones, when the same id was answered often.
  public func announcements(account: String, limit: Int = 50) async throws(LedgerError) -> [Announcement] {
    if account.hasZero { return [] }
    let limit = min(max(limit, 1), 1000)
    return try await read { database in
      // The newest of both are enough to choose from; an id stands once, at its first place.
      let statement = try database.cachedStatement(
        sql: """
          SELECT id, at FROM (SELECT id, accepted_at AS at FROM announcements WHERE account = :account
                              ORDER BY number DESC LIMIT :limit)
          UNION ALL
          SELECT id, at FROM (SELECT rowid AS row, id, created_at AS at FROM answers WHERE account = :account
                              ORDER BY created_at DESC, rowid DESC LIMIT :limit) AS newest
          WHERE NOT EXISTS (SELECT 1 FROM announcements WHERE account = :account AND id = newest.id)
            AND NOT EXISTS (SELECT 1 FROM answers WHERE account = :account AND id = newest.id AND rowid < newest.row)
          ORDER BY at DESC LIMIT :limit
          """)
      return try Row.fetchAll(statement, arguments: ["account": account, "limit": limit]).compactMap { row in
        try Self.announcement(account, try row.value("id"), in: database)
      }
    }
  }

  /// Removes the oldest answers from before a moment, in one transaction: call it again while it removes `limit`. The
  /// moment is to be ``answerLifetime`` ago or earlier, or requests that come again are new ones.
  ///
  /// - Parameter limit: 1 to 1,000.
  /// - Returns: how many were removed.
  @discardableResult
  public func pruneAnswers(before moment: Date, limit: Int = 200) async throws(LedgerError) -> Int {
    guard let moment = moment.wholeMilliseconds else {
      throw LedgerError(.invalidValue, while: .pruning, in: file, field: "before (a date within the calendar)")
    }
    let limit = min(max(limit, 1), 1000)
    return try await write(while: .pruning) { database in
      try database.cachedStatement(
        sql: """
          DELETE FROM answers WHERE rowid IN (
            SELECT rowid FROM answers WHERE created_at < ? ORDER BY created_at LIMIT ?)
          """
      ).execute(arguments: [moment, limit])
      return database.changesCount
    }
  }

  /// Answers from this moment on hold.
  private var oldestAnswer: Int64 { timeStamp - Int64(Self.answerLifetime * 1000) + 1 }

  private static func answer(
    _ account: String, _ key: String, since moment: Int64, in database: Database
  ) throws -> Answer? {
    let statement = try database.cachedStatement(
      sql: "SELECT * FROM answers WHERE account = ? AND key = ? AND created_at >= ?")
    return try Row.fetchOne(statement, arguments: [account, key, moment]).map(Answer.init(row:))
  }

  /// What became of an answer's announcement.
  private static func known(_ answer: Answer, payload: Data?, in database: Database) throws -> Acceptance? {
    let statement = try database.cachedStatement(
      sql: "SELECT number, state, payload FROM announcements WHERE account = ? AND id = ?")
    guard let row = try Row.fetchOne(statement, arguments: [answer.account, answer.id]) else { return nil }
    let stored: Data = try row.value("payload")
    return Acceptance(
      number: try row.value("number"), isDuplicate: true, state: try row.name("state"),
      isSamePayload: payload.map { $0 == stored } ?? true)
  }

  private static func announcement(_ account: String, _ id: String, in database: Database) throws -> Announcement? {
    let entry = try Row.fetchOne(
      database.cachedStatement(sql: "SELECT * FROM announcements WHERE account = ? AND id = ?"),
      arguments: [account, id]
    ).map(Entry.init(row:))
    // By row, as the index of ids has them: by time, SQLite would look through all of the account's.
    let answer = try Row.fetchOne(
      database.cachedStatement(sql: "SELECT * FROM answers WHERE account = ? AND id = ? ORDER BY rowid LIMIT 1"),
      arguments: [account, id]
    ).map(Answer.init(row:))
    guard entry != nil || answer != nil else { return nil }
    return Announcement(account: account, id: id, entry: entry, answer: answer)
  }
}

extension Ledger.Answer {
  fileprivate init(row: Row) throws {
    account = try row.value("account")
    key = try row.value("key")
    bodyDigest = try row.value("body_digest")
    id = try row.value("id")
    status = try row.value("status")
    report = try row.value("report")
    clip = try row.clip()
    createdAt = Date(wholeMilliseconds: try row.value("created_at"))
  }
}
