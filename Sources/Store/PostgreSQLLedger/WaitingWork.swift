// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport

/// The number and the bytes of the acceptances and commands that wait to be written.
final class WaitingWork: Sendable {
  private struct State {
    var count = 0
    var bytes = 0
  }

  private let limit: Int
  private let byteLimit: Int
  private let state = Locked(State())

  init(limit: Int, byteLimit: Int) {
    self.limit = limit
    self.byteLimit = byteLimit
  }

  /// Counts a write, if there is room for it.
  func add(_ bytes: Int) -> Bool {
    state.withLock { state in
      guard state.count < limit, state.bytes + bytes <= byteLimit else { return false }
      state.count += 1
      state.bytes += bytes
      return true
    }
  }

  func remove(_ bytes: Int) {
    state.withLock { state in
      state.count -= 1
      state.bytes -= bytes
    }
  }
}
