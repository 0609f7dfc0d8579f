// SPDX-License-Identifier: Apache-2.0

// Measures the speed of the client of APNs and of the outbox. `scripts/bench-push` runs this program beside h2load.
//
//   push-bench headers KEY                              the header fields of a push, with a provider token, for h2load
//   push-bench payload                                  its body
//   push-bench direct URL AUTHORITY KEY CONNECTIONS COUNT        pushes to one device without the outbox
//   push-bench outbox URL AUTHORITY KEY FOLDER DEVICES COUNT     pushes through the outbox of a ledger in FOLDER
//
// Each command prints one line of names and values.

import ConcurrencySupport
import Foundation
import Ledger
import PushDelivery
import PushMessages
import SQLiteLedger

let app = "com.example.shop"
let payload = Data(
  #"""
  {"aps":{"alert":{"body":"From Zhang San. Note: table 5","subtitle":"PayPal","title":"Received $12.50"},\#
  "mutable-content":1,"sound":"0123456789abcdef0123456789abcdef.wav"},\#
  "crier":{"amount":"12.50","currency":"USD","id":"0123456789abcdef","kind":"received","sequence":12345}}
  """#.utf8)

func token(_ device: Int) -> String {
  let digits = String(device, radix: 16)
  return String(repeating: "0", count: 64 - digits.count) + digits
}

func providerKey(_ file: String) throws -> ProviderKey {
  try ProviderKey(file: URL(filePath: file), id: "ABC123DEFG", team: "DEF123GHIJ")
}

func request(to device: Int) throws -> PushRequest {
  try PushRequest(
    token: DeviceToken(token(device)), app: BundleID(app), type: .alert, expiresAt: Date().addingTimeInterval(3_600),
    body: payload)
}

func client(_ arguments: ArraySlice<String>, connections: Int) throws -> PushClient {
  let words = Array(arguments)
  guard let server = PushServer(url: words[0], trustRoots: URL(filePath: words[1])) else { throw BadArguments() }
  return PushClient(
    connections: try PushConnections(server: server, count: connections),
    tokens: ProviderTokens(key: try providerKey(words[2])))
}

struct BadArguments: Error {}
struct Unexpected: Error { var status: Int }

/// The processor time of this process in seconds.
func processorTime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

let noID = UUID().uuid

/// Returns an id that no other push has. The service gets ids from the ledger, so the measurement must not include
/// making random ids.
func id(_ number: Int) -> UUID {
  var id = noID
  withUnsafeMutableBytes(of: &id) { $0.storeBytes(of: UInt64(number).bigEndian, toByteOffset: 8, as: UInt64.self) }
  return UUID(uuid: id)
}

/// Sends pushes without the outbox, as many at a time as a server like nghttpd allows on each connection.
func direct(_ client: PushClient, connections: Int, count: Int) async throws {
  let push = try request(to: 0)
  _ = try await client.send(push)
  let next = Locked(0)
  let (start, processor) = (ContinuousClock.now, processorTime())
  try await withThrowingDiscardingTaskGroup { group in
    for _ in 0..<connections * 100 {
      group.addTask {
        while true {
          let number = next.withLock { number in
            number += 1
            return number
          }
          guard number <= count else { break }
          var push = push
          push.id = id(number)
          let attempt = try await client.send(push)
          guard attempt.consequence == .delivered else { throw Unexpected(status: attempt.response.status) }
        }
      }
    }
  }
  let seconds = (ContinuousClock.now - start) / .seconds(1)
  print("rate \(Int(Double(count) / seconds)) processor_us \(Int((processorTime() - processor) / Double(count) * 1e6))")
}

/// Accepts pushes, 64 at a time as requests of the service do, and then sends them.
func outbox(_ client: PushClient, folder: URL, devices: Int, count: Int) async throws {
  let ledger = try SQLiteLedger(at: folder.appending(path: "push-\(UUID().uuidString).sqlite"))
  for device in 0..<devices {
    let digest = Data(repeating: 0, count: 24) + withUnsafeBytes(of: UInt64(device).bigEndian) { Data($0) }
    _ = try await ledger.register(
      NewDevice(
        account: "shop", id: "\(device)", app: app, environment: .production, tokens: [.alert: token(device)]),
      key: NewKey(id: "key-\(device)", account: "shop", digest: digest, scopes: ["device"], device: "\(device)"),
      renewsKey: false, with: nil,
      by: .currentUser)
  }
  let next = Locked(0)
  var start = ContinuousClock.now
  try await withThrowingDiscardingTaskGroup { group in
    for _ in 0..<64 {
      group.addTask {
        while true {
          let number = next.withLock { number in
            number += 1
            return number
          }
          guard number <= count else { break }
          let push = NewPush(
            device: "\(number % devices)", kind: .alert, priority: 10, expiresAt: Date().addingTimeInterval(3_600),
            body: NewPush.Body(payload))
          _ = try await ledger.accept([push], account: "shop")
        }
      }
    }
  }
  let accepted = Double(count) / ((ContinuousClock.now - start) / .seconds(1))
  let (ends, end) = AsyncStream<Void>.makeStream()
  start = ContinuousClock.now
  let sender = PushSender(
    ledger: ledger, clients: [PushSchedule.App(bundleID: app, environment: .production): client],
    report: { report in
      if case .ended(let push) = report, push.state == .delivered { end.yield() }
    })
  let running = Task { await sender.run() }
  var missing = count
  for await _ in ends {
    missing -= 1
    if missing == 0 { break }
  }
  let sent = Double(count) / ((ContinuousClock.now - start) / .seconds(1))
  running.cancel()
  await running.value
  print("accepted \(Int(accepted)) sent \(Int(sent))")
}

let arguments = CommandLine.arguments
switch (arguments.dropFirst().first, arguments.count) {
case ("headers", 3):
  print("authorization: bearer \(try providerKey(arguments[2]).token(issuedAt: Date()))")
  for (name, value) in try request(to: 0).headers { print("\(name): \(value)") }
  print("content-type: application/json")
case ("payload", 2): FileHandle.standardOutput.write(payload)
case ("direct", 7):
  guard let connections = Int(arguments[5]), let count = Int(arguments[6]) else { throw BadArguments() }
  let client = try client(arguments[2...4], connections: connections)
  try await direct(client, connections: connections, count: count)
case ("outbox", 8):
  guard let devices = Int(arguments[6]), let count = Int(arguments[7]) else { throw BadArguments() }
  try await outbox(
    try client(arguments[2...4], connections: 1), folder: URL(filePath: arguments[5]), devices: devices, count: count)
default:
  FileHandle.standardError.write(Data("push-bench: see the first lines of Benchmarks/push-bench/main.swift\n".utf8))
  exit(64)
}
