// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The time a player goes by; tests give one that they set.
public protocol PlayerClock: Sendable {
  /// In ms since a fixed moment; never goes back.
  func now() -> Int64

  /// The calendar's time, which somebody may set.
  func date() -> Date

  /// Returns at that moment of ``now()`` or later, at once when it has passed, and earlier when the task is cancelled.
  func sleep(until moment: Int64) async
}

/// The machine's: since 1970 as the wall clock had it when this was made, and steady from then on, so that no setting
/// of the clock holds up a sound.
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
