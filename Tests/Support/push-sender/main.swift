// SPDX-License-Identifier: Apache-2.0

// A sender of pushes that tests kill: `push-sender LEDGER PORT AUTHORITY KEY`.
//
// It sends all unfinished pushes of the ledger to a simulator of APNs on the port, and ends with status 0 when all have
// ended. For each report of interrupted pushes, it prints a line with their number. Its clock runs 300 times as fast as
// the machine's, so that pushes that are set aside for ten minutes are tried within seconds.

import ConcurrencySupport
import Foundation
import Ledger
import PushDelivery
import PushTestSupport
import SQLiteLedger

let arguments = CommandLine.arguments
guard arguments.count == 5, let port = Int(arguments[2]) else {
  FileHandle.standardError.write(Data("usage: push-sender LEDGER PORT AUTHORITY KEY\n".utf8))
  exit(64)
}
let ledger = try SQLiteLedger(at: URL(filePath: arguments[1]))
let server = PushServer(host: "localhost", port: port, trustRoots: URL(filePath: arguments[3]))
let key = try ProviderKey(file: URL(filePath: arguments[4]), id: PushSite.keyID, team: PushSite.team)
let client = PushClient(connections: try PushConnections(server: server, count: 2), tokens: ProviderTokens(key: key))
let unfinished = try await ledger.pushCounts().filter { !$0.key.isFinal }.values.reduce(0, +)
if unfinished == 0 { exit(0) }

let speed = 300.0
let clock = SteadyClock()
let start = clock.now()

let (ends, end) = AsyncStream<Void>.makeStream()
let sender = PushSender(
  ledger: ledger, clients: [Outbox.app: client],
  now: { start.addingTimeInterval(clock.now().timeIntervalSince(start) * speed) },
  sleep: { try await Task.sleep(for: $0 / speed) },
  report: { report in
    switch report {
    case .interrupted(let count), .setAside(let count):
      try? FileHandle.standardOutput.write(contentsOf: Data("\(count)\n".utf8))
    case .ended: end.yield()
    default: break
    }
  })
let running = Task { await sender.run() }
var missing = unfinished
for await _ in ends {
  missing -= 1
  if missing == 0 { break }
}
running.cancel()
await running.value
let counts = try await ledger.pushCounts()
exit(counts.keys.allSatisfy(\.isFinal) ? 0 : 70)
