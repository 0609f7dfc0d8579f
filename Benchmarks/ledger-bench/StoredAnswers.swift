// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger

/// Measures how many answers a ledger stores, each with its announcement and the decision about it, as the service stores
/// them. The announcements belong to many shops, so that they do not wait for the lock of one lane.
struct StoredAnswers: Sendable {
  let ledger: any Ledger.Store
  /// The number of shops. `Benchmarks/ledger/one.sql` has the same number.
  private static let shops = 1_000

  /// Stores answers for a time, and prints the figures.
  ///
  /// - Parameter tasks: The number of answers that are being stored at a time.
  func store(tasks: Int, seconds: Double) async throws {
    let (times, clock, run) = (Times(), ContinuousClock(), UUID().uuidString.prefix(8))
    let start = clock.now
    try await withThrowingDiscardingTaskGroup { group in
      for task in 0..<tasks {
        group.addTask {
          var number = 0
          while clock.now - start < .seconds(seconds) {
            let payment = SamplePayment(shop: .random(in: 0..<Self.shops), id: "4200002134\(run)-\(task)-\(number)")
            let (answer, announcement) = (payment.answer, payment.announcement)
            let stored = try await times.measure("answers") {
              try await ledger.accept(answer: answer, playing: announcement)
            }
            precondition(!stored.isDuplicate)
            number += 1
          }
        }
      }
    }
    times.print(in: clock.now - start)
  }
}
