// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import PlaybackOrder
import SoundOutputs

extension Lane {
  /// Does what the playback order decides next.
  func decide(at now: Int64) async {
    if let current { return await decide(while: current, at: now) }
    let isQuiet = isQuiet
    if isQuiet, summary?.number != nil {
      // In quiet hours, the payments end individually, without a sound.
      await endSummary(.cancelled, "outdated")
      return mailbox.nudge()
    }
    if let summary { return await decide(on: summary, at: now) }
    // All renderings end first. Then the announcement that was set aside is played, even if others are ready.
    guard renders.isEmpty || !isSetAsideOverdue(at: now) else { return }
    // This asks a copy of the order. If the announcement has no sound yet, the order itself stays unchanged, so that
    // others can still go before it.
    var next = order
    if isQuiet { next.refuseSummary() }
    switch next.next(at: now) {
    case .play(let item, let turn):
      guard let one = waiting[item.number], let sound = one.sound else { return }
      if isQuiet, one.endsQuietly {
        order = next
        return await endQuietly(item, turn)
      }
      guard isGapOver(before: sound, at: now) else { return }
      order = next
      // Playing this announcement may have ended the earlier process, so its start is written before the sound begins.
      // If it cannot be written, the announcement is played nevertheless.
      if one.isFromBefore, !isDeviceLost { _ = try? await ledger.set(item.number, .playing) }
      if await hasEndedElsewhere(item.number) {
        order.finished()
        drop(item.number)
        return mailbox.nudge()
      }
      begin(Current(item: item, sound: sound, isReplay: one.isReplay, endsQuietly: one.endsQuietly))
      // While the device is lost, nothing is heard, so the announcement does not become `playing` yet.
      if !isDeviceLost { await commit(item.number, .playing) }
      await tell(turn, of: item, isAlone: true)
    case .summarise where mayNotSummarise:
      order.refuseSummary()
      mailbox.nudge()
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
    if current.endsQuietly, isQuiet {
      // The device was lost until the quiet hours began. The announcement must not be played in them when the device is
      // back.
      await finish(.quiet, heard: 0)
      return mailbox.nudge()
    }
    if current.retryAt <= now { sound() } else { wake(at: current.retryAt) }
  }

  /// Whether another process has ended the announcement or moved it to another lane, so that it must not play here. If
  /// this is not known, the announcement plays.
  private func hasEndedElsewhere(_ number: Int64) async -> Bool {
    guard let entry = try? await ledger.entry(number) else { return false }
    return entry.state.isFinal || entry.lane != name
  }

  func isGapOver(before sound: LaneSound, at now: Int64) -> Bool {
    guard let lastEnd else { return true }
    let moment = lastEnd.at + max(0, settings.gap - lastEnd.quiet - sound.quietStart)
    if now < moment { wake(at: moment) }
    return now >= moment
  }

  /// Begins the announcement whose turn it is.
  func begin(_ new: Current) {
    waiting[new.item.number] = nil
    ready.remove(new.item.number)
    current = new
    current?.lastSequence = order.lastSequence
    sound()
  }

  /// Plays the current announcement from its start. The operation blocks the queue's thread until the sound has been
  /// heard, or was stopped through its control, so that sounds never overlap. The operation is never cancelled, because
  /// if it were cancelled before it began, it would never report its end.
  private func sound() {
    guard var current else { return }
    current.control = PlayControl(label: String(current.item.number))
    current.isSounding = true
    self.current = current
    isOutputInUse = true
    let (waveform, control) = (current.sound.waveform, current.control)
    let volume = Volume(percent: volume.percent) ?? .full
    queue.addOperation { [output, clock, mailbox] in
      let result = Result { () throws(OutputError) in
        try output.play(waveform, volume: volume, control: control)
      }
      mailbox.post(.ended(PlayEnding(result: result, at: clock.now())))
    }
    report()
  }

  /// Records the result of waiting for a sequence number. After a crash, the player does not wait again for a number
  /// for which it has already waited.
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

  // MARK: The end of a sound

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
      // The device does not support this sound's format, so a retry would fail too. Payments and refunds are retried,
      // because every working device supports the format of their clips.
      await finish(.failed, heard: 0, code: error.code.rawValue)
    case (.success(.stopped), nil): await lost("stopped", number: current.item.number)
    case (.failure(let error), nil): await lost(error.code.rawValue, number: current.item.number)
    }
  }

  /// Ends the current announcement, whether it was played or not.
  private func finish(_ state: Ledger.State, heard: Int? = nil, code: String? = nil) async {
    guard let current else { return }
    let detail = code.map { ["code": $0] } ?? [:]
    if state == .played, (try? await ledger.entry(current.item.number))?.state == .waiting {
      // The ledger could not be written when the device came back. Only a playing announcement can become played.
      await commit(current.item.number, .playing)
    }
    var change = Ledger.Change(
      detail: detail, heardMilliseconds: heard ?? current.sound.length, passing: current.lastSequence)
    change.endsMembers = true
    if state == .quiet { awaitSummary(&change) }
    await commit(current.item.number, state, change)
    order.finished()
    // Replies added while the ledger could not be written must be included.
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
      // While the device is lost, the announcement waits, and so can be restored.
      await finish(.cancelled, heard: position, code: isDeviceLost ? nil : "skipped")
    case .interrupted:
      await commit(current.item.number, .waiting, interruption("interrupted", at: position))
      waiting[current.item.number] = Waiting(
        category: current.item.category, isReplay: current.isReplay, endsQuietly: current.endsQuietly,
        sound: current.sound)
      ready.insert(current.item.number)
      replies = self.current?.replies ?? []
      self.current = nil
      order.interrupted()
    case .stopped:
      // The payments of a summary are announced individually again.
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

  /// Asks the current sound to stop. If no sound is being played, the current announcement ends at once.
  func silence(_ reason: Current.StopReason) async {
    guard let current, current.stopReason != .skipped else { return }
    self.current?.stopReason = reason
    current.control.stop()
    if !current.isSounding { await fallSilent(reason, at: 0) }
  }

  /// Stops the current sound because the player stops. Sounds that cannot be played now are left to the next player.
  func silence(finishing: Bool) async {
    guard let current else { return }
    if !finishing || order.isPaused || !current.isSounding { await silence(.stopped) }
  }

  // MARK: The device

  private func lost(_ code: String, number: Int64) async {
    lengthenDevicePause()
    current?.retryAt = clock.now() + devicePause
    if deviceLoss == nil {
      deviceLoss = LaneStatus.Fault(since: clock.date(), code: code)
      await record(.deviceLost, number, ["code": code])
    }
    // The announcement will be played again from its start. If a probe found the loss while the sound was queued, the
    // announcement is still `playing` in the ledger.
    await commit(number, .waiting, Ledger.Change(detail: ["code": code]))
  }

  private func lengthenDevicePause() {
    devicePause =
      devicePause == 0
      ? settings.devicePauses.lowerBound : min(devicePause * 2, settings.devicePauses.upperBound)
  }

  /// Notes that a lost device is back, as soon as it has played something.
  func noteDevice() async {
    if isDeviceLost, let current, current.isSounding, current.control.position > 0 { await deviceIsBack() }
  }

  private func deviceIsBack() async {
    devicePause = 0
    guard isDeviceLost else { return }
    deviceLoss = nil
    await record(.deviceBack, current?.item.number, [:])
    if let current { await commit(current.item.number, .playing) }
  }

  /// Opens the device while nothing plays, if it is time to check whether the device works.
  func probe(at now: Int64) {
    guard let interval = settings.probeInterval, current == nil, !isProbing else { return }
    guard now >= nextProbe else { return wake(at: nextProbe) }
    isProbing = true
    nextProbe = now + interval
    queue.addOperation { [output, mailbox] in
      // Most clips have this rate.
      mailbox.post(.probed(Result { () throws(OutputError) in try output.open(rate: 22_050) }))
    }
  }

  func probed(_ result: Result<Void, OutputError>) async {
    isProbing = false
    isOutputInUse = true
    if lastEnd == nil { lastEnd = (clock.now() - settings.gap, 0) }
    switch result {
    case .success: if current == nil { await deviceIsBack() }
    case .failure(let error):
      lengthenDevicePause()
      nextProbe = clock.now() + devicePause
      guard deviceLoss == nil else { return }
      deviceLoss = LaneStatus.Fault(since: clock.date(), code: error.code.rawValue)
      await record(.deviceLost, nil, ["code": error.code.rawValue])
    }
  }

  func releaseWhenIdle(at now: Int64) {
    guard isOutputInUse, current == nil, let lastEnd, let idleRelease = settings.idleRelease else { return }
    let moment = lastEnd.at + idleRelease
    guard now >= moment else { return wake(at: moment) }
    isOutputInUse = false
    queue.addOperation { [output] in output.release() }
  }
}
