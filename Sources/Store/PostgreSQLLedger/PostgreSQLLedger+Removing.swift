// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Ledger
import PostgreSQL

extension PostgreSQLLedger {
  public func remove(account: String, id: String) async throws(LedgerError) -> Ledger.Removal {
    if account.hasZero || id.hasZero { return .unknown }
    let key = AnnouncementKey(account, id)
    return try await write(while: .removing) { [self] session in
      // Another transaction may be storing an answer, a replay or a push of the announcement at this moment. It holds one
      // of these rows, so this one waits for it, and the later statements see what it stored. A transaction that comes
      // later waits for the removal, and then finds a new announcement.
      let own: [PostgreSQLValue] = [.string(account), .string(id)]
      try session.execute(Self.lockingAnswersOfID, own)
      try session.execute(Self.lockingAnnouncement, own)
      try Self.lockDecisions([key], in: session)
      let entry = try Self.entries(of: [key], in: session)[key]
      if let entry {
        if !entry.state.isFinal { return .notEnded }
        if try session.value(Self.replayedNow, [.int64(entry.number)]) ?? false { return .notEnded }
      }
      var isPushed = false
      var pushedClips: Set<String> = []
      for row in try session.rows(Self.lockingPushes, own) {
        isPushed = true
        let state: Ledger.Push.State = try row.name("state")
        if !state.isFinal { return .notEnded }
        if let clip: String = try row.read("clip") { pushedClips.insert(clip) }
      }
      let answers = try session.all(Self.answersOfID, own, Ledger.RemovedAnswer.init(row:))
      guard entry != nil || !answers.isEmpty || isPushed else { return .unknown }
      // Each replay holds a copy of the original's payload.
      if let entry { try Self.removeReplays(of: entry.number, in: session) }
      try session.execute("DELETE FROM answers WHERE account = $1 AND id = $2", own)
      try session.execute("DELETE FROM announcements WHERE account = $1 AND id = $2", own)
      // The text of a notification contains names from the payment.
      try session.execute("DELETE FROM pushes WHERE account = $1 AND announcement = $2", own)
      try Self.removeDecisions([key], in: session)
      let clips = Set(answers.compactMap(\.clip?.name) + [entry?.clip].compactMap(\.self)).union(pushedClips)
      try forget(clips.inByteOrder, account: account, in: session)
      return .removed(entry: entry, answers: answers, pushedClips: pushedClips)
    }
  }

  static let lockingAnswersOfID = """
    SELECT 1 FROM answers WHERE account = $1 AND id = $2 ORDER BY key FOR UPDATE
    """
  static let lockingAnnouncement = "SELECT 1 FROM announcements WHERE account = $1 AND id = $2 FOR UPDATE"
  static let lockingPushes = """
    SELECT state, clip FROM pushes WHERE account = $1 AND announcement = $2 ORDER BY number FOR UPDATE
    """
  static let answersOfID = "SELECT key, body_digest, clip, clip_group FROM answers WHERE account = $1 AND id = $2"

  /// Whether an announcement has an unfinished replay.
  static let replayedNow = """
    SELECT EXISTS (SELECT 1 FROM replays JOIN announcements ON announcements.number = replays.number
                   WHERE replays.original = $1 AND \(isUnfinished)) AS value
    """

  private static func removeReplays(of original: Int64, in session: borrowing PostgreSQLSession) throws {
    var numbers: [Int64] = []
    var keys: [AnnouncementKey] = []
    for row in try session.rows(lockingReplays, [.int64(original)]) {
      numbers.append(try row.read("number"))
      keys.append(AnnouncementKey(try row.read("account"), try row.read("id")))
    }
    if numbers.isEmpty { return }
    try lockDecisions(keys, in: session)
    try session.execute(deletingAnnouncements, [.int64s(numbers)])
    try removeDecisions(keys, in: session)
  }

  static let lockingReplays = """
    SELECT number, account, id FROM announcements
    WHERE number IN (SELECT replays.number FROM replays WHERE replays.original = $1) ORDER BY number FOR UPDATE
    """
  static let deletingAnnouncements = "DELETE FROM announcements WHERE number = ANY ($1::bigint[])"
}
