// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Waveforms

@testable import SoundOutputs

/// An output on which a sound ends when the test says so.
final class HeldOutput: SoundOutput {
  private struct State {
    var begun = 0
    var mayEnd = 0
    var hearsAll = false
    var isLost = false
    var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }
  private let state = Locked(State())
  let name = "held"

  /// What plays, or plays next, is heard to its end.
  func hear() { state.withLock { $0.mayEnd += 1 } }
  /// Everything is heard at once from now on.
  func hearAll() { state.withLock { $0.hearsAll = true } }
  /// The device is away from now on.
  func lose() { state.withLock { $0.isLost = true } }

  /// Waits until so many sounds have begun.
  func begins(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isSo = state.withLock { state in
        if state.begun >= count { return true }
        state.watchers.append((count, continuation))
        return false
      }
      if isSo { continuation.resume() }
    }
  }

  func play(_ sound: Waveform, volume: Volume, control: PlayControl) throws(OutputError) -> PlayResult {
    if state.withLock({ $0.isLost }) { throw lost }
    let watchers = state.withLock { state in
      state.begun += 1
      let begun = state.begun
      defer { state.watchers.removeAll { $0.count <= begun } }
      return state.watchers.filter { $0.count <= begun }
    }
    for watcher in watchers { watcher.continuation.resume() }
    while true {
      if control.isStopped { return .stopped(atMilliseconds: control.position) }
      let (isLost, isHeard) = state.withLock { state in
        guard !state.isLost, !control.isPaused, state.hearsAll || state.mayEnd > 0 else { return (state.isLost, false) }
        if !state.hearsAll { state.mayEnd -= 1 }
        return (false, true)
      }
      if isLost { throw lost }
      if isHeard {
        control.setPosition(sound.durationMilliseconds)
        return .heard
      }
      control.wait(while: control.state, atMost: .milliseconds(1))
    }
  }

  private var lost: OutputError { OutputError(.deviceLost, name, "the test wants it", remedy: "end the test") }

  func open(rate: Int) throws(OutputError) {}
  func release() {}
}
