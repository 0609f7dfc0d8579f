// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension Ledger {
  /// The acceptance of announcements, the answers to requests, and both as they are stored. Each call is one whole
  /// transaction.
  public protocol AcceptanceStore: Sendable {
    /// Accepts an announcement. When the call returns, the announcement survives a crash.
    ///
    /// A second call with the same account and id is a duplicate: it returns the number and state of the first
    /// announcement and writes nothing. This holds until the first announcement is pruned.
    ///
    /// - Parameter members: The numbers of the announcements that this one, a summary, includes. They are marked in the
    ///   same transaction. Each must be in the same lane, unfinished, not playing and in no other summary. When the
    ///   summary is played, its members become played too. When the summary ends in any other way, its members are to
    ///   be played individually again. A duplicate marks nothing.
    /// - Throws: ``LedgerError`` with `invalidValue`, `illegalSummary`, `waitingListFull`, `diskFull`, `busy` or a file
    ///   error. Nothing was accepted then. (After an error of the disk itself, the announcement may have been accepted
    ///   after all; it is safe to try again.)
    func accept(_ new: StoredAnnouncement, standingFor members: [Int64]) async throws(LedgerError) -> Acceptance

    /// Returns the time at which the ledger accepted the latest received payment of any account and any delivery; nil
    /// if there is none. Payments of a ``TestAccount`` do not count. The call reads all decisions.
    func latestPayment() async throws(LedgerError) -> Date?

    /// Passes the amount of each stored announcement of an account to a closure, in the order of acceptance. The call
    /// reads only an index of these amounts, and holds one amount in memory at a time.
    ///
    /// - Parameters:
    ///   - from: The earliest time of acceptance.
    ///   - to: The end of the range: announcements accepted at this time or later are left out.
    ///   - initial: The first value that the closure changes.
    ///   - add: Adds an amount to the value, and returns whether to continue.
    /// - Returns: The value after the last amount.
    func amounts<Result: Sendable>(
      account: String, from: Date, to: Date, into initial: Result,
      _ add: @escaping @Sendable (inout Result, StoredAmount) -> Bool
    ) async throws(LedgerError) -> Result

    /// Returns the valid answer for a request's key or, if there is none, the request's announcement. Both are read at
    /// the same moment.
    ///
    /// - Returns: `answer` is nil when the key has no valid answer. `announcement` is nil when there is an answer, and
    ///   when the id is unknown.
    func known(
      account: String, key: String, id: String
    ) async throws(LedgerError) -> (answer: Answer?, announcement: Announcement?)

    /// Stores an answer and accepts its announcement for a player, in one transaction. Both are durable when the call
    /// returns.
    ///
    /// - If the account already has a valid answer for the key, nothing is written. The call returns that answer with
    ///   the state of its announcement.
    /// - If the announcement is in the ledger but has no valid answer, only the answer is written. The announcement is
    ///   not played again.
    ///
    /// - Parameters:
    ///   - announcement: The announcement to play, with the answer's account and id; nil when nothing is to be played.
    ///   - pushes: The pushes that announce it. They are put into the outbox together with a new answer, unless
    ///     the announcement already has pushes.
    ///   - clips: The files of the announcement, which are recorded in the library together with a new answer.
    /// - Throws: ``LedgerError`` with `invalidValue`, `waitingListFull`, `diskFull`, `busy` or a file error. Nothing
    ///   was written then.
    func accept(
      answer new: NewAnswer, playing announcement: StoredAnnouncement?, pushing pushes: [NewPush],
      publishing clips: [LibrarySound]
    ) async throws(LedgerError) -> AnswerAcceptance

    /// Returns the announcement with an id, with its entry and its answer; nil when the id is unknown.
    func announcement(account: String, id: String) async throws(LedgerError) -> Announcement?

    /// Returns a part of the list of an account's announcements, newest first. They include answered announcements and
    /// those accepted for a player. Each is listed once: at its acceptance or, if it was not to be played, at its first
    /// answer. The call reads indexes only as far as it needs them, so older announcements do not slow it down.
    ///
    /// - Parameters:
    ///   - cursor: The place after which the list continues; nil for its beginning.
    ///   - limit: The maximum number of announcements, 1 to 1,000. The result can be shorter, and even empty, although
    ///     `next` is not nil: a call searches among ``searchedAtOnce`` announcements, and ends as soon as it has read
    ///     ``mostListedPushes`` pushes.
    func announcements(
      account: String, matching filter: AnnouncementFilter, before cursor: AnnouncementCursor?, limit: Int
    ) async throws(LedgerError) -> AnnouncementPage

    /// Returns the announcement with an account and id; nil when there is none or it was pruned.
    func entry(account: String, id: String) async throws(LedgerError) -> Entry?

    /// Returns the announcement with a number; nil when there is none or it was pruned.
    func entry(_ number: Int64) async throws(LedgerError) -> Entry?

    /// Returns the latest announcements, newest first.
    ///
    /// - Parameter limit: The maximum number of announcements, 1 to 1,000.
    func recent(_ limit: Int, lane: String?) async throws(LedgerError) -> [Entry]

    /// Removes an account's announcement with all its answers and replays, if the announcement has ended or was never
    /// to be played. The removal is durable when the call returns. A later request with the id is a new announcement.
    ///
    /// - Throws: ``LedgerError``. Nothing was changed then.
    func remove(account: String, id: String) async throws(LedgerError) -> Removal
  }
}

extension Ledger.AcceptanceStore {
  /// Calls ``accept(_:standingFor:)`` with `[]` for `standingFor`.
  public func accept(_ new: StoredAnnouncement) async throws(LedgerError) -> Ledger.Acceptance {
    try await accept(new, standingFor: [])
  }

  /// Calls ``accept(answer:playing:pushing:publishing:)`` with `[]` for `publishing`.
  public func accept(
    answer new: NewAnswer, playing announcement: StoredAnnouncement? = nil, pushing pushes: [NewPush] = []
  ) async throws(LedgerError) -> Ledger.AnswerAcceptance {
    try await accept(answer: new, playing: announcement, pushing: pushes, publishing: [])
  }
}
