// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport

/// The clock of a phone in a test.
///
/// It goes on only while a work pauses, and by as much as the work has paused. A machine that is busy or stands still
/// therefore takes no time from a sound or from a turn. A clock that stands still goes on only when the test says so.
final class PhoneClock: Sendable {
  private let time = Locked<Int64>(1_000_000)
  private let standsStill: Bool

  init(standsStill: Bool = false) { self.standsStill = standsStill }

  /// The time in ms.
  var now: Int64 { time.withLock { $0 } }

  /// Lets a time in ms pass.
  func pass(_ milliseconds: Int64) { time.withLock { $0 += milliseconds } }

  /// Pauses a work for a time in ms, or until its task is cancelled.
  func pause(_ milliseconds: Int64) async {
    let end = now + milliseconds
    guard (try? await Task.sleep(for: .milliseconds(milliseconds))) != nil, !standsStill else { return }
    time.withLock { $0 = max($0, end) }
  }
}
