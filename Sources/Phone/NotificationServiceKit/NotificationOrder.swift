// SPDX-License-Identifier: Apache-2.0

import Foundation
public import PlaybackOrder

// This file is long, because only methods in this file can change the private state of the order.

/// The order of the notifications of an app group: the notifications that wait for their turn, and a record of those
/// that were handed over.
///
/// All extension processes of the group share one order, in a file of the group container (``NotificationOrderFile``).
/// The order is a value without a clock and without files. Times are in ms, from a clock that all processes share and
/// that never goes back until the phone restarts. No method throws or traps, whatever the numbers and times are.
///
/// A notification waits until the sound before it has ended, because otherwise iOS plays the sounds of two
/// notifications at the same time. It also waits a short time for a missing sequence number, because APNs may reorder
/// pushes. If a notification would wait longer than iOS allows, one summary replaces all waiting payments.
public struct NotificationOrder: Sendable, Hashable, Codable {
  /// The settings of an order. Times are in ms.
  public struct Settings: Sendable, Hashable {
    /// The longest time from the arrival of a notification to its hand-over, including ``reserve``. iOS allows about 30
    /// s (observed), and other service extensions take 25 s.
    public var budget: Int64 = 25_000
    /// The part of the budget that is kept for the last decision and the hand-over, which take time on a busy phone.
    public var reserve: Int64 = 2_000
    /// The silence between two sounds.
    public var gap: Int64 = 250
    /// The longest wait for a missing sequence number if no service can be asked for it.
    public var sequencePatience: Int64 = 2_000
    /// The longest wait for a missing sequence number if the service can be asked for it.
    public var catchUpPatience: Int64 = 6_000
    /// The wait for a missing sequence number before the service is asked for it. Most reordered pushes arrive within
    /// this time.
    public var catchUpDelay: Int64 = 500
    /// The wait before the service is asked again for announcements that were skipped.
    public var catchUpPause: Int64 = 10_000
    /// After this number of failed requests in a row, a notification no longer waits for an earlier one that only the
    /// service can send again.
    public var mostFailedRequests = 3
    /// The number of attempts to get the sound of a lost push. At the last attempt, the phone plays the best sound that
    /// it has, such as the tone. An attempt counts only if the attempt before it is at least ``soundTryPause`` ago.
    public var soundTries = 3
    public var soundTryPause: Int64 = 10_000
    /// The shortest duration of an attempt that counts although its process ended before the sound was ready.
    public var shortestTry: Int64 = 2_000
    /// The time without a sign of life after which a process counts as ended. A running process renews its entries at
    /// least once in half of this time, so a process that pauses for less than 4 s does not count as ended.
    public var lease: Int64 = 8_000
    /// The wait before the service is asked again. After the same time without a report from the asking process,
    /// another process asks.
    public var catchUpLease: Int64 = 4_000
    /// The assumed duration of a sound that is not prepared yet.
    public var assumedDuration: Int64 = 4_000
    /// The time after which another process may make a summary if the first process has not made it.
    public var summaryLease: Int64 = 4_000
    /// The largest number of sounds that wait as local notifications. iOS keeps 64 for each app and drops the others
    /// (Apple's documentation of `UILocalNotification`). The other 8 are left for the app's own notifications.
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
    /// The moment from which the notification waits for lower sequence numbers. This is the arrival, or a later moment
    /// if a notification with a lower number arrived but its process ended.
    var waitsSince: Int64
    /// The latest moment at which the notification is handed over.
    public var deadline: Int64
    /// The process that works on the notification; nil if it is not known.
    var process: String?
    /// The moment after which the entry's process counts as ended.
    public var aliveUntil: Int64
    /// The moment when the work on a lost push began; nil before that.
    var workBeganAt: Int64?
    /// The duration of the prepared sound; nil until it is prepared.
    public var duration: Int64?
    /// The duration of the clip that the push names; nil if it names none.
    var expectedDuration: Int64?
    /// Whether the service named the notification because its push may have been lost. The process may end the work on
    /// such a notification at any time.
    var isMissed: Bool
    /// The amount in decimal text and the currency of a received payment; nil for notifications that a summary cannot
    /// include.
    public var amount: Amount?
    /// The language of the announcement (BCP 47).
    public var locale: String
    /// The sound that the push names. iOS plays it if the process ends early.
    public var originalSound: String?
    /// The number of the entry whose process makes a summary for this entry.
    public var summary: Int64?
    /// The moment at which the sound begins as a local notification; nil if it is part of the hand-over.
    public var slot: Int64?
  }

