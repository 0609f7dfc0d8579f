// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import PlaybackOrder

/// Measures how long a lane takes for its decisions about a long backlog: once if it summarises the backlog, and once
/// if it plays all of it. Every other payment has a sequence number.
struct Backlog: ParsableCommand {
  @Option var count = 10_000

  func run() throws {
    guard count >= 20 else { throw ValidationError("Give a count of 20 or more.") }
    let (small, large) = (try measure(count / 10), try measure(count))
    print(
      "backlog \(count) summarised_ms \(large.summarising / .milliseconds(1)) "
        + "drained_ms \(large.draining / .milliseconds(1)) "
        + "summarised_growth \(large.summarising / small.summarising) drained_growth \(large.draining / small.draining)"
    )
  }

  private func measure(_ count: Int) throws -> (summarising: Duration, draining: Duration) {
    let items = (1...Int64(count)).map { number in
      PlaybackItem(number: number, category: .payment, sequence: number % 2 == 0 ? number : nil, acceptedAt: 0)
    }
    func filled(_ settings: PlaybackOrder.Settings) -> PlaybackOrder {
      var order = PlaybackOrder(settings: settings)
      for item in items { order.accept(item) }
      return order
    }
    let clock = ContinuousClock()
    var order = filled(PlaybackOrder.Settings(longestBacklog: count - 1))
    var isSummarised = false
    let summarising = clock.measure { isSummarised = order.next(at: 2_000) == .summarise(items) }
    order = filled(PlaybackOrder.Settings())
    var played = 0
    let draining = clock.measure {
      while case .play = order.next(at: 2_000) {
        played += 1
        order.finished()
      }
    }
    guard isSummarised, played == count else { throw ValidationError("The backlog was not handled whole.") }
    return (summarising, draining)
  }
}
