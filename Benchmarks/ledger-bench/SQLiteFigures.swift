// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import PlaybackOrder
import SQLiteLedger

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The table of how many acceptances per second a ledger in SQLite makes, and how many synchronisations per second the same
/// disk makes.
struct SQLiteFigures: Sendable {
  private let folder: URL
  private let seconds: Double
  private let clock = ContinuousClock()

  init(in parent: URL, seconds: Double) {
    folder = parent.appending(path: "ledger-bench-\(UUID().uuidString)")
    self.seconds = seconds
  }

  /// Measures, and prints each row when it is known.
  func print() async throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    Swift.print("                                            per second  p50 ms  p99 ms  max ms")
    Swift.print(synchronize(appending: false))
    Swift.print(synchronize(appending: true))
    for tasks in [1, 8, 64] { Swift.print(try await accept(tasks: tasks)) }
    for tasks in [1, 8, 64] { Swift.print(try await accept(tasks: tasks, answering: true)) }
    Swift.print(try await look(tasks: 8, "keys read by digest") { _ = try await $0.key(digest: $1) })
    Swift.print(try await look(tasks: 8, "keys' version read") { ledger, _ in _ = try await ledger.keysVersion() })
    Swift.print(synchronize(appending: true))
  }

  /// Returns sorted durations as a line of a table.
  private func row(_ name: String, _ times: [Duration], in elapsed: Duration) -> String {
    let sorted = times.sorted()
    func at(_ share: Double) -> String { String(format: "%8.2f", sorted.quantile(share) / .milliseconds(1)) }
    let rate = String(format: "%10.0f", Double(times.count) / (elapsed / .seconds(1)))
    return "\(name.padding(toLength: 44, withPad: " ", startingAt: 0))\(rate)\(at(0.5))\(at(0.99))\(at(1))"
  }

  /// Writes and synchronises 4 KiB repeatedly, either at the file's end or always at its start.
  private func synchronize(appending: Bool) -> String {
    // unsafe: the text lives as long as the call.
    let file = unsafe open(folder.appending(path: "plain").path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    precondition(file >= 0)
    defer { close(file) }
    let page = [UInt8](repeating: 7, count: 4096)
    var times: [Duration] = []
    let start = clock.now
    while clock.now - start < .seconds(seconds) {
      let offset = appending ? times.count * page.count : 0
      let time = clock.measure {
        // unsafe: the call reads at most the buffer's bytes.
        let count = unsafe page.withUnsafeBytes { unsafe pwrite(file, $0.baseAddress, $0.count, off_t(offset)) }
        #if canImport(Darwin)
          let result = fcntl(file, F_FULLFSYNC)
        #else
          let result = fdatasync(file)
        #endif
        precondition(count == page.count && result == 0)
      }
      times.append(time)
    }
    return row("disk: 4 KiB and fdatasync, \(appending ? "appended" : "in place")", times, in: clock.now - start)
  }

  /// Runs tasks that each accept one announcement after another, with or without an answer to its request.
  private func accept(tasks: Int, answering: Bool = false) async throws -> String {
    let ledger = try SQLiteLedger(at: folder.appending(path: "ledger-\(tasks)-\(answering).sqlite"))
    let payload = Data(repeating: UInt8(ascii: "x"), count: 250)
    // This is the size of a clip's report with its marks.
    let report = Data(repeating: UInt8(ascii: "x"), count: 1_000)
    let digest = Data(count: 32)
    let start = clock.now
    let times = try await withThrowingTaskGroup(of: [Duration].self) { group in
      for task in 0..<tasks {
        group.addTask {
          var times: [Duration] = []
          while clock.now - start < .seconds(seconds) {
            let new = StoredAnnouncement(
              id: "\(task)-\(times.count)", lane: "counter", category: .payment, sequence: nil, payload: payload)
            let answer = NewAnswer(
              account: "", key: "p:\(new.id)", bodyDigest: digest, id: new.id, status: 201, report: report)
            let before = clock.now
            if answering {
              _ = try await ledger.accept(answer: answer, playing: new)
            } else {
              _ = try await ledger.accept(new)
            }
            times.append(clock.now - before)
          }
          return times
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    let elapsed = clock.now - start
    let stored = try await ledger.counts(lane: nil).values.reduce(0, +)
    precondition(stored == times.count)
    return row("ledger: accepted\(answering ? " and answered" : ""), \(tasks) at a time", times, in: elapsed)
  }

  /// Runs tasks that each look up one key after another, with 100 stored keys.
  private func look(
    tasks: Int, _ name: String, _ work: @escaping @Sendable (any Ledger.Store, Data) async throws -> Void
  ) async throws -> String {
    let ledger = try SQLiteLedger(at: folder.appending(path: "keys-\(UUID().uuidString).sqlite"))
    let digests = (0..<100).map { Data(repeating: UInt8($0), count: 32) }
    for (index, digest) in digests.enumerated() {
      try await ledger.createKey(
        NewKey(id: "\(index)", account: "default", digest: digest, scopes: ["announce", "read"]))
    }
    let start = clock.now
    let times = try await withThrowingTaskGroup(of: [Duration].self) { group in
      for _ in 0..<tasks {
        group.addTask {
          var times: [Duration] = []
          while clock.now - start < .seconds(seconds) {
            let before = clock.now
            try await work(ledger, digests[times.count % digests.count])
            times.append(clock.now - before)
          }
          return times
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    return row("ledger: \(name), \(tasks) at a time", times, in: clock.now - start)
  }
}
