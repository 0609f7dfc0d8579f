// SPDX-License-Identifier: Apache-2.0

import Foundation
public import PlaybackOrder

// This file is long, so that only the methods of the order can change its state.

/// The order of the notifications of an app group: those that wait for their turn, and what must be known of those that
/// were handed over.
///
/// All extension processes of the group share one order, in a file of the group container (``NotificationOrderFile``).
/// The order is a value without a clock and without files. Times are in ms, by a clock that all processes share and
/// that never goes back until the phone restarts. No method throws or traps, whatever the numbers and times are.
///
/// A notification waits until the sound before it has ended, because iOS plays the sounds of two notifications at the
/// same time. It waits a short time for a missing sequence number, because APNs may reorder pushes. If it would wait
/// longer than iOS allows, one summary stands for all waiting payments.
public struct NotificationOrder: Sendable, Hashable, Codable {
  /// The settings of an order. Times are in ms.
  public struct Settings: Sendable, Hashable {
    /// The time between the arrival of a notification and the latest moment of its hand-over. iOS allows about 30 s
    /// (observed), and other service extensions take 25 s.
    public var budget: Int64 = 25_000
    /// The part of the budget that is left for the last decision and the hand-over, also on a busy phone.
    public var reserve: Int64 = 2_000
    /// The silence between two sounds.
    public var gap: Int64 = 250
    /// The waiting time for a missing sequence number if nobody can be asked for it.
    public var sequencePatience: Int64 = 2_000
    /// The waiting time for a missing sequence number while the service is asked for it.
    public var catchUpPatience: Int64 = 6_000
    /// The time for which a missing number is waited for before the service is asked. Most reordered pushes arrive
    /// sooner.
    public var catchUpDelay: Int64 = 500
    /// The time after which the service is asked again for what was passed over.
    public var catchUpPause: Int64 = 10_000
    /// After this number of failed requests in a row, a notification no longer waits for an earlier one that only the
    /// service can name again.
    public var mostFailedRequests = 3
    /// The process tries so many times to get the sound of a lost push. Afterwards, the phone plays the tone in its
    /// place. A try counts only if the one before it is at least ``soundTryPause`` ago.
    public var soundTries = 3
    public var soundTryPause: Int64 = 10_000
    /// The time after which a try counts that its process ended before it had a result.
    public var shortestTry: Int64 = 2_000
    /// The time after which a process that has not been heard from counts as ended. It is heard from at least once in
    /// half of this time, so a process that stands still for 4 s does not count as ended.
    public var lease: Int64 = 8_000
    /// The time after which the service is asked again, and after which another process asks if the asking process has
    /// not reported.
    public var catchUpLease: Int64 = 4_000
    /// The assumed duration of a sound that is not prepared yet.
    public var assumedDuration: Int64 = 4_000
    /// The time for which a process may make a summary. Afterwards, another process makes it.
    public var summaryLease: Int64 = 4_000
    /// The largest number of sounds that wait as local notifications. iOS keeps 64 of an app and drops the others
    /// (Apple's documentation of `UILocalNotification`); some are left for the app itself.
    public var pendingLimit = 56

    public init() {}
  }

  /// A notification that waits for its turn.
  public struct Entry: Sendable, Hashable, Codable {
    /// The number of the notification on this phone. Numbers rise in the order of arrival and are never reused.
    public var number: Int64
    /// The announcement's id.
    public var id: String
    public var category: PlaybackItem.Category
    public var sequence: Int64?
    public var arrivedAt: Int64
    /// The moment since which the notification waits for numbers before its own. It is later than the arrival if one
    /// of them was there and its process ended.
    var waitsSince: Int64
    /// The latest moment of the hand-over.
    public var deadline: Int64
    /// The process that works on the notification; nil if it is not known.
    var process: String?
    /// The moment after which the entry's process counts as ended.
    public var aliveUntil: Int64
    /// The beginning of the work on a notification that the service named; nil before it.
    var workBeganAt: Int64?
    /// The duration of the prepared sound; nil until it is prepared.
    public var duration: Int64?
    /// The duration of the clip that the push names; nil if it names none.
    var expectedDuration: Int64?
    /// Whether the service named the notification as one that may have been lost. Its process may end the work on it at
    /// any time.
    var isMissed: Bool
    /// The sum in decimal text and the currency of a received payment; nil for all that cannot be summarised.
    public var amount: Amount?
    /// The language of the announcement (BCP 47).
    public var locale: String
    /// The sound that iOS plays if the process ends early: the one that the push names.
    public var originalSound: String?
    /// The number of the entry whose process makes a summary for this one.
    public var summary: Int64?
    /// The moment at which the sound begins as a local notification; nil if it is part of the hand-over.
    public var slot: Int64?
  }

  /// An amount in decimal text, with its ISO 4217 code.
  public struct Amount: Sendable, Hashable, Codable {
    public var value: String
    public var currency: String

    public init(value: String, currency: String) {
      self.value = value
      self.currency = currency
    }
  }

