// SPDX-License-Identifier: Apache-2.0

import APNSSimulator
import Foundation
import Ledger
import SQLiteLedger
import TestSupport

/// Senders that are killed at random moments while they send the pushes of one ledger, until the last one finishes.
public struct KilledSenders: Sendable {
  public var pushes: Int
  public var kills: Int
  public var devices = 200
  public var seed: UInt64 = 1

  public init(pushes: Int, kills: Int) {
    self.pushes = pushes
    self.kills = kills
  }

  public struct Findings: Sendable {
    /// The promises that were broken, in words. Empty if there are none.
    public var faults: [String] = []
    /// The number of senders that were killed before they had finished.
    public var kills = 0
    /// The pushes that the senders found interrupted.
    public var interrupted = 0
    public var duplicates = 0
  }

  private static let program = (Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0]))
    .deletingLastPathComponent().appending(path: "push-sender")

  public func run() async throws -> Findings {
    try await PushSite.with {
      // Each process makes a provider token of its own, much sooner than APNs allows.
      $0.tokenUpdateInterval = 0
      $0.remembersDeliveries = false
      $0.recordSize = pushes
    } _: { site in
      try await run(at: site)
    }
  }

  private func run(at site: PushSite) async throws -> Findings {
    let file = site.folder.appending(path: "ledger.sqlite")
    var random = SplitMix64(seed: seed)
    do {
      let ledger = try SQLiteLedger(at: file)
      for device in 0..<devices { try await Outbox.register(device, in: ledger) }
      let batch = (0..<pushes).map { _ in
        Outbox.alert(to: Int.random(in: 0..<devices, using: &random), expiresAt: Date().addingTimeInterval(86_400))
      }
      for start in stride(from: 0, to: pushes, by: 500) {
        _ = try await ledger.accept(Array(batch[start..<min(start + 500, pushes)]), account: Outbox.account)
      }
    }
    var findings = Findings()
    var acceptances = site.simulator.acceptances().makeAsyncIterator()
    var seen = 0
    for kill in 1...kills {
      let (process, output) = try start(file, site)
      // The moment of the kill: after a random number of acceptances, spread over all pushes.
      let moment = pushes * kill / (kills + 1) + Int.random(in: 0..<max(1, pushes / (kills + 1)), using: &random)
      while seen < moment, await acceptances.next() != nil { seen += 1 }
      process.killAndWait()
      findings.kills += 1
      try count(output, in: &findings)
    }
    let (process, output) = try start(file, site)
    process.waitUntilExit()
    if process.terminationStatus != 0 { findings.faults.append("the last sender: status \(process.terminationStatus)") }
    try count(output, in: &findings)
    try await compare(SQLiteLedger(at: file), site.simulator, &findings)
    return findings
  }

  private func start(_ ledger: URL, _ site: PushSite) throws -> (Process, Pipe) {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = Self.program
    process.arguments = [ledger.path, "\(site.simulator.port)", site.authority.path, site.keyFile.path]
    process.standardOutput = pipe
    try process.run()
    return (process, pipe)
  }

  private func count(_ output: Pipe, in findings: inout Findings) throws {
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    findings.interrupted += text.split(separator: "\n").compactMap { Int($0) }.reduce(0, +)
  }

  private func compare(_ ledger: any Ledger.Store, _ simulator: APNSSimulator, _ findings: inout Findings) async throws
  {
    let states = try await ledger.pushCounts()
    if states != [.delivered: pushes] { findings.faults.append("not all are delivered: \(states)") }
    let record = simulator.record
    if record.count != pushes { findings.faults.append("APNs has seen \(record.count) different pushes") }
    var again = 0
    for device in 0..<devices {
      var after: Int64 = 0
      while true {
        let page = try await ledger.pushes(
          account: Outbox.account, device: "device-\(device)", afterSequence: after, limit: 1_000)
        guard let last = page.last?.sequence else { break }
        after = last
        for push in page {
          let accepted = record[push.id]?.accepted ?? 0
          if accepted == 0 { findings.faults.append("push \(push.number) is lost") }
          if accepted > push.attempts { findings.faults.append("push \(push.number) was sent without a mark") }
          again += max(0, accepted - 1)
        }
      }
    }
    findings.duplicates = simulator.counts.duplicates
    if again != findings.duplicates { findings.faults.append("a push has come again under another id") }
    if findings.interrupted < findings.duplicates {
      findings.faults.append("\(findings.duplicates) came again, and \(findings.interrupted) were reported")
    }
  }
}
