// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import PlaybackOrder
import SoundOutputs

extension Lane {
  /// Does what the order says.
  func decide(at now: Int64) async {
    if let current { return await decide(while: current, at: now) }
    if let summary { return await decide(on: summary, at: now) }
    // Asked of a copy: what has no sound yet keeps its place, and gives way to what goes before it meanwhile.
    var next = order
    switch next.next(at: now) {
    case .play(let item, let turn):
      guard let one = waiting[item.number], let sound = one.sound, isGapOver(before: sound, at: now) else { return }
      order = next
      if await hasEndedElsewhere(item.number) {
        order.finished()
        drop(item.number)
        return mailbox.nudge()
      }
      begin(Current(item: item, sound: sound, isReplay: one.isReplay))
      await commit(item.number, .playing)
      await tell(turn, of: item, isAlone: true)
    case .summarise(let payments):
      makeSummary(of: payments.map(\.number))
    case .wait(let moment): wake(at: moment)
    case .idle, .interrupt: break
    }
  }

  private func decide(while current: Current, at now: Int64) async {
    guard current.stopReason == nil else { return }
    switch order.next(at: now) {
    case .interrupt:
      await silence(.interrupted)
      return mailbox.nudge()
    case .wait(let moment): wake(at: moment)
    default: break
    }
    guard !current.isSounding, !order.isPaused else { return }
    if current.retryAt <= now { sound() } else { wake(at: current.retryAt) }
  }

  /// Whether another process has ended it: then it is not heard. In doubt it is.
  private func hasEndedElsewhere(_ number: Int64) async -> Bool {
    (try? await ledger.entry(number)?.state.isFinal) ?? false
  }

  func isGapOver(before sound: LaneSound, at now: Int64) -> Bool {
    guard let lastEnd else { return true }
    let moment = lastEnd.at + max(0, settings.gap - lastEnd.quiet - sound.quietStart)
    if now < moment { wake(at: moment) }
    return now >= moment
  }

  /// Its turn has come: it sounds.
  func begin(_ new: Current) {
    waiting[new.item.number] = nil
    ready.remove(new.item.number)
    current = new
    current?.lastSequence = order.lastSequence
    sound()
  }

  /// Plays it from its start.
  private func sound() {
    guard var current else { return }
    current.control = PlayControl(label: String(current.item.number))
    current.isSounding = true
    self.current = current
    isOutputInUse = true
    queue.addOperation(
      PlayOperation(current.sound.waveform, on: output, volume: volume, control: current.control, clock: clock) {
        [mailbox] ending in mailbox.post(.ended(ending))
      })
    report()
  }

  /// What is to be known of a sequence number. What was waited for has passed, and is not waited for again after a crash.
  func tell(_ turn: PlaybackOrder.SequenceTurn, of item: PlaybackItem, isAlone: Bool) async {
    switch turn {
    case .inOrder: break
    case .late: await record(.sequenceLate, item.number, [:])
    case .afterMissing(let ranges):
      let text = ranges.prefix(10).map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
      let more = ranges.count > 10 ? ["more": "\(ranges.count - 10)"] : [:]
      await record(
        .sequenceMissing, item.number, ["missing": text.joined(separator: ",")].merging(more) { $1 },
        passing: isAlone ? item.sequence.map { $0 - 1 } : nil)
    }
  }

  // MARK: Its end

  func ended(_ ending: PlayEnding) async {
    guard let current else { return }
    self.current?.isSounding = false
    switch (ending.result, current.stopReason) {
    case (.success(.heard), _):
      await deviceIsBack()
      lastEnd = (ending.at, current.sound.quietEnd)
      await finish(.played)
    case (.success(.stopped(let position)), let reason?):
      lastEnd = (ending.at, 0)
      await fallSilent(reason, at: position)
    case (.failure, let reason?):
      await fallSilent(reason, at: current.control.position)
    case (_, nil) where isStopping:
      await fallSilent(.stopped, at: current.control.position)
    case (.failure(let error), nil) where error.code == .formatUnsupported && !current.item.category.isMoney:
      // No device will take it another time. Money is said by clips that every device takes but a broken one.
      await finish(.failed, heard: 0, code: error.code.rawValue)
    case (.success(.stopped), nil): await lost("stopped", number: current.item.number)
    case (.failure(let error), nil): await lost(error.code.rawValue, number: current.item.number)
    }
  }

