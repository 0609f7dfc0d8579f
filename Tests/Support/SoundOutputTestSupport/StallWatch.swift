// SPDX-License-Identifier: Apache-2.0

private import Foundation

/// Sees how long the machine itself stands still: a virtual one is not given its processors at all times.
///
/// Threads sleep for a millisecond each time, and what they oversleep was taken from everybody. A sound server that is
/// not run for 30 ms makes a gap 30 ms longer, or a hole in a sound, whatever the player does. It watches as long as
/// somebody has it.
public final class StallWatch: @unchecked Sendable {  // variables are used under `lock`
  private let lock = NSLock()
  private var most = Duration.zero

  public init() {
    // Each wakes on the processor where it fell asleep: with two for each processor, none is likely to be without.
    for _ in 0..<2 * ProcessInfo.processInfo.activeProcessorCount {
      Thread.detachNewThread { [weak self] in
        var last = ContinuousClock.now
        while true {
          Thread.sleep(forTimeInterval: 0.001)
          let now = ContinuousClock.now
          guard let self else { return }
          self.woke(after: now - last)
          last = now
        }
      }
    }
  }

  /// The longest that a thread overslept since the watch began.
  public var longest: Duration { lock.withLock { most } }

  private func woke(after time: Duration) {
    lock.withLock { most = max(most, time - .milliseconds(1)) }
  }
}
