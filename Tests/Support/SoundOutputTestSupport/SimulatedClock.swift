// SPDX-License-Identifier: Apache-2.0

private import ConcurrencySupport
public import SoundOutputs

/// A clock for tests. It stands still until a thread waits, and then jumps to the time for which the thread waits.
public final class SimulatedClock: OutputClock {
  private struct State {
    var time = Duration.zero
    var events: [(time: Duration, action: @Sendable () -> Void)] = []
  }

  private let state = Locked(State())

  public init() {}

  public func now() -> Duration { state.withLock { $0.time } }

  /// Runs the action when the clock passes this time, on the waiting thread. Actions for the same time run in order.
  public func at(_ time: Duration, _ action: @escaping @Sendable () -> Void) {
    state.withLock { state in
      let place = state.events.firstIndex { $0.time > time } ?? state.events.endIndex
      state.events.insert((time, action), at: place)
    }
  }

  public func wait(until deadline: Duration?, while requested: PlayControl.State, of control: PlayControl) {
    while control.state == requested {
      let action: (@Sendable () -> Void)? = state.withLock { state in
        guard let event = state.events.first, event.time <= deadline ?? event.time else { return nil }
        state.events.removeFirst()
        state.time = max(state.time, event.time)
        return event.action
      }
      if let action {
        action()
      } else if let deadline {
        state.withLock { $0.time = max($0.time, deadline) }
        return
      } else {
        control.wait(while: requested, atMost: nil)  // Another thread must change the state.
      }
    }
  }
}