  /// An amount in decimal text, with its ISO 4217 code.
  public struct Amount: Sendable, Hashable, Codable {
    public var value: String
    public var currency: String
  }

  /// The way in which an announcement was heard.
  public enum Outcome: String, Sendable, Hashable, Codable {
    /// The announcement was spoken, or another sound was played for it.
    case heard
    /// A summary replaced the announcement.
    case summarised
    /// The announcement's process ended early, so iOS showed the push as it was sent.
    case shownAsSent
  }

  struct Ended: Sendable, Hashable, Codable {
    var id: String
    var outcome: Outcome
  }

  /// A sequence number above ``lastSequence`` for which no notification waits any more.
  struct Settled: Sendable, Hashable, Codable {
    var sequence: Int64
    var at: Int64
  }

  /// A request to the service for missing announcements.
  struct CatchUp: Sendable, Hashable, Codable {
    /// The number of the notification whose process asks.
    var number: Int64
    /// The moment before which no process asks again for the same numbers.
    var until: Int64
    /// The highest sequence number that the request covers.
    var upTo: Int64
    /// The numbers that were in ``NotificationOrder/unheard`` and ``NotificationOrder/postponed`` when the request
    /// began, without those that were added again during the request. If the service's answer does not name one of
    /// these numbers, the order forgets that number.
    var asked: [Int64]
    var isEnded = false
  }

  /// A lost push whose sound could not be prepared.
  struct Failure: Sendable, Hashable, Codable {
    var sequence: Int64
    /// The number of attempts.
    var tries: Int
    /// The time of the last attempt that counts.
    var at: Int64
  }

  /// The largest number of skipped sequence numbers that the order remembers as not heard. One answer of the service
  /// names at most this many.
  static let unheardCount = 1_000

  /// The largest number of lost pushes without a sound that the order remembers.
  static let failureCount = 100

  /// The number of finished announcements that the order remembers, so that a push that arrives twice is heard once.
  static let rememberedCount = 500

  /// The waiting notifications, in the order of arrival.
  public private(set) var entries: [Entry] = []
  /// The highest sequence number that was heard or skipped; nil before the first.
  public private(set) var lastSequence: Int64?
  /// The sequence number after which the service is asked for announcements. All announcements that were not heard have
  /// higher numbers. Nil before the first number.
  var lastHeard: Int64? { lastSequence.map { min($0, unheard.first?.plus(-1) ?? .max) } }
  /// The moment at which the next sound may begin.
  public internal(set) var freeAt: Int64 = 0

  private(set) var lastNumber: Int64 = 0
  private(set) var ended: [Ended] = []
  private(set) var settled: [Settled] = []
  /// The sequence numbers that were skipped, or whose announcement was handed over without its amount, in ascending
  /// order. The service is asked for them again.
  public private(set) var unheard: [Int64] = []
  /// The moments at which local notifications of earlier hand-overs begin to sound, in ascending order.
  private(set) var pending: [Int64] = []
  /// The sequence numbers above ``lastSequence`` whose announcements arrived but were not heard, in ascending order.
  /// Either the system's limit of waiting local notifications was reached, or the work on them ended early. No
  /// announcement with a higher number is heard before the service was asked for these announcements again.
  private(set) var postponed: [Int64] = []
  private(set) var failures: [Failure] = []
  /// The number of failed requests to the service since the last request that succeeded.
  private(set) var failedRequests = 0
  private(set) var summaryUntil: Int64 = 0
  /// The number of the newest notification when a summary last failed. No new summary is tried until a newer
  /// notification arrives.
  private(set) var refusedSummary: Int64 = 0
  private(set) var catchUp: CatchUp?
  /// The latest time that a process has reported. If a process reports an earlier time, the phone was restarted.
  private(set) var toldTime: Int64 = 0

  /// Creates an order in which nothing was heard yet.
  public init() {}

