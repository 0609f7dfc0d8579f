// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation

/// The durations of calls, by the name of the call.
final class Times: Sendable {
  private let clock = ContinuousClock()
  private let times = Locked<[String: [Duration]]>([:])

  /// Runs a call and notes how long it took. The time of a call that throws is not noted.
  func measure<Value: Sendable>(_ name: String, _ call: () async throws -> Value) async throws -> Value {
    let start = clock.now
    let value = try await call()
    note(name, clock.now - start)
    return value
  }

  func note(_ name: String, _ time: Duration) { times.withLock { $0[name, default: []].append(time) } }

  /// Prints a line for each name: its calls, how many they were in a second, and their durations in ms.
  func print(in elapsed: Duration) {
    for (name, times) in times.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
      let sorted = times.sorted()
      func at(_ share: Double) -> String { String(format: "%.2f", sorted.quantile(share) / .milliseconds(1)) }
      let rate = String(format: "%.1f", Double(times.count) / (elapsed / .seconds(1)))
      Swift.print("\(name): count \(times.count) rate \(rate) p50_ms \(at(0.5)) p99_ms \(at(0.99)) max_ms \(at(1))")
    }
  }
}

extension [Duration] {
  /// Returns the value that a share of sorted durations does not exceed.
  func quantile(_ share: Double) -> Duration { self[Swift.min(count - 1, Int(Double(count) * share))] }
}
