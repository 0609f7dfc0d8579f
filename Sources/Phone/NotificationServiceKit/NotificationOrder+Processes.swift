// SPDX-License-Identifier: Apache-2.0

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
