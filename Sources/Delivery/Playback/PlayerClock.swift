// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The clock of a player. Tests use a clock that they set themselves.
public protocol PlayerClock: Sendable {
  /// Returns the time in ms since a fixed moment. It never goes back.
  func now() -> Int64

  /// Returns the calendar time, which can be set by people.
  func date() -> Date

  /// Waits until ``now()`` has reached the moment, or until the task is cancelled. Returns at once if the moment has
  /// passed.
  func sleep(until moment: Int64) async
}

/// The system's clock. It starts at the wall clock's time since 1970 and is monotonic from then on, so that setting the
/// wall clock never delays a sound.
public struct SystemPlayerClock: PlayerClock {
  private let origin = ContinuousClock.now
  private let wallClock = Int64((Date().timeIntervalSince1970 * 1000).rounded(.down))

  public init() {}

  public func now() -> Int64 { wallClock + Int64(origin.duration(to: .now) / .milliseconds(1)) }

  public func date() -> Date { Date() }

  public func sleep(until moment: Int64) async {
    try? await Task.sleep(
      until: origin + .milliseconds(moment - wallClock), tolerance: .zero, clock: .continuous)
  }
}