  /// How an announcement was heard.
  public enum Outcome: String, Sendable, Hashable, Codable {
    /// It was spoken, or its sound was played.
    case heard
    /// A summary stood for it.
    case summarised
    /// Its process ended early, so iOS showed the push as it was sent.
    case shownAsSent
  }

  struct Ended: Sendable, Hashable, Codable {
    var id: String
    var outcome: Outcome
  }

  /// A sequence number above ``lastSequence`` that is not waited for.
  struct Settled: Sendable, Hashable, Codable {
    var sequence: Int64
    var at: Int64
  }

  /// A request to the service for missing announcements.
  struct CatchUp: Sendable, Hashable, Codable {
    /// The number of the notification whose process asks.
    var number: Int64
    /// The moment before which nobody asks again for the same numbers.
    var until: Int64
    /// The highest number that the request covers.
    var upTo: Int64
    /// The numbers of ``NotificationOrder/unheard`` and ``NotificationOrder/postponed`` at the beginning of the
    /// request, without the numbers that were added again meanwhile. Numbers that the service does not name are
    /// forgotten.
    var asked: [Int64]
    var isEnded = false
  }

  /// A lost push whose sound could not be had.
  struct Failure: Sendable, Hashable, Codable {
    var sequence: Int64
    /// The number of tries.
    var tries: Int
    /// The time of the last try that counts.
    var at: Int64
  }

  /// The number of passed sequence numbers that are remembered as not heard: as many as the service names at once.
  static let unheardCount = 1_000

  /// The number of lost pushes without a sound that are remembered.
  static let failureCount = 100

  /// The number of ended announcements that are remembered, so that a push that arrives twice is heard once.
  static let rememberedCount = 500

  /// The waiting notifications, in the order of arrival.
  public private(set) var entries: [Entry] = []
  /// The highest sequence number that was heard or passed over; nil before the first.
  public private(set) var lastSequence: Int64?
  /// The number after which the service knows all that was not heard; nil before the first number.
  var lastHeard: Int64? { lastSequence.map { min($0, unheard.first?.plus(-1) ?? .max) } }
  /// The moment at which the next sound may begin.
  public internal(set) var freeAt: Int64 = 0

  private(set) var lastNumber: Int64 = 0
  private(set) var ended: [Ended] = []
  private(set) var settled: [Settled] = []
  /// The sequence numbers that were passed over, or handed over without their amount, in ascending order. The service is
  /// asked for them again.
  public private(set) var unheard: [Int64] = []
  /// The moments at which handed-over sounds begin as local notifications, in ascending order.
  private(set) var pending: [Int64] = []
  /// The sequence numbers above ``lastSequence`` of announcements that arrived and were not heard: as many local
  /// notifications waited as the system allows, or the work on them ended early. They are in ascending order. Nothing
  /// after them is heard before the service was asked for them again.
  private(set) var postponed: [Int64] = []
  private(set) var failures: [Failure] = []
  /// The number of the last requests to the service that failed, one after the other.
  private(set) var failedRequests = 0
  private(set) var summaryUntil: Int64 = 0
  /// The number of the newest notification at the moment when a summary could not be made. No summary is tried until a
  /// newer notification arrives.
  private(set) var refusedSummary: Int64 = 0
  private(set) var catchUp: CatchUp?
  /// The latest time that a process has reported. An earlier time means that the phone was restarted.
  private(set) var toldTime: Int64 = 0

  /// Creates an order in which nothing was heard yet.
  public init() {}

  /// Reads an order that any version of the app has written. What this version cannot read is as in a new order, so that
  /// an update of the app does not forget the rest.
  ///
  /// - Throws: `DecodingError` if it is not the text of an order at all.
  public init(from decoder: any Decoder) throws {
    let stored = try decoder.container(keyedBy: CodingKeys.self)
    func read<Value: Decodable>(_ key: CodingKeys, into value: inout Value) {
      if let known = try? stored.decode(Value.self, forKey: key) { value = known }
    }
    read(.entries, into: &entries)
    lastSequence = try? stored.decode(Int64.self, forKey: .lastSequence)
    read(.freeAt, into: &freeAt)
    read(.lastNumber, into: &lastNumber)
    read(.ended, into: &ended)
    read(.settled, into: &settled)
    read(.unheard, into: &unheard)
    read(.pending, into: &pending)
    read(.postponed, into: &postponed)
    read(.failures, into: &failures)
    read(.failedRequests, into: &failedRequests)
    read(.summaryUntil, into: &summaryUntil)
    read(.refusedSummary, into: &refusedSummary)
    catchUp = try? stored.decode(CatchUp.self, forKey: .catchUp)
    read(.toldTime, into: &toldTime)
  }

  // MARK: Arrival

  /// A notification that arrives.
  public struct Arrival: Sendable, Hashable {
    public var id: String
    public var category: PlaybackItem.Category
    public var sequence: Int64?
    public var amount: Amount?
    public var locale: String
    public var originalSound: String?
    /// The duration in ms of the clip that the push names; nil if it names none.
    public var expectedDuration: Int64?

