// SPDX-License-Identifier: Apache-2.0

/// The rules that decide which announcement of a lane plays next: order, priority, interruption and backlog. It uses no
/// clock, sounds or files. Its owner reports what happened and when, and carries out the decisions.
///
/// Times are in ms, by a clock of the owner that never goes back, even across restarts. No method throws or traps,
/// whatever the numbers and times are.
public struct PlaybackOrder: Sendable {
  /// The settings of the order. Times are in ms, and a sum of times that would overflow `Int64` is clamped.
  public struct Settings: Sendable, Hashable {
    /// The waiting time for a missing sequence number, in ms, from the acceptance of the first announcement after the
    /// gap.
    public var sequencePatience: Int64
    /// The number of waiting payments above which they are summarised in one announcement; `nil` means never.
    public var longestBacklog: Int?
    /// The duration of waiting payments, in ms, above which they are summarised; `nil` means never.
    public var longestBacklogMilliseconds: Int64?
    /// The assumed duration of an announcement whose sound is not rendered yet, in ms. It is the average duration of a
    /// payment announcement.
    public var assumedDuration: Int64

    public init(
      sequencePatience: Int64 = 2_000, longestBacklog: Int? = nil, longestBacklogMilliseconds: Int64? = nil,
      assumedDuration: Int64 = 4_000
    ) {
      self.sequencePatience = sequencePatience
      self.longestBacklog = longestBacklog
      self.longestBacklogMilliseconds = longestBacklogMilliseconds
      self.assumedDuration = assumedDuration
    }
  }

  /// The next thing to do.
  public enum Decision: Sendable, Hashable {
    case play(PlaybackItem, SequenceTurn)
    /// The current announcement must stop for a new one. Call ``PlaybackOrder/interrupted()`` when it has stopped.
    case interrupt
    /// A single announcement must be made for these payments, at least two. Report it with
    /// ``PlaybackOrder/began(summary:of:at:)``, or refuse it with ``PlaybackOrder/refuseSummary()``. Until then, the
    /// decision stays the same and includes new payments.
    case summarise([PlaybackItem])
    /// There is nothing to do before that moment, in ms, unless an announcement arrives or the current announcement
    /// ends.
    case wait(until: Int64)
    /// There is nothing to do until an announcement arrives or the current announcement ends.
    case idle
  }

  /// The state of an announcement's sequence number when its turn comes.
  public enum SequenceTurn: Sendable, Hashable {
    /// The announcement has no sequence number, or the next number, or the first number ever seen.
    case inOrder
    /// These numbers, in ascending order, were waited for and did not arrive.
    case afterMissing([ClosedRange<Int64>])
    /// This number, or a higher number, was already played or skipped.
    case late
  }

  public let settings: Settings
  public private(set) var playing: PlaybackItem?
  public private(set) var isPaused = false

  private var sequenced: SequenceLine
  private var plain = Line()
  private var alerts = Line()
  private var information = Line()
  private var mayBeSummarised = true

  /// Creates an order.
  ///
  /// After a restart, accept all announcements that had not ended, including the one that was playing. Accept them in
  /// the old order, with their old numbers, times and sequence numbers. Some announcements, such as a cancelled payment
  /// or an alert, may have ended with a sequence number above `lastSequence`. Record these numbers with
  /// ``settle(_:acceptedAt:)``.
  ///
  /// - Parameter lastSequence: The value of ``lastSequence`` when the last finished announcement began, as stored in
  ///   the ledger.
  public init(settings: Settings = Settings(), lastSequence: Int64? = nil) {
    self.settings = settings
    sequenced = SequenceLine(last: lastSequence, patience: settings.sequencePatience)
  }

  /// The highest sequence number that was played or skipped; `nil` before the first.
  public var lastSequence: Int64? { sequenced.last }

  /// The number of waiting announcements, without the one that is playing.
  public var waitingCount: Int { sequenced.items.count + plain.count + alerts.count + information.count }

  // MARK: Reporting events