  /// It was heard, or will not be.
  private func finish(_ state: Ledger.State, heard: Int? = nil, code: String? = nil) async {
    guard let current else { return }
    let detail = code.map { ["code": $0] } ?? [:]
    var change = Ledger.Change(
      detail: detail, heardMilliseconds: heard ?? current.sound.length, passing: current.lastSequence)
    change.endsMembers = true
    await commit(current.item.number, state, change)
    order.finished()
    // Not those of before: some may have been answered while the ledger could not be written.
    let replies = self.current?.replies ?? []
    self.current = nil
    if state == .played { lastPlayed = current.item.number }
    for reply in replies { reply(state != .played) }
  }

  private func fallSilent(_ reason: Current.StopReason, at position: Int) async {
    guard let current else { return }
    var replies: [Reply<Bool>] = []
    switch reason {
    case .skipped:
      await finish(.cancelled, heard: position, code: "skipped")
    case .interrupted:
      await commit(current.item.number, .waiting, interruption("interrupted", at: position))
      waiting[current.item.number] = Waiting(
        category: Ledger.Category(current.item.category), isReplay: current.isReplay, sound: current.sound)
      ready.insert(current.item.number)
      replies = self.current?.replies ?? []
      self.current = nil
      order.interrupted()
    case .stopped:
      // The payments of a summary stand for themselves again.
      let state: Ledger.State = current.members.isEmpty ? .waiting : .cancelled
      await commit(current.item.number, state, interruption("stopped", at: position))
      replies = self.current?.replies ?? []
      self.current = nil
      order.finished()
    }
    for reply in replies { reply(false) }
  }

  private func interruption(_ code: String, at position: Int) -> Ledger.Change {
    Ledger.Change(detail: ["code": code], heardMilliseconds: position)
  }

  /// Asks what plays to end; at once where nothing sounds.
  func silence(_ reason: Current.StopReason) async {
    guard let current, current.stopReason != .skipped else { return }
    self.current?.stopReason = reason
    current.control.stop()
    if !current.isSounding { await fallSilent(reason, at: 0) }
  }

  /// The player is to stop: what cannot be heard now is for the next one.
  func silence(finishing: Bool) async {
    guard let current else { return }
    if !finishing || order.isPaused || !current.isSounding { await silence(.stopped) }
  }

  // MARK: The device

  private func lost(_ code: String, number: Int64) async {
    devicePause =
      devicePause == 0
      ? settings.devicePauses.lowerBound : min(devicePause * 2, settings.devicePauses.upperBound)
    current?.retryAt = clock.now() + devicePause
    guard !isDeviceLost else { return }
    isDeviceLost = true
    await record(.deviceLost, number, ["code": code])
  }

  /// A device that has let something be heard is back.
  func noteDevice() async {
    if isDeviceLost, let current, current.isSounding, current.control.position > 0 { await deviceIsBack() }
  }

  private func deviceIsBack() async {
    devicePause = 0
    guard isDeviceLost else { return }
    isDeviceLost = false
    await record(.deviceBack, current?.item.number, [:])
  }

  func releaseWhenIdle(at now: Int64) {
    guard isOutputInUse, current == nil, let lastEnd else { return }
    let moment = lastEnd.at + settings.idleRelease
    guard now >= moment else { return wake(at: moment) }
    isOutputInUse = false
    queue.addOperation { [output] in output.release() }
  }
}
