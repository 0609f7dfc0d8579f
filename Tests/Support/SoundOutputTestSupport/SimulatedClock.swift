// SPDX-License-Identifier: Apache-2.0

public import SoundOutputs
private import Foundation

/// A clock for tests. It stands still until a thread waits, and then jumps to the time for which the thread waits.
public final class SimulatedClock: OutputClock, @unchecked Sendable {  // All variables are used only under `lock`.
  private let lock = NSLock()
  private var time = Duration.zero
  private var events: [(time: Duration, action: @Sendable () -> Void)] = []

  public init() {}

  public func now() -> Duration { lock.withLock { time } }

  /// Runs the action when the clock passes this time, on the waiting thread. Actions for the same time run in order.
  public func at(_ time: Duration, _ action: @escaping @Sendable () -> Void) {
    lock.withLock {
      let place = events.firstIndex { $0.time > time } ?? events.endIndex
      events.insert((time, action), at: place)
    }
  }

  public func wait(until deadline: Duration?, while state: PlayControl.State, of control: PlayControl) {
    while control.state == state {
      let action: (@Sendable () -> Void)? = lock.withLock {
        guard let event = events.first, event.time <= deadline ?? event.time else { return nil }
        events.removeFirst()
        time = max(time, event.time)
        return event.action
      }
      if let action {
        action()
      } else if let deadline {
        lock.withLock { time = max(time, deadline) }
        return
      } else {
        control.wait(while: state, atMost: nil)  // Another thread must change the state.
      }
    }
  }
}