  /// Adds an announcement. An announcement that is already waiting or playing is ignored.
  public mutating func accept(_ item: PlaybackItem) {
    guard item.number != playing?.number else { return }
    if item.category == .payment { mayBeSummarised = true }
    if item.category.isMoney, item.sequence != nil {
      sequenced.insert(item)
    } else {
      change(item.category) { $0.insert(item) }
      if let sequence = item.sequence { sequenced.settle(sequence, acceptedAt: item.acceptedAt) }
    }
  }

  /// Records the sequence number of an announcement that has ended or has its turn later, so that the order does not
  /// wait for this number.
  public mutating func settle(_ sequence: Int64, acceptedAt: Int64) {
    sequenced.settle(sequence, acceptedAt: acceptedAt)
  }

  /// Adds an announcement that was removed before and is to be played after all. It gets its old place. If the order
  /// has passed its sequence number meanwhile without waiting for it, the announcement does not count as late.
  public mutating func restore(_ item: PlaybackItem) {
    accept(item)
    if item.category.isMoney, item.sequence != nil { sequenced.restore(item.number) }
  }

  /// Sets the duration of a waiting announcement's sound, in ms.
  public mutating func setDuration(_ milliseconds: Int64, of number: Int64) {
    sequenced.update(number) { $0.durationMilliseconds = milliseconds }
    for category in [PlaybackItem.Category.payment, .alert, .information] {
      change(category) { line in line.update(number) { $0.durationMilliseconds = milliseconds } }
    }
  }

  /// Removes a waiting announcement that was cancelled or whose sound cannot be rendered. The order does not wait for
  /// its sequence number.
  ///
  /// - Returns: The removed item, or `nil` if it is not waiting.
  public mutating func remove(_ number: Int64) -> PlaybackItem? {
    plain.remove(number) ?? alerts.remove(number) ?? information.remove(number) ?? sequenced.remove(number)
  }

  /// Removes expired announcements. Call it before ``next(at:)``, which does not check for them.
  public mutating func removeExpired(at now: Int64) -> [PlaybackItem] {
    alerts.removeExpired(at: now) + information.removeExpired(at: now)
  }

  /// Reports that the current announcement has ended: it was played, or stopped for good.
  public mutating func finished() { playing = nil }

  /// Reports that the current announcement was interrupted. It is played again at its next turn, before other
  /// announcements of its category.
  ///
  /// - Returns: `false` if its category is never interrupted. The announcement then still counts as playing.
  @discardableResult
  public mutating func interrupted() -> Bool {
    guard let item = playing, item.category.mayBeInterrupted else { return false }
    playing = nil
    change(item.category) { $0.insert(item) }
    return true
  }

  /// Pauses the order: nothing begins and nothing is interrupted. Waiting times for missing numbers and expiry times
  /// continue.
  public mutating func pause() { isPaused = true }
  public mutating func resume() { isPaused = false }

  // MARK: Decisions

  /// Returns the next thing to do. An announcement returned to play counts as playing from then on. All other decisions
  /// can be requested repeatedly.
  public mutating func next(at now: Int64) -> Decision {
    guard !isPaused else { return .idle }
    let due = isMoneyDue(at: now)
    let wait = sequenced.waitsUntil(at: now).map { Decision.wait(until: $0) }
    if let playing {
      let newcomer = due ? nextMoney(at: now) : alerts.first ?? information.first
      if let newcomer, interrupts(newcomer, playing) { return .interrupt }
      if let wait, let first = sequenced.first, interrupts(first, playing) { return wait }
      return .idle
    }
    if due, let backlog = backlog(at: now) { return .summarise(backlog) }
    if let (item, turn) = takeMoney(at: now) {
      playing = item
      return .play(item, turn)
    }
    playing = alerts.takeFirst() ?? information.takeFirst()
    return playing.map { .play($0, .inOrder) } ?? wait ?? .idle
  }

