// SPDX-License-Identifier: Apache-2.0

import PlaybackOrder

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