    public init(
      id: String, category: PlaybackItem.Category, sequence: Int64? = nil, amount: Amount? = nil, locale: String,
      originalSound: String? = nil, expectedDuration: Int64? = nil
    ) {
      self.id = id
      self.category = category
      self.sequence = sequence
      self.amount = amount
      self.locale = locale
      self.originalSound = originalSound
      self.expectedDuration = expectedDuration
    }
  }

  /// Adds a notification.
  ///
  /// A push that is late takes the place of the one that the service named in its stead, because iOS waits for it.
  ///
  /// - Parameters:
  ///   - isMissed: Whether the service named it as one that may have been lost. Such a notification is only added if its
  ///     number was not heard, because the ids of old announcements are forgotten.
  ///   - start: The begin of the work on it, from which the budget counts; nil for the present.
  /// - Returns: Its number; nil if the announcement waits already or was heard, so that this notification must be
  ///   silent.
  public mutating func arrive(
    _ new: Arrival, isMissed: Bool = false, process: String? = nil, since start: Int64? = nil, at now: Int64,
    _ settings: Settings
  ) -> Int64? {
    if !isMissed { entries.removeAll { $0.id == new.id && $0.isMissed && $0.slot == nil && $0.summary == nil } }
    guard !entries.contains(where: { $0.id == new.id }), !wasHeard(new.id) else { return nil }
    if isMissed {
      guard let sequence = new.sequence else { return nil }
      let isSettled = sequence <= lastSequence ?? .min || settled.contains { $0.sequence == sequence }
      guard !isSettled || unheard.contains(sequence) else { return nil }
      // What was heard without its amount waits for its turn like the others.
      settled.removeAll { $0.sequence == sequence }
    }
    postponed.removeAll { $0 == new.sequence }
    lastNumber = lastNumber.plus(1)
    entries.append(
      Entry(
        number: lastNumber, id: new.id, category: new.category, sequence: new.sequence, arrivedAt: now,
        waitsSince: now, deadline: min(start ?? now, now).plus(settings.budget).plus(-settings.reserve),
        process: process, aliveUntil: now.plus(settings.lease),
        expectedDuration: new.expectedDuration.map { max(0, $0) },
        isMissed: isMissed, amount: new.amount,
        locale: new.locale,
        // iOS shows nothing for a lost push if its process ends.
        originalSound: isMissed ? nil : new.originalSound))
    return lastNumber
  }

  /// Whether an announcement was heard, alone or in a summary. One that iOS showed as it was sent may not have been.
  func wasHeard(_ id: String) -> Bool { outcome(of: id).map { $0 != .shownAsSent } ?? false }

  /// How an announcement was heard; nil if it was not, or is forgotten.
  public func outcome(of id: String) -> Outcome? { ended.last { $0.id == id }?.outcome }

  /// Returns the waiting notification with a number.
  public func entry(_ number: Int64) -> Entry? { entries.first { $0.number == number } }

  /// Reports that the sound of a notification is ready, or that a better one is.
  public mutating func prepared(_ number: Int64, duration: Int64, _ settings: Settings) {
    guard let entry = entry(number) else { return }
    let duration = max(0, duration)
    change(number) { $0.duration = duration }
    // Those that were given a later time must not begin before this one ends.
    let longer = duration.minus(entry.assumedDuration(settings))
    guard let slot = entry.slot, longer > 0 else { return }
    for index in entries.indices where entries[index].slot ?? .min > slot {
      entries[index].slot = entries[index].slot?.plus(longer)
    }
    freeAt = freeAt.plus(longer)
  }

  /// Says that the process of a notification still works. This renews all notifications of the process, because each
  /// change is written to the disk. Lost ones are renewed by each other only: their works may have ended.
  public mutating func renew(_ number: Int64, at now: Int64, _ settings: Settings) {
    guard let entry = entry(number), isRenewalDue(entry, at: now, settings) else { return }
    for index in entries.indices {
      let other = entries[index]
      let isSame = entry.process != nil && other.process == entry.process && other.isMissed == entry.isMissed
      if isSame || entries[index].number == number { entries[index].aliveUntil = now.plus(settings.lease) }
    }
    if catchUp?.number == number, catchUp?.isEnded == false { catchUp?.until = now.plus(settings.catchUpLease) }
  }

  /// Says that the work on a notification begins, later than it arrived. Its time counts from then on.
  mutating func beginAgain(_ number: Int64, at now: Int64, _ settings: Settings) {
    change(number) {
      $0.workBeganAt = now
      $0.deadline = now.plus(settings.budget).plus(-settings.reserve)
    }
  }

  private func isRenewalDue(_ entry: Entry, at now: Int64, _ settings: Settings) -> Bool {
    entry.aliveUntil.plus(-settings.lease / 2) <= now
  }

