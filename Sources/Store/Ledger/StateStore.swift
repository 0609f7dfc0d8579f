// SPDX-License-Identifier: Apache-2.0

extension Ledger {
  /// The states of announcements, the lanes on which they wait, and the events and commands about them. Each call is
  /// one whole transaction.
  public protocol StateStore: Sendable {
    /// Returns the lanes on which requests of accounts wait, sorted by name. Finished announcements do not slow the
    /// call down.
    func waitingLanes() async throws(LedgerError) -> [WaitingLane]

    /// Moves the requests that wait on a lane to another lane, in one transaction. They keep their numbers, and so
    /// their order. An announcement that was playing when its player ended becomes `accepted` again.
    ///
    /// Replays on the lane that have expired are ended. Take the seats of both lanes before the call, so that no player
    /// plays one of the announcements meanwhile.
    ///
    /// - Returns: The number of announcements that were moved.
    /// - Throws: ``LedgerError``. Nothing was changed then.
    @discardableResult
    func moveRequests(from source: String, to target: String) async throws(LedgerError) -> Int

    /// Cancels an announcement that waits on a lane that no process plays.
    ///
    /// - Returns: False when the announcement has ended already, or is unknown.
    /// - Throws: ``LedgerError`` with `laneTaken` when a process plays the lane, whose player must cancel it; or a file
    ///   error. Nothing was changed then.
    func cancelUnplayed(_ number: Int64) async throws(LedgerError) -> Bool

    /// Returns the stored pause of a lane; nil if there is none.
    func pause(lane: String) async throws(LedgerError) -> Pause?

    /// Stores the pause of a lane, so that it lasts across a restart. It is durable when the call returns.
    ///
    /// - Parameter pause: The pause; nil if the lane is not paused any more.
    /// - Throws: ``LedgerError``. Nothing was changed then.
    func keep(_ pause: Pause?, lane: String) async throws(LedgerError)

    /// Returns the payments of a lane that ended as `quiet` and are still to be named in a summary, in the order of
    /// acceptance; see ``Change/awaitsSummary``. Other announcements do not slow the call down.
    ///
    /// - Parameters:
    ///   - number: The number of the last payment that the caller has seen; 0 for none.
    ///   - limit: The maximum number of payments, 1 to 1,000.
    func quietPayments(lane: String, after number: Int64, limit: Int) async throws(LedgerError) -> [Entry]

    /// Accepts the summary of quiet payments. In the same transaction, the payments are marked as named in the summary.
    /// They stay `quiet` even if the summary is not announced.
    ///
    /// - Parameters:
    ///   - last: The number of the last of the payments.
    ///   - count: The number of payments that the summary names.
    /// - Throws: ``LedgerError`` with `illegalSummary` if the lane has another number of quiet payments up to the last
    ///   one, because one of them was removed meanwhile; or the errors of ``accept(_:standingFor:)``. Nothing was
    ///   accepted then.
    func accept(
      _ summary: StoredAnnouncement, namingQuietPaymentsUpTo last: Int64, count: Int
    ) async throws(LedgerError) -> Acceptance

    /// Records that no summary will name the quiet payments of a lane.
    func forgetQuietPayments(lane: String) async throws(LedgerError)

    /// Returns the unfinished announcements of a lane in the order of acceptance, including those that belong to a
    /// summary.
    ///
    /// - Parameters:
    ///   - number: The number of the last announcement that the caller has seen; 0 for none. Reading page by page keeps
    ///     memory bounded.
    ///   - limit: The maximum number of announcements, 1 to 1,000.
    func unfinished(lane: String, after number: Int64, limit: Int) async throws(LedgerError) -> [Entry]

    /// Returns the unfinished announcements of a lane that are played individually, in the order of acceptance. The
    /// payments of a summary are not included, because the summary is played in their place.
    ///
    /// - Parameter limit: The maximum number of announcements, 1 to 1,000.
    func unfinishedAlone(lane: String, limit: Int) async throws(LedgerError) -> [Entry]

    /// Returns the number of unfinished announcements of a lane that are played individually. Finished announcements do
    /// not slow the call down.
    func unfinishedAloneCount(lane: String) async throws(LedgerError) -> Int

    /// Returns the announcements that a summary includes, in the order of acceptance.
    func members(ofSummary number: Int64) async throws(LedgerError) -> [Entry]

    /// Returns the number of announcements in each state; 0 for a state without any. The call reads an index of about
    /// 30 bytes per announcement.
    func counts(lane: String?) async throws(LedgerError) -> [State: Int]

    /// Accepts a replay. It is durable when the call returns.
    ///
    /// - Parameters:
    ///   - original: The number of the announcement to play again. If that announcement is itself a replay, its original
    ///     is used.
    ///   - requester: The account that requests the replay; nil for a person at the machine, for whom only the lane's
    ///     limit counts.
    /// - Throws: ``LedgerError`` as ``accept(_:standingFor:)`` does; with `tooManyReplays` when a limit of unfinished
    ///   replays is reached; and with `notFound` when the announcement no longer exists. Nothing was accepted then.
    func accept(
      _ new: StoredAnnouncement, again original: Int64, for requester: String?
    ) async throws(LedgerError) -> Acceptance

    /// Returns the original and the requester of a replay; nil when the announcement is not a replay.
    func replay(_ number: Int64) async throws(LedgerError) -> Replay?

    /// Returns the unfinished replays of a lane, oldest first.
    func unfinishedReplays(lane: String) async throws(LedgerError) -> [Replay]

