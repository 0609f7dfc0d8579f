// SPDX-License-Identifier: Apache-2.0

import PlaybackOrder

/// What is known of the sequence numbers: which were heard or passed over, and which the service is asked for again.
extension NotificationOrder {
  mutating func change(_ number: Int64, _ change: (inout Entry) -> Void) {
    guard let index = entries.firstIndex(where: { $0.number == number }) else { return }
    change(&entries[index])
  }

  mutating func remember(_ id: String, _ outcome: Outcome) {
    ended.removeAll { $0.id == id }
    ended.append(Ended(id: id, outcome: outcome))
    if ended.count > Self.rememberedCount { ended.removeFirst(ended.count - Self.rememberedCount) }
  }

  /// Makes the number of a removed notification a missing one again. A request whose answer named it, or is on its way,
  /// does not end it: the service is asked anew.
  mutating func missAgain(_ sequence: Int64?, at now: Int64) {
    catchUp = nil
    askAgain(for: sequence, at: now)
  }

  /// Notes that the service must be asked again for a number.
  mutating func askAgain(for sequence: Int64?, at now: Int64) {
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
  mutating func countUnfinishedTry(for entry: Entry, at now: Int64, _ settings: Settings) {
    guard entry.isMissed, entry.duration == nil, let sequence = entry.sequence, let beganAt = entry.workBeganAt,
      now >= beganAt.plus(settings.shortestTry)
    else { return }
    countTry(for: sequence, at: now, settings)
  }

  /// Whether a notification must wait for an earlier one that the service must name again. It need not wait if the
  /// service cannot be asked.
  func followsPostponed(_ entry: Entry, canAsk: Bool, _ settings: Settings) -> Bool {
    guard canAsk, failedRequests < settings.mostFailedRequests, let sequence = entry.sequence else { return false }
    return sequence > postponed.first ?? .max
  }

  /// Lets the notifications after a sequence number wait for it, although they have waited before.
  mutating func waitAnew(for sequence: Int64?, since now: Int64) {
    guard let sequence else { return }
    for index in entries.indices where entries[index].sequence ?? .min > sequence { entries[index].waitsSince = now }
  }

  /// Notes a sequence number that is not waited for any more.
  mutating func settle(_ sequence: Int64?, at now: Int64) {
    guard let sequence, sequence > lastSequence ?? .min, !settled.contains(where: { $0.sequence == sequence }) else {
      return
    }
    settled.append(Settled(sequence: sequence, at: now))
  }

  /// Takes over the sequence numbers that an order has passed.
  mutating func adopt(_ order: PlaybackOrder, _ turns: [PlaybackOrder.SequenceTurn]) {
    lastSequence = order.lastSequence
    settled.removeAll { $0.sequence <= lastSequence ?? .min }
    postponed.removeAll { $0 <= lastSequence ?? .min }
    for case .afterMissing(let ranges) in turns {
      for range in ranges { setUnheard(Array(range.suffix(Self.unheardCount)), true) }
    }
  }

  mutating func setUnheard(_ sequences: [Int64], _ isUnheard: Bool) {
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