  /// Whether the process of a notification must ask for its turn. Otherwise, asking would change nothing.
  func concerns(_ number: Int64, at now: Int64, _ settings: Settings) -> Bool {
    guard let entry = entry(number) else { return true }
    if entry.slot.map({ entry.duration != nil || now >= $0 }) == true || now >= entry.deadline
      || isRenewalDue(entry, at: now, settings)
    {
      return true
    }
    if let summary = entry.summary, summary != number, now < summaryUntil { return false }
    return now >= freeAt
  }

  /// Removes the lost notifications of a process that ends its work on them. Their numbers become missing ones again.
  mutating func releaseMissed(of process: String, at now: Int64, _ settings: Settings) {
    for entry in entries where entry.isMissed && entry.process == process {
      entries.removeAll { $0.number == entry.number }
      countUnfinishedTry(for: entry, at: now, settings)
      missAgain(entry.sequence, at: now)
      for index in entries.indices where entries[index].summary == entry.number { entries[index].summary = nil }
    }
  }
}

extension NotificationOrder.Entry {
  /// The duration of the sound in ms, as far as it is known.
  func assumedDuration(_ settings: NotificationOrder.Settings) -> Int64 {
    duration ?? expectedDuration ?? settings.assumedDuration
  }
}

extension NotificationOrder {
  /// What the process of a notification does next.
  public enum Turn: Sendable, Hashable {
    /// It asks again at that moment, in ms, or when the order has changed.
    case wait(until: Int64)
    /// It hands over with its sound at once. The order counts the sound as playing.
    case speak
    /// It makes a summary for these payments, of which it is the first, and calls
    /// ``NotificationOrder/beginSummary(_:of:lasting:at:_:)`` or ``NotificationOrder/refuseSummary(_:)``.
    case summarise([Entry])
    /// It hands over without a sound: a summary stands for it.
    case inSummary
    /// It hands over without a sound, and adds a local notification whose sound begins at that moment, in ms.
    case later(at: Int64)
    /// It hands over without a sound, because as many local notifications wait as the system allows. The service is
    /// asked for the announcement again later.
    case postponed
    /// The order does not know it any more: its process was stopped for so long that it counted as ended.
    case forgotten
  }

  /// Returns what the process of a notification does next. If it says `speak` or `later`, the order counts the
  /// notification as heard from then on; ``note(_:)`` corrects that if the system refuses a local notification.
  ///
  /// - Parameters:
  ///   - number: The number of the notification, which must be prepared before it can speak.
  ///   - id: Its announcement's id.
  ///   - isExact: Whether its sound says all that it should. If not, the service is asked for it again later.
  ///   - isLast: Whether iOS is about to end the process, so that it can neither wait nor make a summary.
  ///   - canAsk: Whether the service can be asked for missing announcements.
  public mutating func turn(
    of number: Int64, _ id: String, at now: Int64, isExact: Bool = true, isLast: Bool = false, canAsk: Bool,
    _ settings: Settings
  ) -> Turn {
    guard let entry = entry(number) else { return outcome(of: id) == .summarised ? .inSummary : .forgotten }
    endLateSummary(at: now)
    let mustEnd = isLast || now >= entry.deadline
    var isExact = isExact
    if entry.isMissed, !isExact, entry.duration != nil {
      guard isLastTry(for: entry, at: now, settings) else { return tryAgain(entry, at: now, settings) }
      isExact = true
    }
    if let slot = entry.slot {
      // A sound that is being prepared has time until its own begin.
      guard entry.duration != nil || mustEnd || now >= slot else { return .wait(until: min(slot, entry.deadline)) }
      return later(entry, at: slot, isExact: isExact)
    }
    guard isSummaryBeingMade(besides: number) || now < freeAt else {
      let turn = nextTurn(of: entry, isExact: isExact, at: now, canAsk: canAsk, settings)
      switch turn {
      case .wait where mustEnd, .summarise where isLast:
        return later(entry, isExact: isExact, at: now, canAsk: canAsk, settings)
      default: return turn
      }
    }
    if mustEnd { return later(entry, isExact: isExact, at: now, canAsk: canAsk, settings) }
    let isPlaying = now < freeAt
    return .wait(until: min(entry.deadline, isPlaying ? freeAt : now.plus(Self.pollTime)))
  }

  /// The longest time between two questions of a process whose turn depends on another process.
  static let pollTime: Int64 = 1_000

  private mutating func nextTurn(
    of entry: Entry, isExact: Bool, at now: Int64, canAsk: Bool, _ settings: Settings
  ) -> Turn {
    let must = isBacklogTooLong(at: now, canAsk: canAsk, settings)
    var order = playbackOrder(canAsk: canAsk, settings, summarises: must)
    switch order.next(at: now) {
    case .play(let item, let turn):
      guard item.number == entry.number, let duration = entry.duration,
        !followsPostponed(entry, canAsk: canAsk, settings)
      else { break }
      adopt(order, [turn])
      hear(entry.id, entry.sequence, isExact: isExact, at: now)
      freeAt = now.plus(duration).plus(settings.gap)
      return .speak
    case .summarise(let items):
      guard items.first?.number == entry.number, !followsPostponed(entry, canAsk: canAsk, settings) else { break }
      let members = items.compactMap { item in entries.first { $0.number == item.number } }
      for member in members { change(member.number) { $0.summary = entry.number } }
      summaryUntil = now.plus(settings.summaryLease)
      return .summarise(members)
    case .wait(let until): return .wait(until: min(until, entry.deadline))
    case .interrupt, .idle: break
    }
    return .wait(until: min(entry.deadline, now.plus(Self.pollTime)))
  }

