// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
public import Foundation

/// A clock for senders. It stands still until the test moves it, or jumps to the end of each wait.
///
/// It does not jump over waits of more than 1,000 s. While requests are under way, a sender also waits for the expiry
/// of pushes, and the answers to the requests must come before the expiry.
public final class TestClock: Sendable {
  private struct State {
    var now = Date(timeIntervalSince1970: 1_900_000_000)
    var jumps: Bool
    var sleepers: [UUID: (until: Date, wake: AwaitedAnswer<Bool>)] = [:]
    var cancelled: Set<UUID> = []
  }

  private let state: Locked<State>

  /// - Parameter jumps: Whether the clock jumps to the end of each wait at once.
  public init(jumps: Bool) { state = Locked(State(jumps: jumps)) }

  public var now: Date { state.withLock { $0.now } }

  /// Lets the clock jump from now on, and ends all waits.
  public func jump() {
    let sleepers = state.withLock { state in
      state.jumps = true
      for sleeper in state.sleepers.values { state.now = max(state.now, sleeper.until) }
      defer { state.sleepers = [:] }
      return state.sleepers.values.map(\.wake)
    }
    for sleeper in sleepers { sleeper.give(true) }
  }

  public func sleep(_ duration: Duration) async throws {
    let id = UUID()
    let isOver: Bool = await withTaskCancellationHandler {
      await waitForAnswer { answer in
        let isDone = state.withLock { state -> Bool? in
          if state.cancelled.remove(id) != nil { return false }
          let until = state.now.addingTimeInterval(duration / .seconds(1))
          if state.jumps, duration <= .seconds(1_000) {
            state.now = until
            return true
          }
          state.sleepers[id] = (until, answer)
          return nil
        }
        if let isDone { answer.give(isDone) }
      }
    } onCancel: {
      let sleeper = state.withLock { state in
        let sleeper = state.sleepers.removeValue(forKey: id)
        if sleeper == nil { state.cancelled.insert(id) }
        return sleeper
      }
      sleeper?.wake.give(false)
    }
    guard isOver else { throw CancellationError() }
  }
}