  /// Reads an order that any version of the app has written. A part that this version cannot read gets the value of a
  /// new order, so that the other parts survive an update of the app.
  ///
  /// - Throws: `DecodingError` if the data is not a JSON object.
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
  }

  /// Adds a notification.
  ///
  /// A late push replaces the entry that the service named for the same announcement, because iOS waits for the push.
  ///
  /// - Parameters:
  ///   - isMissed: Whether the service named the notification because its push may have been lost. Such a notification
  ///     is added only if its sequence number was not heard. Its id is not enough for this check, because the ids of
  ///     old announcements are forgotten.
  ///   - start: The time when the work on the notification began, from which the budget counts; nil for `now`.
  /// - Returns: The number of the notification; nil if its announcement already waits or was heard. The notification
  ///   must then be silent.
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
      // An announcement that was heard without its amount waits for its turn again, like the others.
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
        // iOS shows nothing for a lost push when its process ends.
        originalSound: isMissed ? nil : new.originalSound))
    return lastNumber
  }

  /// Whether an announcement was heard, alone or in a summary. An announcement that iOS showed as it was sent does not
  /// count, because its sound may have failed.
  func wasHeard(_ id: String) -> Bool { outcome(of: id).map { $0 != .shownAsSent } ?? false }

  /// How an announcement was heard; nil if it was not heard, or if the order no longer remembers it.
  public func outcome(of id: String) -> Outcome? { ended.last { $0.id == id }?.outcome }

  /// Returns the waiting notification with this number; nil if there is none.
  public func entry(_ number: Int64) -> Entry? { entries.first { $0.number == number } }

  /// Reports that the sound of a notification is ready, or that a better sound was found.
  public mutating func prepared(_ number: Int64, duration: Int64, _ settings: Settings) {
    guard let entry = entry(number) else { return }
    let duration = max(0, duration)
    change(number) { $0.duration = duration }
    // Sounds that are planned after this one must not begin before it ends.
    let longer = duration.minus(entry.assumedDuration(settings))
    guard let slot = entry.slot, longer > 0 else { return }
    for index in entries.indices where entries[index].slot ?? .min > slot {
      entries[index].slot = entries[index].slot?.plus(longer)
    }
    freeAt = freeAt.plus(longer)
  }

  /// Reports that the process of a notification is still running. All notifications of that process are renewed
  /// together, because each change is written to the disk. The work on lost pushes may end while the other work of the
  /// process continues. A lost push therefore renews only the lost pushes, and any other notification renews only the
  /// others.
  public mutating func renew(_ number: Int64, at now: Int64, _ settings: Settings) {
    guard let entry = entry(number), isRenewalDue(entry, at: now, settings) else { return }
    for index in entries.indices {
      let other = entries[index]
      let isSame = entry.process != nil && other.process == entry.process && other.isMissed == entry.isMissed
      if isSame || entries[index].number == number { entries[index].aliveUntil = now.plus(settings.lease) }
    }
    if catchUp?.number == number, catchUp?.isEnded == false { catchUp?.until = now.plus(settings.catchUpLease) }
  }

  /// Reports that the work on a notification begins some time after its arrival. The budget counts from now on.
  mutating func beginAgain(_ number: Int64, at now: Int64, _ settings: Settings) {
    change(number) {
      $0.workBeganAt = now
      $0.deadline = now.plus(settings.budget).plus(-settings.reserve)
    }
  }

  private func isRenewalDue(_ entry: Entry, at now: Int64, _ settings: Settings) -> Bool {
    entry.aliveUntil.plus(-settings.lease / 2) <= now
  }

  /// Whether the process of a notification must ask for its turn now. If not, asking would change nothing.
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

  /// Removes the lost pushes of a process that ends its work on them. Their sequence numbers become missing again.
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
  /// The duration of the sound in ms: measured, stated by the push, or else assumed.
  func assumedDuration(_ settings: NotificationOrder.Settings) -> Int64 {
    duration ?? expectedDuration ?? settings.assumedDuration
  }
}

extension NotificationOrder {
  /// The next action of the process that works on a notification.
  public enum Turn: Sendable, Hashable {
    /// The process asks again at this time in ms, or when the order has changed.
    case wait(until: Int64)
    /// The process hands over the notification with its sound at once. The order counts the sound as playing.
    case speak
    /// The process makes a summary of these payments. Its own payment is the first. It then calls
    /// ``NotificationOrder/beginSummary(_:of:lasting:at:_:)`` or ``NotificationOrder/refuseSummary(_:)``.
    case summarise([Entry])
    /// The process hands over the notification without a sound, because a summary replaces it.
    case inSummary
    /// The process hands over the notification without a sound, and adds a local notification whose sound begins at
    /// this time in ms.
    case later(at: Int64)
    /// The process hands over the notification without a sound, because the system's limit of waiting local
    /// notifications is reached. The service is asked for the announcement again later.
    case postponed
    /// The order no longer knows the notification, because its process was stopped for so long that it counted as
    /// ended.
    case forgotten
  }