  // MARK: Summaries

  /// Reports that the summary is ready, and begins it.
  ///
  /// - Parameters:
  ///   - number: The notification that is handed over with the summary.
  ///   - members: The numbers of the payments, in the order of the decision.
  ///   - duration: The duration of the summary's sound, in ms.
  /// - Returns: Whether the summary may be handed over. If not, its process asks for its turn again.
  public mutating func beginSummary(
    _ number: Int64, of members: [Int64], lasting duration: Int64, at now: Int64, canAsk: Bool, _ settings: Settings
  ) -> Bool {
    guard now >= freeAt, members.first == number,
      members.allSatisfy({ member in entry(member)?.summary == number })
    else { return false }
    var order = playbackOrder(canAsk: canAsk, settings, summarises: true)
    let item = PlaybackItem(number: lastNumber.plus(1), category: .payment, acceptedAt: now)
    guard let payments = order.began(summary: item, of: members, at: now) else {
      dissolve(number)
      return false
    }
    adopt(order, payments.map(\.turn))
    for entry in entries where members.contains(entry.number) {
      remember(entry.id, .summarised)
      setUnheard(entry.sequence.map { [$0] } ?? [], false)
    }
    entries.removeAll { members.contains($0.number) }
    freeAt = now.plus(duration).plus(settings.gap)
    return true
  }

  /// Reports that no summary can be made: payments are heard one by one until another one arrives.
  public mutating func refuseSummary(_ number: Int64) {
    dissolve(number)
    refusedSummary = lastNumber
  }

  private mutating func dissolve(_ number: Int64) {
    for index in entries.indices where entries[index].summary == number { entries[index].summary = nil }
    summaryUntil = 0
  }

  private mutating func endLateSummary(at now: Int64) {
    guard summaryUntil <= now, let number = entries.lazy.compactMap(\.summary).first else { return }
    dissolve(number)
  }

  private func isSummaryBeingMade(besides number: Int64) -> Bool {
    entries.contains { $0.summary != nil && $0.summary != number }
  }

  /// Whether a notification would begin after its deadline if each of them were heard alone.
  private func isBacklogTooLong(at now: Int64, canAsk: Bool, _ settings: Settings) -> Bool {
    guard refusedSummary < lastNumber else { return false }
    let order = playbackOrder(canAsk: canAsk, settings, summarises: false)
    var start = now
    for item in order.upcoming(entries.count, at: now) {
      guard let entry = entry(item.number) else { continue }
      if start > entry.deadline.plus(-settings.gap) { return true }
      start = start.plus(entry.assumedDuration(settings)).plus(settings.gap)
    }
    return false
  }

  // MARK: Local notifications

  /// Gives a notification that must end now, and those before it, a time at which they are heard as local
  /// notifications.
  private mutating func later(
    _ entry: Entry, isExact: Bool, at now: Int64, canAsk: Bool, _ settings: Settings
  ) -> Turn {
    let order = playbackOrder(canAsk: canAsk, settings, summarises: false)
    if let summary = entry.summary { dissolve(summary) }
    pending.removeAll { $0 <= now }
    var places = settings.pendingLimit - pending.count - entries.count { $0.slot != nil }
    for item in order.upcoming(entries.count, at: now) {
      guard let waiting = self.entry(item.number) else { continue }
      if waiting.slot == nil {
        guard !canAsk || mayBeLater(waiting, besides: entry, places: places, settings) else {
          return postpone(entry, at: now)
        }
        places -= 1
        let start = max(now, freeAt)
        change(item.number) { $0.slot = start }
        freeAt = start.plus(waiting.assumedDuration(settings)).plus(settings.gap)
      }
      if item.number == entry.number { break }
    }
    return later(entry, at: self.entry(entry.number)?.slot ?? now, isExact: isExact)
  }

  /// Ends a notification whose sound follows as a local notification.
  private mutating func later(_ entry: Entry, at slot: Int64, isExact: Bool) -> Turn {
    hear(entry.id, entry.sequence, isExact: isExact, at: slot)
    pending = (pending + [slot]).sorted()
    return .later(at: slot)
  }

  /// Whether a notification may become a local one. A later number must not be heard before one that was postponed, nor
  /// before a lost push whose sound is not ready, because the work on it may end at any time. A notification without a
  /// number cannot be asked for again, so it always may.
  private func mayBeLater(_ entry: Entry, besides ending: Entry, places: Int, _ settings: Settings) -> Bool {
    guard entry.sequence != nil else { return true }
    let isUncertain = entry.isMissed && entry.duration == nil && entry.number != ending.number
    return places > 0 && !isUncertain && !followsPostponed(entry, canAsk: true, settings)
  }

