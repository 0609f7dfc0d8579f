// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
public import Foundation

/// A clock that shows the time that the test has set.
public final class SetClock: Sendable {
  private let time = Locked(Date(timeIntervalSince1970: 1_800_000_000))

  public init() {}

  public var now: Date {
    get { time.withLock { $0 } }
    set { time.withLock { $0 = newValue } }
  }

  public func advance(by seconds: TimeInterval) { time.withLock { $0 += seconds } }
}
