// SPDX-License-Identifier: Apache-2.0

import Ledger
import PlaybackOrder
import Waveforms

extension Lane {
  /// Renders the sounds that play next. If too many sounds are kept, releases the sounds of announcements that do not
  /// play next.
  func renderAhead(at now: Int64) {
    let count = max(0, settings.rendersAhead) + (current == nil ? 1 : 0)
    let upcoming = order.upcoming(max(1, count), at: now).map(\.number)
    // An announcement that was set aside may be rendered even if many others wait.
    for number in [alone].compactMap(\.self) + upcoming.prefix(count) where mayRender(number, at: now) {
      render(number, at: now)
    }
    guard ready.count > count + 2 else { return }
    for number in ready where !upcoming.contains(number) && number != summary?.number {
      waiting[number]?.sound = nil
      ready.remove(number)
    }
  }

  private func render(_ number: Int64, at now: Int64) {
    // An announcement that was cancelled and restored waits until its former rendering has ended.
    guard let one = waiting[number], one.sound == nil, !one.isRendering, renders[number] == nil else { return }
    guard one.retryAt <= now else { return wake(at: one.retryAt) }
    render(number)
  }

  func render(_ number: Int64) {
    waiting[number]?.isRendering = true
    waiting[number]?.attempts += 1
    waiting[number]?.chimeVersion = chimeVersion
    let isFromBefore = waiting[number]?.isFromBefore == true
    renders[number] = Task { [ledger, renderer, settings, chimes, mailbox] in
      let outcome = await Self.outcome(number, isFromBefore, ledger, renderer, settings, chimes)
      mailbox.post(.rendered(number, outcome))
    }
  }

  private static func outcome(
    _ number: Int64, _ isFromBefore: Bool, _ ledger: any Ledger.Store, _ renderer: any Rendering,
    _ settings: Player.Settings,
    _ chimes: Chimes
  ) async -> RenderOutcome {
    do {
      guard let entry = try await ledger.entry(number), !entry.state.isFinal else { return .gone }
      let stored = entry.announcement
      // Reading the clip may have ended the earlier process, so the start is written first.
      if isFromBefore { try await ledger.set(number, .rendering) }
      // The clip was made when the announcement was accepted. It is made again only if it is gone.
      let decided = await renderer.decided(stored)
      // A replay also needs the word "again", whose clip may have to be made.
      if decided == nil || stored.isReplay { try await ledger.set(number, .rendering) }
      do {
        let sound = if let decided { decided } else { try await renderer.render(stored) }
        let again = stored.isReplay ? try await renderer.again(before: stored) : nil
        let chime = chimes.chime(of: stored.paymentKind)
        let laneSound = try LaneSound(sound, again: again, chime: chime, pause: settings.chimePause)
        try await ledger.set(number, .waiting, Ledger.Change(clip: sound.clip, decision: sound.decision))
        return .ready(laneSound)
      } catch let error as LedgerError {
        throw error
      } catch {
        let failure = error as? RenderFailure ?? RenderFailure(code: "internal_error", isPassing: true)
        if failure.isPassing {
          try await ledger.set(number, .accepted, Ledger.Change(detail: ["code": failure.code]))
        }
        return .failed(failure)
      }
    } catch {
      let code = (error as? LedgerError)?.code
      if code == .illegalTransition, let entry = try? await ledger.entry(number), entry.state.isFinal { return .gone }
      return .unwritten(code?.rawValue ?? "internal_error")
    }
  }

  func rendered(_ number: Int64, _ outcome: RenderOutcome) async {
    renders[number] = nil
    signals.happened()
    // An outcome is ignored if its rendering began before the announcement was cancelled and restored.
    guard var one = waiting[number], one.isRendering else { return }
    one.isRendering = false
    defer { if waiting[number] != nil { waiting[number] = one } }
    switch outcome {
    case .ready where one.chimeVersion != chimeVersion && number != summary?.number: one.attempts = 0
    case .ready(let sound):
      (one.sound, one.hasClip, one.failure, one.attempts) = (sound, sound.clip != nil, nil, 0)
      ready.insert(number)
      order.setDuration(Int64(sound.length), of: number)
    case .gone:
      _ = order.remove(number)
      drop(number)
    case .unwritten(let code):
      one.failure = LaneStatus.Fault(since: one.failure?.since ?? clock.date(), code: code)
      if number == summary?.number { return await refuseSummary(code) }
      one.retryAt = clock.now() + pause(afterAttempts: one.attempts)
    case .failed(let failure):
      one.failure = LaneStatus.Fault(since: one.failure?.since ?? clock.date(), code: failure.code)
      if number == summary?.number { return await refuseSummary(failure.code) }
      // The rendering of a summary of payments is retried like that of a payment.
      let isMoney = one.category.isMoney || one.isQuietSummary
      guard !failure.isPassing || !isMoney && one.attempts >= settings.renderAttempts else {
        one.retryAt = clock.now() + pause(afterAttempts: one.attempts)
        return
      }
      _ = order.remove(number)
      drop(number)
      await commit(number, .failed, Ledger.Change(detail: ["code": failure.code]))
    }
  }

  /// The pause before another attempt to render, in ms.
  private func pause(afterAttempts attempts: Int) -> Int64 {
    let pauses = settings.renderPauses
    return min(max(pauses.lowerBound << Int64(min(attempts - 1, 32)), pauses.lowerBound), pauses.upperBound)
  }

  /// Forgets an announcement that will not be played.
  func drop(_ number: Int64) {
    waiting[number] = nil
    ready.remove(number)
    renders[number]?.cancel()
  }
}
