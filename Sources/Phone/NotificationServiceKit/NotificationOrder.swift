// SPDX-License-Identifier: Apache-2.0

import Foundation
public import PlaybackOrder

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
  public internal(set) var entries: [Entry] = []
  /// The highest sequence number that was heard or passed over; nil before the first.
  public internal(set) var lastSequence: Int64?
  /// The number after which the service knows all that was not heard; nil before the first number.
  var lastHeard: Int64? { lastSequence.map { min($0, unheard.first?.plus(-1) ?? .max) } }
  /// The moment at which the next sound may begin.
  public internal(set) var freeAt: Int64 = 0

  var lastNumber: Int64 = 0
  var ended: [Ended] = []
  var settled: [Settled] = []
  /// The sequence numbers that were passed over, or handed over without their amount, in ascending order. The service is
  /// asked for them again.
  public internal(set) var unheard: [Int64] = []
  /// The moments at which handed-over sounds begin as local notifications, in ascending order.
  var pending: [Int64] = []
  /// The sequence numbers above ``lastSequence`` of announcements that arrived and were not heard: as many local
  /// notifications waited as the system allows, or the work on them ended early. They are in ascending order. Nothing
  /// after them is heard before the service was asked for them again.
  var postponed: [Int64] = []
  var failures: [Failure] = []
  /// The number of the last requests to the service that failed, one after the other.
  var failedRequests = 0
  var summaryUntil: Int64 = 0
  /// The number of the newest notification at the moment when a summary could not be made. No summary is tried until a
  /// newer notification arrives.
  var refusedSummary: Int64 = 0
  var catchUp: CatchUp?
  /// The latest time that a process has reported. An earlier time means that the phone was restarted.
  var toldTime: Int64 = 0

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
