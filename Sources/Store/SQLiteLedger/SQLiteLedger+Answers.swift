// SPDX-License-Identifier: Apache-2.0

public import Foundation
import GRDB
public import Ledger
import WebhookMessages

extension SQLiteLedger {
  public func known(
    account: String, key: String, id: String
  ) async throws(LedgerError) -> (answer: Ledger.Answer?, announcement: Ledger.Announcement?) {
    if account.hasZero || key.hasZero || id.hasZero { return (nil, nil) }
    let oldest = oldestAnswer
    return try await read { database in
      if let answer = try Self.answer(account, key, since: oldest, in: database) { return (answer, nil) }
      return (nil, try Self.announcement(account, id, in: database))
    }
  }

  public func accept(
    answer new: NewAnswer, playing announcement: StoredAnnouncement?, pushing pushes: [NewPush],
    publishing clips: [LibrarySound]
  ) async throws(LedgerError) -> Ledger.AnswerAcceptance {
    let item = try AnswerToStore(new, playing: announcement, pushing: pushes, publishing: clips, in: self)
    return try await write(while: .answering, cost: item.cost) { [self] database in
      if let first = try Self.answer(new.account, new.key, since: oldestAnswer, in: database) {
        return Ledger.AnswerAcceptance(
          answer: first, isDuplicate: true, isSameBody: first.bodyDigest == new.bodyDigest,
          acceptance: try Self.known(first, payload: announcement?.payload, in: database))
      }
      try checkSize(in: database)
      let at = timeStamp
      // An expired answer and the decision from its time are replaced.
      try database.cachedStatement(sql: "DELETE FROM answers WHERE account = ? AND key = ?")
        .execute(arguments: [new.account, new.key])
      try database.cachedStatement(
        sql: """
          INSERT INTO answers
            (account, key, body_digest, id, status, report, clip, clip_group, created_at, words, source, source_pack)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
          """
      ).execute(arguments: [
        new.account, new.key, new.bodyDigest, new.id, new.status, new.report, new.clip?.name, new.clip?.group, at,
        item.words, new.source?.payload, new.source?.defaultPack,
      ])
      if let decision = new.decision {
        try Self.store(decision, account: new.account, id: new.id, at: at, in: database)
      }
      try tell(WebhookEvent(storing: new, at: at), of: new.account, in: database)
      if !pushes.isEmpty, try !Self.isPushed(account: new.account, announcement: new.id, in: database) {
        _ = try insert(pushes, account: new.account, announcement: new.id, in: database)
      }
      for clip in clips { try record(clip, account: new.account, in: database) }
      return Ledger.AnswerAcceptance(
        answer: item.answer(at: at), isDuplicate: false, isSameBody: true,
        acceptance: try item.announcement.map { try accept($0, in: database) })
    }
  }

  public func announcement(account: String, id: String) async throws(LedgerError) -> Ledger.Announcement? {
    if account.hasZero || id.hasZero { return nil }
    return try await read { try Self.announcement(account, id, in: $0) }
  }

  @discardableResult
  public func pruneAnswers(before moment: Date, limit: Int) async throws(LedgerError) -> Int {
    let moment = try milliseconds(moment, "before", while: .pruning)
    return try await write(while: .pruning) { database in
      try database.cachedStatement(
        sql: """
          DELETE FROM answers WHERE rowid IN (
            SELECT rowid FROM answers WHERE created_at < ? ORDER BY created_at LIMIT ?)
          """
      ).execute(arguments: [moment, Ledger.limit(limit)])
      return database.changesCount
    }
  }

  private var oldestAnswer: Int64 { Ledger.oldestAnswer(at: timeStamp) }

  private static func answer(
    _ account: String, _ key: String, since moment: Int64, in database: Database
  ) throws -> Ledger.Answer? {
    let statement = try database.cachedStatement(
      sql: "SELECT * FROM answers WHERE account = ? AND key = ? AND created_at >= ?")
    return try statement.first([account, key, moment], Ledger.Answer.init(row:))
  }

  /// Returns the state of an answer's announcement; nil when it is not in the ledger.
  private static func known(
    _ answer: Ledger.Answer, payload: Data?, in database: Database
  ) throws -> Ledger.Acceptance? {
    let statement = try database.cachedStatement(
      sql: """
        SELECT number, state, coalesce(payload = ?, TRUE) AS same FROM announcements WHERE account = ? AND id = ?
        """)
    return try statement.first([payload, answer.account, answer.id], Ledger.Acceptance.init(first:))
  }

  private static func announcement(
    _ account: String, _ id: String, in database: Database
  ) throws -> Ledger.Announcement? {
    try announcements(account, [id], in: database)[id.bytes]
  }

  /// Returns the announcements with the ids, each with its first answer. The keys are the bytes of the ids.
  static func announcements(
    _ account: String, _ ids: [String], in database: Database
  ) throws -> [Data: Ledger.Announcement] {
    let wanted: StatementArguments = [account, try json(ids)]
    let entries = Dictionary(try entries(withIDs, wanted, in: database).map { ($0.id.bytes, $0) }) { first, _ in first }
    // The first answer is the one with the lowest row, because the index of ids is in the order of rows. If the query
    // ordered answers by time, SQLite would scan all answers of the account.
    let statement = try database.cachedStatement(
      sql: """
        SELECT answers.* FROM json_each(?2) AS wanted JOIN answers ON answers.rowid = (
          SELECT rowid FROM answers WHERE account = ?1 AND id = wanted.value ORDER BY rowid LIMIT 1)
        """)
    let answers = Dictionary(try statement.all(wanted, Ledger.Answer.init(row:)).map { ($0.id.bytes, $0) }) {
      first, _ in first
    }
    let alone = try decisions(account: account, ids: ids.filter { entries[$0.bytes] == nil }, in: database)
    var announcements: [Data: Ledger.Announcement] = [:]
    for id in ids {
      announcements[id.bytes] = Ledger.Announcement(
        account: account, id: id, entry: entries[id.bytes], answer: answers[id.bytes], decisionAlone: alone[id.bytes])
    }
    return announcements
  }
}
