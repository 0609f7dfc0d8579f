// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Dispatch
import FileSystem
import TestSupport

/// A disk that stands still, or that fails, when the test says so.
final class PausedDisk: Sendable {
  private struct State {
    var isPaused = false
    var isBroken = false
    /// The number of threads that wait for the disk.
    var waiting = 0
  }

  private let state = Locked(State())
  private let resumed = DispatchSemaphore(value: 0)

  var calls: FileSystemCalls {
    var calls = FileSystemCalls.system
    calls.synchronize = { [state, resumed] file throws(SystemError) in
      let waits = state.withLock { state in
        if state.isPaused { state.waiting += 1 }
        return state.isPaused
      }
      if waits { resumed.wait() }
      if state.withLock({ $0.isBroken }) { throw .inputOutput }
      try FileSystemCalls.system.synchronize(file)
    }
    return calls
  }

  func pause() { state.withLock { $0.isPaused = true } }

  func resume() {
    let waiting = state.withLock { state in
      defer { (state.isPaused, state.waiting) = (false, 0) }
      return state.waiting
    }
    for _ in 0..<waiting { resumed.signal() }
  }

  func setBroken(_ isBroken: Bool) { state.withLock { $0.isBroken = isBroken } }

  /// Waits until something is being written.
  func isAsked() async throws { try await eventually { state.withLock { $0.waiting > 0 } } }
}
