// SPDX-License-Identifier: Apache-2.0

private import Foundation

/// The clock of an output. Tests use a clock that advances without waiting.
public protocol OutputClock: Sendable {
  /// Returns the time since a fixed moment. It never goes back.
  func now() -> Duration

  /// Blocks the calling thread until `deadline` (`nil`: without limit) or until the control's state changes.
  func wait(until deadline: Duration?, while state: PlayControl.State, of control: PlayControl)
}

/// The machine's clock. It starts at the wall clock's time since 1970 when this value is created, and is monotonic from
/// then on. It does not count the time during which the machine slept.
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
  /// The duration in whole milliseconds, rounded down.
  var wholeMilliseconds: Int {
    let (seconds, attoseconds) = components
    return Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
  }
}
