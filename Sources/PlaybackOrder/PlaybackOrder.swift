// SPDX-License-Identifier: Apache-2.0

/// Who is heard next on one lane: the rules of order, priority, interruption and backlog, as a value without clock, sound
/// or file. Its owner tells it what happened and when, and does what it answers.
///
/// Times are ms of a clock of the owner's that only goes forward, across restarts too. Nothing here throws or traps,
/// whatever the numbers and times are.
public struct PlaybackOrder: Sendable {
  /// Times in ms. A sum of times that would exceed `Int64` is its bound.
  public struct Settings: Sendable, Hashable {
    /// How long a missing sequence number is waited for, in ms, from the acceptance of the first of those behind it.
    public var sequencePatience: Int64
    /// More payments than this that wait are summarised in one announcement; `nil` never.
    public var longestBacklog: Int?
    /// Payments that take longer than this to say, in ms, are summarised; `nil` never.
    public var longestBacklogMilliseconds: Int64?
    /// What an announcement is taken to last while its sound is not made, in ms: the average of a payment.
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

  /// What is to be done now.
  public enum Decision: Sendable, Hashable {
    case play(PlaybackItem, SequenceTurn)
    /// What plays is to fall silent, because of what has come; ``PlaybackOrder/interrupted()`` once it has.
    case interrupt
    /// One announcement is to be made that stands for these payments, two at least, and offered with
    /// ``PlaybackOrder/began(summary:of:at:)``, or refused with ``PlaybackOrder/refuseSummary()``. Until then it is what
    /// is answered, with those that came meanwhile.
    case summarise([PlaybackItem])
    /// Nothing before that moment, in ms, unless something comes or what plays ends.
    case wait(until: Int64)
    /// Nothing until something comes or what plays ends.
    case idle
  }

  /// What is known of an item's sequence number when its turn comes.
  public enum SequenceTurn: Sendable, Hashable {
    /// It has none, or it is the next, or the first that was ever seen.
    case inOrder
    /// These numbers, in rising order, were waited for and did not come.
    case afterMissing([ClosedRange<Int64>])
    /// This number or a higher one was said or passed over before it.
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

  /// After a restart, what had not ended is accepted again with its old number, time and sequence, in the old order,
  /// that which played included. What had ended with a sequence number above `lastSequence` (a cancelled payment, an
  /// alert) is accepted and removed again, for else its number would be waited for.
  /// - Parameter lastSequence: ``lastSequence`` as it was when the last announcement that ended began, as the ledger
  ///   has it.
  public init(settings: Settings = Settings(), lastSequence: Int64? = nil) {
    self.settings = settings
    sequenced = SequenceLine(last: lastSequence, patience: settings.sequencePatience)
  }

  /// The highest sequence number that was said or passed over; `nil` before the first.
  public var lastSequence: Int64? { sequenced.last }

  /// How many wait, what plays not counted.
  public var waitingCount: Int { sequenced.items.count + plain.count + alerts.count + information.count }

  // MARK: What happened

  /// One that waits or plays already is not taken twice.
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

  /// The length of a waiting announcement's sound is known now, in ms.
  public mutating func setDuration(_ milliseconds: Int64, of number: Int64) {
    sequenced.update(number) { $0.durationMilliseconds = milliseconds }
    for category in [PlaybackItem.Category.payment, .alert, .information] {
      change(category) { line in line.update(number) { $0.durationMilliseconds = milliseconds } }
    }
  }

  /// Takes a waiting announcement out, because it was cancelled or its sound could not be made. Its sequence number is
  /// not waited for.
  /// - Returns: `nil` when it does not wait here.
  public mutating func remove(_ number: Int64) -> PlaybackItem? {
    plain.remove(number) ?? alerts.remove(number) ?? information.remove(number) ?? sequenced.remove(number)
  }

  /// Takes out what waited longer than it lives; to be asked before ``next(at:)``, which does not look at it.
  public mutating func removeExpired(at now: Int64) -> [PlaybackItem] {
    alerts.removeExpired(at: now) + information.removeExpired(at: now)
  }

  /// What played has ended: it was heard, or stopped for good.
  public mutating func finished() { playing = nil }

  /// What played fell silent; it is said again when its turn comes, before others of its kind.
  /// - Returns: `false`, and it still counts as playing, when it is of a kind that is never interrupted.
  @discardableResult
  public mutating func interrupted() -> Bool {
    guard let item = playing, item.category.mayBeInterrupted else { return false }
    playing = nil
    change(item.category) { $0.insert(item) }
    return true
  }

  /// Nothing begins and nothing is interrupted. Missing numbers are waited for all the same, and what lives for a time
  /// only grows old.
  public mutating func pause() { isPaused = true }
  public mutating func resume() { isPaused = false }

  // MARK: What is to be done

  /// The next thing to do. What it gives to play counts as playing from then on; all else may be asked again.
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

  /// A summary of these payments plays now in their place; they wait no longer.
  /// - Parameters:
  ///   - summary: a payment with a number of its own and no sequence.
  ///   - numbers: of the payments, in the order in which they were answered.
  /// - Returns: what was to be known of the number of each when its turn came, in order; `nil`, and nothing has changed,
  ///   when they are not what is to be said next any more, since one was cancelled, or one came that goes before: then
  ///   ``next(at:)`` tells anew. Further ones that came behind them do not matter.
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

  /// No summary can be made: payments are said one by one until another one comes.
  public mutating func refuseSummary() { mayBeSummarised = false }

  /// Who will be heard next, as things stand: whose sounds are to be made ahead. What waits for a missing number is last.
  /// - Parameter limit: how many at most.
  public func upcoming(_ limit: Int, at now: Int64) -> [PlaybackItem] {
    var rest = self
    var items: [PlaybackItem] = []
    while items.count < limit, let (item, _) = rest.takeMoney(at: now) { items.append(item) }
    for waiting in [alerts.items, information.items, rest.sequenced.items] {
      items += waiting.prefix(max(0, limit - items.count))
    }
    return items
  }

  // MARK: Inside

  private func interrupts(_ newcomer: PlaybackItem, _ present: PlaybackItem) -> Bool {
    Meeting.of(newcomer.category, with: present.category).whilePlaying == .interrupts
  }

  /// While a missing number is waited for, money without a number is said.
  private func isMoneyDue(at now: Int64) -> Bool { plain.first != nil || sequenced.isDue(at: now) }

  /// Any of the line counts, not its first alone: else a late number would hold up those behind it, and a refund without
  /// a number might be said before the payment that it belongs to.
  private func isSequencedNext(at now: Int64) -> Bool {
    guard sequenced.isDue(at: now) else { return false }
    guard let plain = plain.first else { return true }
    return sequenced.items.contains { $0.number < plain.number }
  }

  private func nextMoney(at now: Int64) -> PlaybackItem? { isSequencedNext(at: now) ? sequenced.first : plain.first }

  private mutating func takeMoney(at now: Int64) -> (item: PlaybackItem, turn: SequenceTurn)? {
    isSequencedNext(at: now) ? sequenced.takeFirst() : plain.takeFirst().map { ($0, .inOrder) }
  }

  /// The payments that are to be said as one now; `nil` when they are said one by one. They are those that would be said
  /// one after the other: a refund ends them, and so does a number that is still waited for.
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