  /// Ends a notification that is heard another time: its number becomes a missing one.
  private mutating func postpone(_ entry: Entry, at now: Int64) -> Turn {
    entries.removeAll { $0.number == entry.number }
    askAgain(for: entry.sequence, at: now)
    return .postponed
  }

  // MARK: Lost pushes without a sound

  /// Whether a lost push is heard now with the best sound there is, because its own could not be had in several tries.
  private func isLastTry(for entry: Entry, at now: Int64, _ settings: Settings) -> Bool {
    guard let sequence = entry.sequence else { return true }
    guard let failure = failures.first(where: { $0.sequence == sequence }) else { return settings.soundTries <= 1 }
    return failure.tries + 1 >= settings.soundTries && now >= failure.at.plus(settings.soundTryPause)
  }

  /// Ends a lost push whose sound could not be had. The service is asked for it again after the usual pause.
  private mutating func tryAgain(_ entry: Entry, at now: Int64, _ settings: Settings) -> Turn {
    guard let sequence = entry.sequence else { return .forgotten }
    countTry(for: sequence, at: now, settings)
    return postpone(entry, at: now)
  }

  /// Counts a notification as handed over.
  private mutating func hear(_ id: String, _ sequence: Int64?, isExact: Bool, at now: Int64) {
    entries.removeAll { $0.id == id }
    // Its process may have counted as ended before.
    postponed.removeAll { $0 == sequence }
    settle(sequence, at: now)
    passSettledNumbers()
    failures.removeAll { $0.sequence == sequence }
    let isHeard = isExact || sequence == nil
    setUnheard(sequence.map { [$0] } ?? [], !isHeard)
    if isHeard { remember(id, .heard) } else { ended.removeAll { $0.id == id } }
  }

  /// Notes a hand-over that was made without the order, or one that the order knows and that was not heard.
  mutating func note(_ handOver: UnwrittenHandOver) {
    if let summary = entries.first(where: { $0.id == handOver.id })?.summary { dissolve(summary) }
    hear(handOver.id, handOver.sequence, isExact: handOver.isExact, at: handOver.at)
    freeAt = max(freeAt, handOver.until)
  }

  /// Moves ``lastSequence`` over the numbers that follow it and are not waited for.
  private mutating func passSettledNumbers() {
    guard var last = lastSequence else { return }
    while settled.contains(where: { $0.sequence == last.plus(1) }) { last = last.plus(1) }
    lastSequence = last
    settled.removeAll { $0.sequence <= last }
  }

  // MARK: Missing numbers

  /// Returns the number after which the service must be asked for missing announcements, and notes that the process of
  /// a notification asks.
  ///
  /// - Returns: Nil if no number is missing, if it is too soon, or if another process asks.
  public mutating func claimCatchUp(_ number: Int64, at now: Int64, _ settings: Settings) -> Int64? {
    guard let last = lastSequence, let time = catchUpTime(settings), time <= now else { return nil }
    let upTo = gap(after: last)?.upTo ?? unheard.last ?? last
    catchUp = CatchUp(number: number, until: now.plus(settings.catchUpLease), upTo: upTo, asked: unheard + postponed)
    return lastHeard
  }

  /// The highest number that the present request for missing announcements covers; nil if there is none.
  var catchUpEnd: Int64? { catchUp?.upTo }

  /// Returns the moment at which ``claimCatchUp(_:at:_:)`` may succeed; nil if no number is missing.
  public func catchUpTime(_ settings: Settings) -> Int64? {
    guard let last = lastSequence else { return nil }
    guard let gap = gap(after: last) else {
      // Nothing waits for what was passed over.
      return unheard.isEmpty ? nil : (catchUp?.until ?? 0).plus(settings.catchUpPause)
    }
    let isNew = catchUp.map { $0.isEnded && $0.upTo < gap.upTo } ?? true
    return max(gap.noticed.plus(settings.catchUpDelay), isNew ? .min : catchUp?.until ?? .min)
  }

  /// Reports the end of a request for missing announcements. Those that the service knows have arrived before, as
  /// notifications of their own.
  ///
  /// - Parameters:
  ///   - number: The number with which ``claimCatchUp(_:at:_:)`` was called.
  ///   - upTo: The end of the request, ``catchUpEnd`` after that call.
  ///   - isAnswered: Whether the service answered.
  ///   - isComplete: Whether the service named all announcements up to the end of the request. Numbers that it did not
  ///     name are then not waited for.
  mutating func endCatchUp(
    _ number: Int64, upTo: Int64, isAnswered: Bool = true, isComplete: Bool, at now: Int64, _ settings: Settings
  ) {
    failedRequests = isAnswered ? 0 : min(failedRequests + 1, settings.mostFailedRequests)
    // There may be a newer request, because this one took long.
    guard let ended = catchUp, ended.number == number, ended.upTo == upTo, !ended.isEnded else { return }
    catchUp?.isEnded = true
    catchUp?.until = now.plus(settings.catchUpLease)
    guard isComplete, let last = lastSequence else { return }
    let known = Set(entries.compactMap(\.sequence))
    let isForgotten = { (sequence: Int64) in
      ended.asked.contains(sequence) && sequence <= upTo && !known.contains(sequence)
    }
    unheard.removeAll(where: isForgotten)
    postponed.removeAll(where: isForgotten)
    guard last < upTo, upTo.minus(last) < 10_000 else { return }
    let waiting = known.union(postponed)
    for sequence in last.plus(1)...upTo where !waiting.contains(sequence) { settle(sequence, at: now) }
    passSettledNumbers()
  }

