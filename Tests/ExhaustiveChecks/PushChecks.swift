// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushTestSupport
import Testing

/// Checks with many pushes that each push of the outbox ends in exactly one outcome. `make check-pushes` sets the
/// number of pushes with `CRIER_PUSHES`, and shows the progress.
@Suite("The outbox with many pushes", .serialized)
struct PushChecks {
  @Test(
    "with random faults, each push ends once, the pushes to a device stay in order, and the ledger agrees with APNs")
  func randomFaults() async throws {
    let wanted = ProcessInfo.processInfo.environment["CRIER_PUSHES"].flatMap { Int($0) }
    let count = wanted ?? 20_000
    var run = RandomFaults(pushes: count, devices: max(200, min(count / 200, 2_000)))
    if wanted != nil {
      let start = ContinuousClock.now
      run.progress = { ended in
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let line = "\(ended) of \(count) pushes have ended, \(Int(Double(ended) / seconds)) per second\n"
        FileHandle.standardError.write(Data(line.utf8))
      }
    }
    let findings = try await run.run()
    #expect(findings.faults.prefix(20).isEmpty)
    let rate = Double(count) / findings.seconds
    print(
      """
      pushes: \(count) in \(Int(findings.seconds)) s (\(Int(rate)) per second), \(findings.duplicates) sent twice; \
      \(findings.states.map { "\($0.key) \($0.value)" }.sorted().joined(separator: ", ")); \
      faults: \(findings.happened.values.reduce(0, +)) of \(findings.requests) requests; peak memory: \(Self.peakMemory)
      """)
  }

  /// The largest amount of memory that this process has had, as Linux states it.
  private static var peakMemory: String {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line.map { $0.dropFirst(6).trimmingPrefix { $0.isWhitespace } }.map(String.init) ?? "unknown"
  }

  @Test("after kills at 20 random moments, all 10,000 pushes end, none is lost, and pushes sent twice are counted")
  func killed() async throws {
    let findings = try await KilledSenders(pushes: 10_000, kills: 20).run()
    #expect(findings.faults.prefix(20).isEmpty)
    #expect(findings.kills == 20)
    print(
      "push kill: \(findings.kills) kills, \(findings.interrupted) pushes interrupted, \(findings.duplicates) sent twice"
    )
  }
}
