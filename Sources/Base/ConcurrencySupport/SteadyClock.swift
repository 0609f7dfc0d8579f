// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A clock that starts at the wall clock's time and then runs steadily, also while the machine sleeps.
///
/// People and time services set the wall clock. Pauses, deadlines and back-off are computed with this clock. A jump of
/// the wall clock therefore neither shortens nor extends them. Times that a person or another machine reads still come
/// from the wall clock.
public struct SteadyClock: Sendable {
  private let origin = ContinuousClock.now
  private let start = Date()

  public init() {}

  /// Returns the time. It never goes back and never jumps forward.
  public func now() -> Date { start.addingTimeInterval(origin.duration(to: .now) / .seconds(1)) }
}