  /// The highest missing number, and when the gap was noticed.
  private func gap(after last: Int64) -> (upTo: Int64, noticed: Int64)? {
    let known =
      entries.compactMap { entry in entry.sequence.map { ($0, entry.waitsSince) } }
      + settled.map { ($0.sequence, $0.at) }
    let later = known.filter { $0.0 > last }
    guard let highest = later.map(\.0).max(), let noticed = later.map(\.1).min() else { return nil }
    let numbers = Set(later.map(\.0))
    // All numbers between are there.
    guard highest.minus(last) > Int64(numbers.count) else { return nil }
    return (highest - 1, noticed)
  }

  // MARK: The order of the sounds

  private func playbackOrder(canAsk: Bool, _ settings: Settings, summarises: Bool) -> PlaybackOrder {
    let patience = canAsk ? settings.catchUpPatience : settings.sequencePatience
    var order = PlaybackOrder(
      settings: PlaybackOrder.Settings(
        sequencePatience: patience, longestBacklog: summarises ? 1 : nil, assumedDuration: settings.assumedDuration),
      lastSequence: lastSequence)
    for number in settled { order.settle(number.sequence, acceptedAt: number.at) }
    for entry in entries {
      // A summary must not pass a number that the service must name again.
      let isPayment = entry.isSummarisable && !followsPostponed(entry, canAsk: canAsk, settings)
      order.accept(
        PlaybackItem(
          number: entry.number, category: isPayment ? .payment : entry.category.alone,
          sequence: entry.sequence, acceptedAt: entry.waitsSince, durationMilliseconds: entry.duration))
    }
    return order
  }
}

extension NotificationOrder.Entry {
  /// Whether a summary may stand for the notification.
  var isSummarisable: Bool { category == .payment && amount != nil && slot == nil }
}

extension PlaybackItem.Category {
  /// The category of a notification that is heard alone. A summary stands for payments only, and a refund takes its
  /// turn among them.
  fileprivate var alone: PlaybackItem.Category { self == .payment ? .refund : self }
}

/// What is known of the sequence numbers: which were heard or passed over, and which the service is asked for again.
extension NotificationOrder {
  private mutating func change(_ number: Int64, _ change: (inout Entry) -> Void) {
    guard let index = entries.firstIndex(where: { $0.number == number }) else { return }
    change(&entries[index])
  }

  private mutating func remember(_ id: String, _ outcome: Outcome) {
    ended.removeAll { $0.id == id }
    ended.append(Ended(id: id, outcome: outcome))
    if ended.count > Self.rememberedCount { ended.removeFirst(ended.count - Self.rememberedCount) }
  }

  /// Makes the number of a removed notification a missing one again. A request whose answer named it, or is on its way,
  /// does not end it: the service is asked anew.
  private mutating func missAgain(_ sequence: Int64?, at now: Int64) {
    catchUp = nil
    askAgain(for: sequence, at: now)
  }

  /// Notes that the service must be asked again for a number.
  private mutating func askAgain(for sequence: Int64?, at now: Int64) {
    guard let sequence else { return }
    // Before the first sound, only the numbers that have arrived tell after which number to ask.
    if lastSequence == nil { lastSequence = ([sequence] + entries.compactMap(\.sequence)).min()?.plus(-1) }
    guard sequence > lastSequence ?? .min else { return setUnheard([sequence], true) }
    if !postponed.contains(sequence) { postponed = (postponed + [sequence]).sorted() }
    catchUp?.asked.removeAll { $0 == sequence }
    waitAnew(for: sequence, since: now)
  }

  /// Counts a try to get the sound of a lost push.
  mutating func countTry(for sequence: Int64, at now: Int64, _ settings: Settings) {
    guard let index = failures.firstIndex(where: { $0.sequence == sequence }) else {
      // The lowest numbers are remembered, because the others are heard after them.
      failures = (failures + [Failure(sequence: sequence, tries: 1, at: now)]).sorted { $0.sequence < $1.sequence }
      failures = Array(failures.prefix(Self.failureCount))
      return
    }
    guard now >= failures[index].at.plus(settings.soundTryPause) else { return }
    failures[index].tries += 1
    failures[index].at = now
  }

