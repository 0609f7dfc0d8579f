// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport

/// A limit on the number of tasks that do something at the same time.
final class Turns: Sendable {
  private struct State {
    var free: Int
    var waiting: [AwaitedAnswer<Void>] = []
  }

  private let state: Locked<State>

  /// - Parameter count: The number of turns.
  init(_ count: Int) { state = Locked(State(free: count)) }

  /// Waits for a turn. Turns are given in the order of the calls.
  func take() async {
    await waitForAnswer { answer in
      let isFree = state.withLock { state in
        guard state.free > 0 else {
          state.waiting.append(answer)
          return false
        }
        state.free -= 1
        return true
      }
      if isFree { answer.give(()) }
    }
  }

  /// Ends a turn.
  func giveBack() {
    let next: AwaitedAnswer<Void>? = state.withLock { state in
      guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
      state.free += 1
      return nil
    }
    next?.give(())
  }
}