  /// Reports that a summary of these payments is now playing in their place.
  ///
  /// - Parameters:
  ///   - summary: A payment with its own number and without a sequence number.
  ///   - numbers: The payments' numbers, in the order of the decision.
  /// - Returns: The payments in order, each with the state of its sequence number. `nil` if these payments are no
  ///   longer the next ones, because one was cancelled or another payment goes first. Nothing was changed then; call
  ///   ``next(at:)`` again. Additional payments after them do not matter.
  public mutating func began(
    summary: PlaybackItem, of numbers: [Int64], at now: Int64
  ) -> [(item: PlaybackItem, turn: SequenceTurn)]? {
    guard playing == nil, !isPaused, !numbers.isEmpty else { return nil }
    var rest = self
    var payments: [(item: PlaybackItem, turn: SequenceTurn)] = []
    for number in numbers {
      guard let taken = rest.takeMoney(at: now), taken.item.number == number, taken.item.category == .payment else {
        return nil
      }
      payments.append(taken)
    }
    self = rest
    playing = summary
    return payments
  }

  /// Reports that no summary can be made. Payments are played individually until another one arrives.
  public mutating func refuseSummary() { mayBeSummarised = false }

  /// Returns the announcements that play next as of now, so that their sounds can be rendered ahead. Announcements that
  /// wait for a missing number come last.
  ///
  /// - Parameter limit: The maximum number of announcements to return.
  public func upcoming(_ limit: Int, at now: Int64) -> [PlaybackItem] {
    var rest = self
    var items: [PlaybackItem] = []
    while items.count < limit, let (item, _) = rest.takeMoney(at: now) { items.append(item) }
    for waiting in [alerts.items, information.items, rest.sequenced.items] {
      items += waiting.prefix(max(0, limit - items.count))
    }
    return items
  }

  // MARK: Private

  private func interrupts(_ newcomer: PlaybackItem, _ present: PlaybackItem) -> Bool {
    Meeting.of(newcomer.category, with: present.category).whilePlaying == .interrupts
  }

  /// Whether money may play now. Money without a sequence number may play while a missing number is waited for.
  private func isMoneyDue(at now: Int64) -> Bool { plain.first != nil || sequenced.isDue(at: now) }

  /// Whether money with a sequence number plays next. Any item of that queue counts, not only the first. Otherwise a
  /// late number would delay the numbers after it, and a refund without a number might play before its payment.
  private func isSequencedNext(at now: Int64) -> Bool {
    guard sequenced.isDue(at: now) else { return false }
    guard let plain = plain.first else { return true }
    return sequenced.items.contains { $0.number < plain.number }
  }

  private func nextMoney(at now: Int64) -> PlaybackItem? { isSequencedNext(at: now) ? sequenced.first : plain.first }

  private mutating func takeMoney(at now: Int64) -> (item: PlaybackItem, turn: SequenceTurn)? {
    isSequencedNext(at: now) ? sequenced.takeFirst() : plain.takeFirst().map { ($0, .inOrder) }
  }

  /// Returns the payments to summarise now; `nil` if they are played individually. The summary only includes payments
  /// that would play one after another: it ends at a refund and at a number that is still waited for.
  private func backlog(at now: Int64) -> [PlaybackItem]? {
    guard mayBeSummarised, settings.longestBacklog != nil || settings.longestBacklogMilliseconds != nil else {
      return nil
    }
    var rest = self
    var payments: [PlaybackItem] = []
    var milliseconds: Int64 = 0
    while let (item, _) = rest.takeMoney(at: now), item.category == .payment {
      payments.append(item)
      milliseconds = milliseconds.plus(max(0, item.durationMilliseconds ?? settings.assumedDuration))
    }
    let isTooMany = settings.longestBacklog.map { payments.count > $0 } ?? false
    let isTooLong = settings.longestBacklogMilliseconds.map { milliseconds > $0 } ?? false
    return payments.count > 1 && (isTooMany || isTooLong) ? payments : nil
  }

  private mutating func change(_ category: PlaybackItem.Category, _ change: (inout Line) -> Void) {
    switch category {
    case .payment, .refund: change(&plain)
    case .alert: change(&alerts)
    case .information: change(&information)
    }
  }
}
