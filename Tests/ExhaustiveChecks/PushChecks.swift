// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushTestSupport
import Testing

/// The promise of the outbox, each push ends in exactly one outcome, at length. `CRIER_PUSHES` sets the number of pushes.
@Suite("The outbox of pushes at length", .serialized)
struct PushChecks {
  @Test("with random faults, each push ends once, in its device's order, and the ledger agrees with APNs")
  func randomFaults() async throws {
    let count = ProcessInfo.processInfo.environment["CRIER_PUSHES"].flatMap { Int($0) } ?? 20_000
    let findings = try await RandomFaults(pushes: count, devices: max(200, min(count / 200, 2_000))).run()
    #expect(findings.faults.prefix(20).isEmpty)
    let rate = Double(count) / findings.seconds
    print(
      """
      pushes: \(count) in \(Int(findings.seconds)) s (\(Int(rate)) per second), \(findings.duplicates) sent twice; \
      \(findings.states.map { "\($0.key) \($0.value)" }.sorted().joined(separator: ", ")); \
      faults: \(findings.happened.values.reduce(0, +)) of \(findings.requests) requests
      """)
  }

  @Test("after kills at 20 random moments of 10,000 pushes, all end, none is lost, and those sent twice are counted")
  func killed() async throws {
    let findings = try await KilledSenders(pushes: 10_000, kills: 20).run()
    #expect(findings.faults.prefix(20).isEmpty)
    #expect(findings.kills == 20)
    print(
      "push kill: \(findings.kills) kills, \(findings.interrupted) pushes interrupted, \(findings.duplicates) sent twice"
    )
  }
}