  /// Returns the next action of the process that works on a notification. After `speak` or `later`, the order counts
  /// the notification as heard. If the system then refuses the local notification, ``note(_:)`` corrects this.
  ///
  /// - Parameters:
  ///   - number: The number of the notification, which must be prepared before it can speak.
  ///   - id: The id of its announcement.
  ///   - isExact: Whether its sound says everything that it should. If not, the service is asked for the announcement
  ///     again later.
  ///   - isLast: Whether iOS is about to end the process, so that the process can neither wait nor make a summary.
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
      // A sound that is not ready yet has time until its planned start.
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

  /// The longest time in ms after which a process asks again if its turn depends on another process.
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

  /// Reports that a summary is ready and that its sound begins now.
  ///
  /// - Parameters:
  ///   - number: The notification that is handed over with the summary.
  ///   - members: The numbers of the summarised payments, in the order that ``Turn/summarise(_:)`` gave.
  ///   - duration: The duration of the summary's sound, in ms.
  /// - Returns: Whether the summary may be handed over. If not, the process asks for its turn again.
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

  /// Reports that no summary can be made. The payments are then heard one by one, and a summary is tried again when
  /// another notification arrives.
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

  /// Whether at least one notification would begin too late if all of them were heard one by one.
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

  /// Handles a notification that must be handed over now. The notification, and the notifications before it, get times
  /// at which they are heard as local notifications.
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

  /// Removes a notification whose sound follows as a local notification.
  private mutating func later(_ entry: Entry, at slot: Int64, isExact: Bool) -> Turn {
    hear(entry.id, entry.sequence, isExact: isExact, at: slot)
    pending = (pending + [slot]).sorted()
    return .later(at: slot)
  }

  /// Whether a notification may become a local notification. It must not be heard before a postponed notification with
  /// a lower number. It must not be heard before a lost push whose sound is not ready either, because the work on that
  /// push may end at any time. A notification without a sequence number may always become a local notification, because
  /// the service cannot be asked for it again.
  private func mayBeLater(_ entry: Entry, besides ending: Entry, places: Int, _ settings: Settings) -> Bool {
    guard entry.sequence != nil else { return true }
    let isUncertain = entry.isMissed && entry.duration == nil && entry.number != ending.number
    return places > 0 && !isUncertain && !followsPostponed(entry, canAsk: true, settings)
  }

  /// Removes a notification that is heard later. Its sequence number becomes missing.
  private mutating func postpone(_ entry: Entry, at now: Int64) -> Turn {
    entries.removeAll { $0.number == entry.number }
    askAgain(for: entry.sequence, at: now)
    return .postponed
  }

  // MARK: Lost pushes without a sound

  /// Whether a lost push is heard now with the best sound so far, because several attempts to prepare its own sound
  /// have failed.
  private func isLastTry(for entry: Entry, at now: Int64, _ settings: Settings) -> Bool {
    guard let sequence = entry.sequence else { return true }
    guard let failure = failures.first(where: { $0.sequence == sequence }) else { return settings.soundTries <= 1 }
    return failure.tries + 1 >= settings.soundTries && now >= failure.at.plus(settings.soundTryPause)
  }

  /// Removes a lost push whose sound could not be prepared. The service is asked for it again after the usual pause.
  private mutating func tryAgain(_ entry: Entry, at now: Int64, _ settings: Settings) -> Turn {
    guard let sequence = entry.sequence else { return .forgotten }
    countTry(for: sequence, at: now, settings)
    return postpone(entry, at: now)
  }

  /// Removes a notification, and counts it as handed over.
  private mutating func hear(_ id: String, _ sequence: Int64?, isExact: Bool, at now: Int64) {
    entries.removeAll { $0.id == id }
    // The number may be postponed if the notification's process counted as ended before.
    postponed.removeAll { $0 == sequence }
    settle(sequence, at: now)
    passSettledNumbers()
    failures.removeAll { $0.sequence == sequence }
    let isHeard = isExact || sequence == nil
    setUnheard(sequence.map { [$0] } ?? [], !isHeard)
    if isHeard { remember(id, .heard) } else { ended.removeAll { $0.id == id } }
  }

