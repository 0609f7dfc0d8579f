// SPDX-License-Identifier: Apache-2.0

// Measures the parts of accepting a payment provider's webhook, each on its own. `scripts/bench-webhooks` runs this
// program beside the service.
//
//   provider-bench check SETTINGS REQUESTS SECONDS    how many signatures a second all cores check, with the reading of
//                                                     the payments
//   provider-bench accept SETTINGS REQUESTS SECONDS FOLDER    how many payments a second a ledger in FOLDER accepts, 64 at
//                                                     a time
//
// SETTINGS is a providers.yaml without mapping files. REQUESTS has one JSON object per line: the endpoint, the header
// fields, and the body in base64. Each command prints one line of names and values.

import AnnouncementService
import ConcurrencySupport
import Foundation
import Ledger
import PaymentProviders
import ProviderSettings
import SQLiteLedger

struct Failure: Error { var description: String }

struct Line: Decodable {
  var endpoint: String
  var headers: [[String]]
  var body: Data
}

typealias Requests = [(request: ProviderRequest, endpoint: ProviderEndpoint)]

func requests(_ settings: String, _ file: String) throws -> Requests {
  let endpoints = try ProvidersFile.read(URL(filePath: settings)) { (name) throws(ProviderSettingsError) in
    throw ProviderSettingsError(.fileUnreadable, file: name, "is not read here", remedy: "use no mapping files")
  }.endpoints
  let byID = Dictionary(uniqueKeysWithValues: endpoints.map { ($0.id, $0) })
  return try String(contentsOf: URL(filePath: file), encoding: .utf8).split(separator: "\n").map { text in
    let line = try JSONDecoder().decode(Line.self, from: Data(text.utf8))
    guard let endpoint = byID[line.endpoint] else { throw Failure(description: "no endpoint \(line.endpoint)") }
    return (ProviderRequest(headers: line.headers.map { ($0[0], $0[1]) }, body: line.body), endpoint)
  }
}

/// Checks the requests again and again in a task for each core.
func check(_ requests: Requests, for seconds: Double) async throws {
  let start = ContinuousClock.now
  let tasks = ProcessInfo.processInfo.activeProcessorCount
  let count = try await withThrowingTaskGroup(of: Int.self) { group in
    for task in 0..<tasks {
      group.addTask {
        var count = 0
        while ContinuousClock.now - start < .seconds(seconds) {
          // Each task checks all requests in their order, beginning at a different place. If a task got every second
          // request, all its requests could be of one kind, and the task with the faster kind would decide the result.
          let (request, endpoint) = requests[(task * requests.count / tasks + count) % requests.count]
          let judgement = endpoint.judge(request, at: Date())
          guard judgement.payments.count == 1 else {
            throw Failure(description: judgement.rejection?.description ?? "no payment")
          }
          count += 1
        }
        return count
      }
    }
    return try await group.reduce(0, +)
  }
  let elapsed = (ContinuousClock.now - start) / .seconds(1)
  print("checked \(count) seconds \(elapsed) rate \(Double(count) / elapsed)")
}

/// Accepts the payments of the requests, which were checked before, with full durability.
func accept(_ requests: Requests, for seconds: Double, in folder: URL) async throws {
  let ledger = try SQLiteLedger(at: folder.appending(path: "ledger.sqlite"))
  let reports = requests.map { request, endpoint in
    ProviderPayments.reports(
      of: endpoint.judge(request, at: Date()).outcomes, in: request.body, for: endpoint, at: Date()
    )
    .compactMap(\.self)
  }
  let next = Locked(0)
  let start = ContinuousClock.now
  try await withThrowingDiscardingTaskGroup { group in
    for _ in 0..<64 {
      group.addTask {
        while ContinuousClock.now - start < .seconds(seconds) {
          let number = next.withLock { number in
            number += 1
            return number - 1
          }
          guard number < reports.count else { return }
          guard try await ledger.accept(providerPayments: reports[number]) == [.accepted] else {
            throw Failure(description: "a payment was not accepted")
          }
        }
      }
    }
  }
  let elapsed = (ContinuousClock.now - start) / .seconds(1)
  let count = min(next.withLock { $0 }, reports.count)
  print("accepted \(count) seconds \(elapsed) rate \(Double(count) / elapsed)")
}

let arguments = CommandLine.arguments
guard arguments.count >= 5, let seconds = Double(arguments[4]) else {
  throw Failure(description: "provider-bench check|accept SETTINGS REQUESTS SECONDS [FOLDER]")
}
let all = try requests(arguments[2], arguments[3])
switch (arguments[1], arguments.count) {
case ("check", 5): try await check(all, for: seconds)
case ("accept", 6): try await accept(all, for: seconds, in: URL(filePath: arguments[5]))
default: throw Failure(description: "provider-bench check|accept SETTINGS REQUESTS SECONDS [FOLDER]")
}