  /// Counts a try for a lost push whose work ended before its sound was ready, if the work had enough time. Otherwise, a
  /// server that never answers would let all later payments wait for ever.
  private mutating func countUnfinishedTry(for entry: Entry, at now: Int64, _ settings: Settings) {
    guard entry.isMissed, entry.duration == nil, let sequence = entry.sequence, let beganAt = entry.workBeganAt,
      now >= beganAt.plus(settings.shortestTry)
    else { return }
    countTry(for: sequence, at: now, settings)
  }

  /// Whether a notification must wait for an earlier one that the service must name again. It need not wait if the
  /// service cannot be asked.
  private func followsPostponed(_ entry: Entry, canAsk: Bool, _ settings: Settings) -> Bool {
    guard canAsk, failedRequests < settings.mostFailedRequests, let sequence = entry.sequence else { return false }
    return sequence > postponed.first ?? .max
  }

  /// Lets the notifications after a sequence number wait for it, although they have waited before.
  private mutating func waitAnew(for sequence: Int64?, since now: Int64) {
    guard let sequence else { return }
    for index in entries.indices where entries[index].sequence ?? .min > sequence { entries[index].waitsSince = now }
  }

  /// Notes a sequence number that is not waited for any more.
  private mutating func settle(_ sequence: Int64?, at now: Int64) {
    guard let sequence, sequence > lastSequence ?? .min, !settled.contains(where: { $0.sequence == sequence }) else {
      return
    }
    settled.append(Settled(sequence: sequence, at: now))
  }

  /// Takes over the sequence numbers that an order has passed.
  private mutating func adopt(_ order: PlaybackOrder, _ turns: [PlaybackOrder.SequenceTurn]) {
    lastSequence = order.lastSequence
    settled.removeAll { $0.sequence <= lastSequence ?? .min }
    postponed.removeAll { $0 <= lastSequence ?? .min }
    for case .afterMissing(let ranges) in turns {
      for range in ranges { setUnheard(Array(range.suffix(Self.unheardCount)), true) }
    }
  }

  private mutating func setUnheard(_ sequences: [Int64], _ isUnheard: Bool) {
    unheard.removeAll { sequences.contains($0) }
    guard isUnheard else { return }
    // The present request asks for what was not heard before it, not for what was not heard since.
    catchUp?.asked.removeAll { sequences.contains($0) }
    unheard = (unheard + sequences).sorted().suffix(Self.unheardCount)
  }
}

extension Int64 {
  /// Returns the sum, clamped to the range of `Int64`.
  func plus(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  /// Returns the difference, clamped to the range of `Int64`.
  func minus(_ other: Int64) -> Int64 {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other < 0 ? .max : .min) : difference
  }
}

/// What happens to notifications whose processes end, or whose phone begins anew.
extension NotificationOrder {
  /// Removes the notifications whose processes have ended. iOS has shown them as they were sent.
  ///
  /// - Parameter isSound: Returns whether the phone has a sound of this name, so that iOS has played it.
  /// - Returns: Whether anything was removed.
  public mutating func removeAbandoned(at now: Int64, _ settings: Settings, isSound: (String) -> Bool) -> Bool {
    let abandoned = entries.filter { $0.aliveUntil < now }
    guard !abandoned.isEmpty else { return false }
    for entry in abandoned {
      entries.removeAll { $0.number == entry.number }
      // The clip was heard. Without it, the amount was not: its number stays missing, and the service is asked for it.
      guard entry.originalSound.map(isSound) == true else {
        countUnfinishedTry(for: entry, at: now, settings)
        missAgain(entry.sequence, at: now)
        continue
      }
      remember(entry.id, .shownAsSent)
      settle(entry.sequence, at: now)
      setUnheard(entry.sequence.map { [$0] } ?? [], false)
    }
    for index in entries.indices where abandoned.contains(where: { $0.number == entries[index].summary }) {
      entries[index].summary = nil
    }
    return true
  }

  /// Forgets all times if the phone was restarted, because its clock began again. No process of before is left.
  public mutating func notice(_ now: Int64) {
    // Some seconds between two processes' readings of the clock do not matter.
    guard now < toldTime.minus(5_000) || now > toldTime.plus(1_000) else { return }
    if now < toldTime {
      entries = []
      freeAt = 0
      pending = []
      settled = settled.map { Settled(sequence: $0.sequence, at: now) }
      for index in failures.indices { failures[index].at = now }
      summaryUntil = 0
      catchUp = nil
    }
    toldTime = now
  }

  /// Continues after a number that the service named when the device registered. The service begins its numbers again
  /// if it has forgotten the device.
  ///
  /// - Parameters:
  ///   - sequence: The number that the service named.
  ///   - known: ``lastSequence`` before the device asked. A push that arrived meanwhile may have raised it, and does not
  ///     mean that the service has forgotten the device.
  public mutating func restart(after sequence: Int64, known: Int64? = nil) {
    guard let last = lastSequence else {
      lastSequence = sequence
      settled.removeAll { $0.sequence <= sequence }
      postponed.removeAll { $0 <= sequence }
      return
    }
    guard let known = known, known > sequence, last >= known else { return }
    lastSequence = sequence
    settled = []
    unheard = []
    postponed = []
    failures = []
  }
}