  /// Records a hand-over that was made without the order, or corrects the record of an announcement that the order
  /// counts as heard although it was not heard.
  mutating func note(_ handOver: UnwrittenHandOver) {
    if let summary = entries.first(where: { $0.id == handOver.id })?.summary { dissolve(summary) }
    hear(handOver.id, handOver.sequence, isExact: handOver.isExact, at: handOver.at)
    freeAt = max(freeAt, handOver.until)
  }

  /// Raises ``lastSequence`` over the following numbers, as far as no notification waits for them.
  private mutating func passSettledNumbers() {
    guard var last = lastSequence else { return }
    while settled.contains(where: { $0.sequence == last.plus(1) }) { last = last.plus(1) }
    lastSequence = last
    settled.removeAll { $0.sequence <= last }
  }

  // MARK: Missing numbers

  /// Returns the sequence number after which the service must be asked for missing announcements, and records that the
  /// process of this notification asks.
  ///
  /// - Returns: The sequence number; nil if no number is missing, if it is too early to ask, or if another process
  ///   asks.
  public mutating func claimCatchUp(_ number: Int64, at now: Int64, _ settings: Settings) -> Int64? {
    guard let last = lastSequence, let time = catchUpTime(settings), time <= now else { return nil }
    let upTo = gap(after: last)?.upTo ?? unheard.last ?? last
    catchUp = CatchUp(number: number, until: now.plus(settings.catchUpLease), upTo: upTo, asked: unheard + postponed)
    return lastHeard
  }

  /// The highest sequence number that the latest request for missing announcements covers; nil if there was none.
  var catchUpEnd: Int64? { catchUp?.upTo }

  /// Returns the earliest time at which ``claimCatchUp(_:at:_:)`` may succeed; nil if no number is missing.
  public func catchUpTime(_ settings: Settings) -> Int64? {
    guard let last = lastSequence else { return nil }
    guard let gap = gap(after: last) else {
      // No notification waits for numbers that were skipped, so this request is not urgent.
      return unheard.isEmpty ? nil : (catchUp?.until ?? 0).plus(settings.catchUpPause)
    }
    let isNew = catchUp.map { $0.isEnded && $0.upTo < gap.upTo } ?? true
    return max(gap.noticed.plus(settings.catchUpDelay), isNew ? .min : catchUp?.until ?? .min)
  }

