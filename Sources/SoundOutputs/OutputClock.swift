// SPDX-License-Identifier: Apache-2.0

private import Foundation

/// The time an output goes by; tests give one that jumps.
public protocol OutputClock: Sendable {
  /// The time since a fixed moment; never goes back.
  func now() -> Duration

  /// Blocks the calling thread until `deadline` (nil: without end) or until the control's state is another one.
  func wait(until deadline: Duration?, while state: PlayControl.State, of control: PlayControl)
}

/// The machine's time: since 1970 as the wall clock had it when this was made, and from then on monotonic, without the
/// time that the machine slept.
public struct SystemClock: OutputClock {
  private let origin = SuspendingClock.now
  private let wallClock = Duration.milliseconds(Int64(Date().timeIntervalSince1970 * 1000))

  public init() {}

  public func now() -> Duration { wallClock + origin.duration(to: .now) }

  public func wait(until deadline: Duration?, while state: PlayControl.State, of control: PlayControl) {
    control.wait(while: state, atMost: deadline.map { $0 - now() })
  }
}

extension Duration {
  /// Whole milliseconds, rounded down.
  var wholeMilliseconds: Int {
    let (seconds, attoseconds) = components
    return Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
  }
}
