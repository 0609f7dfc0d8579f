// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import PlaybackOrder
import SoundOutputs

extension Lane {
  /// The name that a pause has if another process commanded it.
  static let command = "crier queue"

  /// Pauses. If the lane is paused already, the first pause counts, because nothing has been heard since then.
  func pause(by name: String?, account: String?) {
    if pausing == nil {
      pausing = Ledger.Pause(since: clock.date(), by: name, account: account)
      resumesAt = settings.resumeAfter.map { clock.now() + $0 }
      isPauseKept = false
    }
    order.pause()
    current?.control.pause()
  }

  func resume() {
    if pausing != nil { (pausing, resumesAt, isPauseKept) = (nil, nil, false) }
    order.resume()
    current?.control.resume()
  }

  /// Writes the pause or its end to the ledger. If that fails, the player tries again when it next looks for other
  /// processes' commands. A person can therefore pause while the disk is full.
  func keepPause() async {
    guard !isPauseKept else { return }
    guard settings.remembersPause else {
      isPauseKept = true
      return
    }
    isPauseKept = (try? await ledger.keep(pausing, lane: name)) != nil
  }

  /// Continues the pause of the settings, or else the pause that the ledger has for the lane.
  ///
  /// - Throws: `LedgerError`.
  func recoverPause() async throws {
    var kept = settings.pause
    if kept != nil {
      isPauseKept = false
    } else if settings.remembersPause {
      kept = try await ledger.pause(lane: name)
      if kept != nil, settings.resumesAtStart {
        isPauseKept = false
        return
      }
    }
    guard let kept else { return }
    pausing = kept
    order.pause()
    guard let resumeAfter = settings.resumeAfter else { return }
    // The clock may have been set meanwhile.
    let age = Int64(exactly: (clock.date().timeIntervalSince(kept.since) * 1000).rounded()) ?? 0
    resumesAt = clock.now() + resumeAfter - min(max(0, age), resumeAfter)
  }

  /// Ends a pause whose time is over.
  func resumeIfDue(at now: Int64) async {
    guard let resumesAt else { return }
    guard resumesAt <= now else { return wake(at: resumesAt) }
    resume()
    await keepPause()
  }
}
