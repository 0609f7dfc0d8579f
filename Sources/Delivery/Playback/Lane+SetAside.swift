// SPDX-License-Identifier: Apache-2.0

import Ledger
import PlaybackOrder

extension Lane {
  /// An announcement that two crashes in a row interrupted; see `InterruptedWork`.
  struct SetAside {
    var item: PlaybackItem
    var isReplay: Bool
    var endsQuietly: Bool
    var isQuietSummary: Bool
  }

  /// Sets an announcement aside if two crashes in a row interrupted it.
  ///
  /// - Returns: Whether it is set aside. The lane then does not wait for its sequence number.
  func setAside(_ entry: Ledger.Entry) -> Bool {
    guard let pause = InterruptedWork.pause(afterStarts: entry.starts, isHeard: true) else { return false }
    let item = item(entry)
    if let sequence = item.sequence { order.settle(sequence, acceptedAt: item.acceptedAt) }
    setAside.add(
      SetAside(
        item: item, isReplay: entry.isReplay, endsQuietly: entry.endsQuietly, isQuietSummary: entry.isQuietSummary),
      until: clock.now() + Int64(pause * 1000))
    return true
  }

  /// Puts the next announcement that was set aside back into the order when its moment has come and nothing else is
  /// waiting. If other announcements keep waiting, this happens ten minutes after its moment.
  func takeBackSetAside(at now: Int64) {
    guard let moment = setAside.nextMoment else { return }
    guard now >= moment else { return wake(at: moment) }
    guard current == nil, summary == nil, renders.isEmpty, alone.map({ waiting[$0] == nil }) ?? true,
      waiting.isEmpty || isSetAsideOverdue(at: now), let one = setAside.next(at: now)
    else { return }
    waiting[one.item.number] = Waiting(
      category: one.item.category, isReplay: one.isReplay, endsQuietly: one.endsQuietly,
      isQuietSummary: one.isQuietSummary, isFromBefore: true)
    alone = one.item.number
    order.restore(one.item)
  }

  /// Whether an announcement that is set aside is so late that it goes before the others.
  ///
  /// This is false while an earlier announcement that was set aside still waits. The new one could not be played yet,
  /// and would only delay the others.
  func isSetAsideOverdue(at now: Int64) -> Bool {
    guard let moment = setAside.nextMoment, alone.map({ waiting[$0] == nil }) ?? true else { return false }
    return now - moment >= Int64(InterruptedWork.longestDelay * 1000)
  }

  /// The announcement that was set aside and must be rendered or played alone now.
  private var doneAlone: Int64? {
    guard let alone else { return nil }
    let isRendered = waiting[alone].map { $0.isRendering || $0.attempts == 0 && $0.sound == nil } ?? false
    return isRendered || current?.item.number == alone ? alone : nil
  }

  /// Whether an announcement may be rendered now.
  ///
  /// While an announcement that was set aside is rendered or played, no other is rendered. One of the announcements
  /// that a crash interrupted may have caused the crash. They are rendered one after the other, so that a second crash
  /// shows which one it was.
  func mayRender(_ number: Int64, at now: Int64) -> Bool {
    if let doneAlone { return number == doneAlone }
    if isSetAsideOverdue(at: now) { return false }
    return waiting[number]?.isSuspect != true
      || !waiting.contains { $0.key != number && $0.value.isSuspect && $0.value.isRendering }
  }
}
