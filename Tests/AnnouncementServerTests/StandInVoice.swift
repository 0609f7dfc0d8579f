// SPDX-License-Identifier: Apache-2.0

import Announcements
import ConcurrencySupport
import SoundOutputTestSupport
import Waveforms

@testable import SpeechEngine

/// An engine that says everything with a tone, counts how often it is asked, and does what the test says.
final class StandInVoice: Speaking {
  private struct State {
    var calls = 0
    var questions = 0
    var isHeld = false
    var failure: SpeechEngineError.Code?
    var held: [CheckedContinuation<Void, Never>] = []
    var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }
  private let state = Locked(State())

  /// The number of runs that the engine was asked to say.
  var calls: Int { state.withLock { $0.calls } }

  /// The number of times that the engine was asked what it would say.
  var questions: Int { state.withLock { $0.questions } }

  /// From now on, the engine says nothing until ``release()``.
  func hold() { state.withLock { $0.isHeld = true } }

  func release() {
    let held = state.withLock { state in
      state.isHeld = false
      defer { state.held = [] }
      return state.held
    }
    for continuation in held { continuation.resume() }
  }

  /// From now on, every request fails with this code; nil if no request is to fail.
  func fail(_ code: SpeechEngineError.Code?) { state.withLock { $0.failure = code } }

  /// Waits until the engine was asked to say this number of runs.
  func isAsked(_ count: Int = 1) async {
    await withCheckedContinuation { continuation in
      let isSo = state.withLock { state in
        if state.calls >= count { return true }
        state.watchers.append((count, continuation))
        return false
      }
      if isSo { continuation.resume() }
    }
  }

  /// Waits until the engine is not held any more.
  private func wait() async {
    await withCheckedContinuation { continuation in
      let isHeld = state.withLock { state in
        if state.isHeld { state.held.append(continuation) }
        return state.isHeld
      }
      if !isHeld { continuation.resume() }
    }
  }

  private func error(_ code: SpeechEngineError.Code) -> SpeechEngineError {
    SpeechEngineError(code, "speaking", "the test wants it", remedy: "end the test")
  }

  func identity() async throws(SpeechEngineError) -> EngineIdentity {
    EngineIdentity(version: "stand-in", dataFingerprint: 1)
  }

  func waveform(
    of run: Script.Run, rate: Int
  ) async throws(SpeechEngineError) -> (waveform: Waveform, totalMilliseconds: Int) {
    let watchers = state.withLock { state in
      state.calls += 1
      let calls = state.calls
      defer { state.watchers.removeAll { $0.count <= calls } }
      return state.watchers.filter { $0.count <= calls }
    }
    for watcher in watchers { watcher.continuation.resume() }
    await wait()
    if let code = state.withLock({ $0.failure }) { throw error(code) }
    // Other words, other voices and other rates have another sound.
    let sum = (run.text + (run.voice ?? "")).unicodeScalars.reduce(rate) { ($0 &* 31 &+ Int($1.value)) & 0xFFFF }
    var waveform = Tone.sine(Double(300 + sum % 1500), milliseconds: 500, rate: 22_050)
    waveform.marks = run.segments.map { Waveform.Mark(text: $0.text, startMilliseconds: 0, endMilliseconds: 500) }
    return (waveform, 500)
  }

  func phonemes(_ utterance: Utterance) async throws(SpeechEngineError) -> String {
    state.withLock { $0.questions += 1 }
    await wait()
    if let code = state.withLock({ $0.failure }) { throw error(code) }
    return utterance.text
  }
}