  /// Reports the end of a request for missing announcements. Call this method after the announcements in the answer
  /// were added to the order with ``arrive(_:isMissed:process:since:at:_:)``.
  ///
  /// - Parameters:
  ///   - number: The number with which ``claimCatchUp(_:at:_:)`` was called.
  ///   - upTo: The value of ``catchUpEnd`` after that call: the end of the request.
  ///   - isAnswered: Whether the service answered.
  ///   - isComplete: Whether the service named all announcements up to the end of the request. If so, no notification
  ///     waits for the numbers that the service did not name.
  mutating func endCatchUp(
    _ number: Int64, upTo: Int64, isAnswered: Bool = true, isComplete: Bool, at now: Int64, _ settings: Settings
  ) {
    failedRequests = isAnswered ? 0 : min(failedRequests + 1, settings.mostFailedRequests)
    // If this request took long, a newer one may have begun.
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

  /// Returns the highest missing sequence number, and when the gap was noticed; nil if no number is missing.
  private func gap(after last: Int64) -> (upTo: Int64, noticed: Int64)? {
    let known =
      entries.compactMap { entry in entry.sequence.map { ($0, entry.waitsSince) } }
      + settled.map { ($0.sequence, $0.at) }
    let later = known.filter { $0.0 > last }
    guard let highest = later.map(\.0).max(), let noticed = later.map(\.1).min() else { return nil }
    let numbers = Set(later.map(\.0))
    // There is no gap if all numbers up to the highest have arrived.
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
      // A summary must not be heard before a lower number that the service must name again.
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
  /// Whether a summary may include the notification.
  var isSummarisable: Bool { category == .payment && amount != nil && slot == nil }
}

extension PlaybackItem.Category {
  /// The category to use for a notification that must be heard alone. Only payments are summarised. A refund has the
  /// same priority as a payment, so a payment that must be heard alone counts as a refund.
  fileprivate var alone: PlaybackItem.Category { self == .payment ? .refund : self }
}

/// The record of sequence numbers: which were heard or skipped, and which the service is asked for again.
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

  /// Makes the sequence number of a removed notification missing again. A request that is running or has ended no
  /// longer covers this number, so the service is asked anew.
  private mutating func missAgain(_ sequence: Int64?, at now: Int64) {
    catchUp = nil
    askAgain(for: sequence, at: now)
  }

  /// Records that the service must be asked again for a sequence number.
  private mutating func askAgain(for sequence: Int64?, at now: Int64) {
    guard let sequence else { return }
    // If nothing was heard yet, the service is asked from the lowest number that has arrived.
    if lastSequence == nil { lastSequence = ([sequence] + entries.compactMap(\.sequence)).min()?.plus(-1) }
    guard sequence > lastSequence ?? .min else { return setUnheard([sequence], true) }
    if !postponed.contains(sequence) { postponed = (postponed + [sequence]).sorted() }
    catchUp?.asked.removeAll { $0 == sequence }
    waitAnew(for: sequence, since: now)
  }

  /// Counts an attempt to get the sound of a lost push.
  mutating func countTry(for sequence: Int64, at now: Int64, _ settings: Settings) {
    guard let index = failures.firstIndex(where: { $0.sequence == sequence }) else {
      // The lowest numbers are kept if there are too many, because higher numbers are heard after them.
      failures = (failures + [Failure(sequence: sequence, tries: 1, at: now)]).sorted { $0.sequence < $1.sequence }
      failures = Array(failures.prefix(Self.failureCount))
      return
    }
    guard now >= failures[index].at.plus(settings.soundTryPause) else { return }
    failures[index].tries += 1
    failures[index].at = now
  }

  /// Counts an attempt for a lost push whose work ended before its sound was ready, if the work had enough time.
  /// Without this count, a server that never answers would delay all later payments forever.
  private mutating func countUnfinishedTry(for entry: Entry, at now: Int64, _ settings: Settings) {
    guard entry.isMissed, entry.duration == nil, let sequence = entry.sequence, let beganAt = entry.workBeganAt,
      now >= beganAt.plus(settings.shortestTry)
    else { return }
    countTry(for: sequence, at: now, settings)
  }

  /// Whether a notification must wait for a lower sequence number that the service must name again. The answer is false
  /// if the service cannot be asked.
  private func followsPostponed(_ entry: Entry, canAsk: Bool, _ settings: Settings) -> Bool {
    guard canAsk, failedRequests < settings.mostFailedRequests, let sequence = entry.sequence else { return false }
    return sequence > postponed.first ?? .max
  }

  /// Restarts the wait for a sequence number in all notifications with higher numbers, even if they have already
  /// waited.
  private mutating func waitAnew(for sequence: Int64?, since now: Int64) {
    guard let sequence else { return }
    for index in entries.indices where entries[index].sequence ?? .min > sequence { entries[index].waitsSince = now }
  }

  /// Records a sequence number for which no notification waits any more.
  private mutating func settle(_ sequence: Int64?, at now: Int64) {
    guard let sequence, sequence > lastSequence ?? .min, !settled.contains(where: { $0.sequence == sequence }) else {
      return
    }
    settled.append(Settled(sequence: sequence, at: now))
  }

  /// Takes over the sequence numbers that a playback order has passed.
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
    // If a request is running, it does not cover numbers that were skipped after its beginning.
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

/// The handling of ended processes, of a restarted phone, and of a device that registers again.
extension NotificationOrder {
  /// Removes the notifications whose processes have ended. iOS has shown their pushes as they were sent.
  ///
  /// - Parameter isSound: Returns whether the phone has a sound of this name. If so, iOS has played it.
  /// - Returns: Whether anything was removed.
  public mutating func removeAbandoned(at now: Int64, _ settings: Settings, isSound: (String) -> Bool) -> Bool {
    let abandoned = entries.filter { $0.aliveUntil < now }
    guard !abandoned.isEmpty else { return false }
    for entry in abandoned {
      entries.removeAll { $0.number == entry.number }
      // If the phone has the named sound, the announcement was heard. If not, its number stays missing, and the service
      // is asked for it.
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

  /// Forgets all times if the phone was restarted, because its clock began again at 0. No earlier process is running
  /// then.
  public mutating func notice(_ now: Int64) {
    // Two processes may read the clock a few seconds apart, which does not mean a restart.
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

  /// Continues after a sequence number that the service named when the device registered. The service begins its
  /// numbers again if it has forgotten the device.
  ///
  /// - Parameters:
  ///   - sequence: The number that the service named.
  ///   - known: The value of ``lastSequence`` before the device registered. If a push has raised ``lastSequence`` since
  ///     then, that does not mean that the service has forgotten the device.
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
