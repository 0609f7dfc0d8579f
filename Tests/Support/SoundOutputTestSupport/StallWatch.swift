// SPDX-License-Identifier: Apache-2.0

private import ConcurrencySupport
private import Foundation

/// Measures how long the machine itself stalls, because a virtual machine does not always get its processors.
///
/// Its threads sleep for one millisecond at a time. A longer sleep means that the machine stalled for all processes. A
/// sound server that does not run for 30 ms makes a gap 30 ms longer, or causes a gap in a sound, whatever the player
/// does. The measurement continues as long as the object exists.
public final class StallWatch: Sendable {
  private let most = Locked(Duration.zero)

  public init() {
    // Each thread wakes on the processor on which it fell asleep. With two threads for each processor, probably every
    // processor has one.
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

  /// The longest delay of a thread since the measurement began.
  public var longest: Duration { most.withLock { $0 } }

  private func woke(after time: Duration) {
    most.withLock { $0 = max($0, time - .milliseconds(1)) }
  }
}