    /// Undoes the cancellation of an announcement that was waiting. It waits again with its old number, and so in its
    /// old place. The change is durable when the call returns.
    ///
    /// Only the player of the announcement's lane may call this. If no player plays the lane, call
    /// ``restoreUnplayed(_:)``.
    ///
    /// - Returns: The announcement, which waits again; nil when it cannot be restored: it was not cancelled, had begun
    ///   to play, was cancelled more than ``restorationTime`` ago, or has expired. Nothing was changed then.
    func restore(_ number: Int64) async throws(LedgerError) -> Entry?

    /// Restores an announcement on a lane that no process plays; see ``restore(_:)``. It waits there for the next
    /// player.
    ///
    /// - Throws: ``LedgerError`` with `laneTaken` when a process plays the lane, whose player must restore the
    ///   announcement; or a file error. Nothing was changed then.
    func restoreUnplayed(_ number: Int64) async throws(LedgerError) -> Entry?

    /// Moves an announcement to another state and records an event. Both are durable when the call returns.
    ///
    /// When a summary ends, its members change in the same transaction: they become played if the summary was played,
    /// and are otherwise to be played individually again; see ``Change/endsMembers``.
    ///
    /// - Returns: False when the announcement was already in that state. Then nothing was changed, including `passing`.
    /// - Throws: ``LedgerError`` with `illegalTransition` when its current state does not allow the change, see
    ///   ``State``; `notFound`; `invalidValue`; or a file error. Nothing was changed then.
    @discardableResult
    func set(_ number: Int64, _ state: State, _ change: Change) async throws(LedgerError) -> Bool

    /// Restores the states of the lane's announcements when a player starts. Announcements that were playing when the
    /// last player ended are waiting again, or accepted if they have no clip. Those that were rendering are accepted
    /// again. All others keep their state. Each announcement keeps the count of its starts; see ``InterruptedWork``.
    ///
    /// - Returns: The number of announcements that were playing. They will be played again from the start.
    @discardableResult
    func recover(lane: String) async throws(LedgerError) -> Int

    /// Returns the lane's last sequence number that was played or skipped; nil before the first.
    func lastPassedSequence(lane: String) async throws(LedgerError) -> Int64?

    /// Stores a command for the lane's player, which need not be running.
    ///
    /// - Returns: The command's number.
    /// - Throws: ``LedgerError`` with `invalidValue` for a volume outside 0 to 100, `tooManyCommands`,
    ///   `waitingListFull`, or a file error.
    @discardableResult
    func send(_ command: Command, lane: String) async throws(LedgerError) -> Int64

    /// Returns the number of the last command that was sent to any lane, or 0 if there was none. A player uses the
    /// number, and not the clock, to recognize commands that were sent before it started.
    func lastCommandNumber() async throws(LedgerError) -> Int64

    /// Removes the lane's commands from the ledger and returns them in the order in which they were sent.
    ///
    /// Each command is returned only once. A player that crashes before it carries out a command does not receive it
    /// again after a restart, so that a stale command cannot skip a later announcement.
    ///
    /// If there are no commands, the call only reads the file, so it is cheap to call often.
    func takeCommands(lane: String) async throws(LedgerError) -> [SentCommand]

    /// Records an event that changes no announcement, such as a lost device.
    ///
    /// - Parameters:
    ///   - detail: Codes and numbers, at most 1,000 bytes as JSON. It is written to logs and must not contain amounts or
    ///     names.
    ///   - sequence: The lane's last sequence number that was played or skipped. It is stored in the same transaction as
    ///     the event.
    func record(
      _ kind: Event.Kind, lane: String, number: Int64?, detail: [String: String], passing sequence: Int64?
    ) async throws(LedgerError)

    /// Returns the events after a position, oldest first. If the event at that position was pruned, the result starts
    /// with the oldest event that is left.
    ///
    /// - Parameters:
    ///   - position: The position of the last event that the caller has seen; 0 for none.
    ///   - limit: The maximum number of events, 1 to 1,000.
    func events(after position: Int64, lane: String?, limit: Int) async throws(LedgerError) -> [Event]

    /// Returns the position of the last event, or 0 if there was none. A watcher that wants only new events starts
    /// here.
    func lastEventPosition() async throws(LedgerError) -> Int64
  }
}

extension Ledger.StateStore {
  /// Calls ``quietPayments(lane:after:limit:)`` with `200` for `limit`.
  public func quietPayments(lane: String, after number: Int64 = 0) async throws(LedgerError) -> [Ledger.Entry] {
    try await quietPayments(lane: lane, after: number, limit: 200)
  }

  /// Calls ``unfinished(lane:after:limit:)`` with `0` for `after`.
  public func unfinished(lane: String, limit: Int = 200) async throws(LedgerError) -> [Ledger.Entry] {
    try await unfinished(lane: lane, after: 0, limit: limit)
  }

  /// Calls ``set(_:_:_:)`` with `Change()` for `change`.
  @discardableResult
  public func set(_ number: Int64, _ state: Ledger.State) async throws(LedgerError) -> Bool {
    try await set(number, state, Ledger.Change())
  }

  /// Calls ``events(after:lane:limit:)`` with `nil` for `lane`.
  public func events(after position: Int64 = 0, limit: Int = 200) async throws(LedgerError) -> [Ledger.Event] {
    try await events(after: position, lane: nil, limit: limit)
  }
}
