// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Ledger
import SoundLibrary
import TestSupport
import Testing

/// A year of 20,000 announcements a day, at a share of this rate and with small clips, as the service keeps them: the
/// ledger for 30 days, and clips within a budget that has room for the 7 days of their links.
@Suite("A year of announcements")
struct YearChecks {
  /// The divisor of the rate.
  static let share = ProcessInfo.processInfo.environment["CRIER_YEAR_SHARE"].flatMap(Int.init) ?? 400
  static let perDay = 20_000 / share
  /// A hundredth of the size of a clip, in bytes.
  static let clipBytes = 1_200
  static let budget = (20 << 30) / 100 / share

  private let clock = Locked(Date(timeIntervalSince1970: 1_800_000_000))
  private let folder = FileManager.default.temporaryDirectory.appending(path: "year-\(UUID().uuidString)")

  private func name(_ number: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 64 - digits.count) + digits + ".wav"
  }

  private func size(_ url: URL) throws -> Int {
    try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int ?? 0
  }

  @Test("folder and ledger stay within their budgets, and no clip with a valid link is missing")
  func year() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let now: @Sendable () -> Date = { [clock] in clock.withLock { $0 } }
    let file = folder.appending(path: "ledger.sqlite")
    let ledger = try Ledger(at: file, now: now)
    let library = SoundLibrary(container: GroupContainer(directory: folder.appending(path: "group.crier")), now: now)
    let keeping = SoundKeeping(mostBytes: Self.budget, longestUnused: 30 * 86_400, keptAfterUse: 7 * 86_400)
    let bytes = [UInt8](repeating: 1, count: Self.clipBytes)
    var ledgerSizes: [Int] = []
    var folderSizes: [Int] = []
    for day in 0..<365 {
      let first = day * Self.perDay
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in first..<first + Self.perDay {
          group.addTask {
            _ = try library.publish(bytes, as: name(number))
            let accepted = try await ledger.accept(
              StoredAnnouncement(
                account: "shop", id: "\(number)", lane: "counter", category: .payment, payload: Data("{}".utf8)))
            try await ledger.set(accepted.number, .waiting, Ledger.Change(clip: name(number)))
            try await ledger.set(accepted.number, .cancelled)
          }
        }
        try await group.waitForAll()
      }
      clock.withLock { $0 += 86_400 }
      try await ledger.prune(finishedBefore: now().addingTimeInterval(-30 * 86_400))
      try library.prune(keeping, needed: try await ledger.neededClips(ofBatches: []))
      let sounds = try library.sounds()
      folderSizes.append(sounds.reduce(0) { $0 + $1.byteCount })
      ledgerSizes.append(try size(file))
      // Every clip whose link is still valid is there.
      let kept = Set(sounds.map(\.name))
      let valid = max(0, first - 6 * Self.perDay)..<first + Self.perDay
      #expect(valid.allSatisfy { kept.contains(name($0)) }, "day \(day)")
    }
    #expect(folderSizes.allSatisfy { $0 <= Self.budget })
    // The ledger is full after 30 days. From then on it does not grow.
    #expect(ledgerSizes[364] <= ledgerSizes[40] * 11 / 10, "\(ledgerSizes[40]) and \(ledgerSizes[364]) bytes")
    print(
      "year: \(365 * Self.perDay) announcements, ledger \(ledgerSizes[40]) bytes on day 40 and \(ledgerSizes[364]) at the "
        + "end, folder at most \(folderSizes.max() ?? 0) of \(Self.budget) bytes")
  }
}
