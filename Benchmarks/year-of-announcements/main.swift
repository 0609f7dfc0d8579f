// SPDX-License-Identifier: Apache-2.0

// Fills a home folder with what a year of announcements leaves behind: 365 days of announcements with their answers and
// clips, pruned at the end of each day as the service does it. The clips have a hundredth of the usual size. They are
// written without waiting for the disk, because only the clips that remain at the end matter.
//     year-of-announcements HOME PER_DAY [BUDGET_BYTES]
// It prints the sizes on day 40, when the ledger is as full as it gets, and at the end, as pairs of names and values.

import Foundation
import Ledger
import PlaybackOrder
import SoundLibrary
import SQLiteLedger
import Synchronization

/// The days for which the service keeps announcements by default.
let retentionDays = 30
/// The days for which a clip's link is valid by default.
let linkDays = 7
/// A hundredth of the mean size of a clip, in bytes. An announcement has 4.3 s on average; see docs/benchmarks.md.
let clipBytes = 1_900
/// The size of a report with marks, in bytes.
let reportBytes = 1_000

let arguments = CommandLine.arguments
let given = arguments.count > 3 ? Int(arguments[3]) : nil
guard (3...4).contains(arguments.count), let perDay = Int(arguments[2]), perDay > 0,
  arguments.count == 3 || given.map({ $0 >= 0 }) ?? false
else {
  print("usage: year-of-announcements HOME PER_DAY [BUDGET_BYTES]")
  exit(64)
}
let home = URL(filePath: arguments[1], directoryHint: .isDirectory)
/// The default budget of the service at 20,000 announcements a day, in proportion to the rate and the size of clips.
let budget = given ?? (30 << 30) / 100 * perDay / 20_000

/// The simulated time in whole seconds since 1970. The year ends now.
let seconds = Atomic(Int(Date().timeIntervalSince1970) - 365 * 86_400)
let now: @Sendable () -> Date = { Date(timeIntervalSince1970: Double(seconds.load(ordering: .relaxed))) }

func clipName(_ number: Int) -> String {
  let digits = String(number, radix: 16)
  return String(repeating: "0", count: 64 - digits.count) + digits + ".wav"
}

/// Returns the size of a file in bytes.
func size(_ url: URL) throws -> Int {
  try FileManager.default.attributesOfItem(atPath: url.path(percentEncoded: false))[.size] as? Int ?? 0
}

try FileManager.default.createDirectory(
  at: home, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
let file = home.appending(path: "ledger.sqlite")
let ledger = try SQLiteLedger(at: file, now: now)
let container = GroupContainer(directory: home.appending(path: "containers/group.crier"))
let library = SoundLibrary(container: container, now: now)
let keeping = SoundKeeping(
  mostBytes: budget, mostFiles: 200_000, longestUnused: Double(retentionDays) * 86_400,
  keptAfterUse: Double(linkDays) * 86_400)
let bytes = [UInt8](repeating: 1, count: clipBytes)
let report = Data(repeating: UInt8(ascii: "x"), count: reportBytes)

/// Writes a clip that was last used now.
func writeClip(_ number: Int) throws {
  let file = library.soundsDirectory.appending(path: clipName(number))
  try Data(bytes).write(to: file)
  try FileManager.default.setAttributes([.modificationDate: now()], ofItemAtPath: file.path(percentEncoded: false))
}

/// Writes a clip, and records in the ledger that its announcement was played to the end.
func announce(_ number: Int) async throws {
  try writeClip(number)
  let id = "year-\(number)"
  let new = StoredAnnouncement(
    account: "shop", id: id, lane: "counter", category: .payment, payload: Data("{}".utf8))
  let answer = NewAnswer(
    account: "shop", key: "p:\(id)", bodyDigest: Data(count: 32), id: id, status: 201, report: report,
    clip: PublishedClip(name: clipName(number), group: "group.crier"))
  guard let accepted = try await ledger.accept(answer: answer, playing: new).acceptance else { return }
  try await ledger.set(accepted.number, .waiting, Ledger.Change(clip: clipName(number)))
  try await ledger.set(accepted.number, .cancelled)
}

try FileManager.default.createDirectory(at: library.soundsDirectory, withIntermediateDirectories: true)
var largestFolder = 0
var missing = 0
var ledgerOnDay40 = 0
for day in 0..<365 {
  let first = day * perDay
  try await withThrowingTaskGroup(of: Void.self) { group in
    for number in first..<first + perDay {
      // At most as many tasks run at a time as there can be writes in one synchronisation of the disk.
      if number >= first + 256 { try await group.next() }
      group.addTask { try await announce(number) }
    }
    try await group.waitForAll()
  }
  seconds.add(86_400, ordering: .relaxed)
  let oldest = now().addingTimeInterval(-Double(retentionDays) * 86_400)
  try await ledger.prune(finishedBefore: oldest)
  while try await ledger.pruneAnswers(before: oldest) > 0 {}
  let needed = try await ledger.neededClips(ofBatches: [], among: nil)
  _ = try library.remove(try library.excess(keeping, needed: needed, tidies: true))
  let sounds = try library.sounds()
  largestFolder = max(largestFolder, sounds.reduce(0) { $0 + $1.byteCount })
  // Every clip whose link is still valid must be there.
  let kept = Set(sounds.map(\.name))
  for number in max(0, first - (linkDays - 1) * perDay)..<first + perDay where !kept.contains(clipName(number)) {
    missing += 1
  }
  if day == 40 { ledgerOnDay40 = try size(file) }
  if day % 30 == 29 { FileHandle.standardError.write(Data("day \(day + 1) of 365\n".utf8)) }
}
print(
  "announcements \(365 * perDay) ledger_day_40 \(ledgerOnDay40) ledger_end \(try size(file)) "
    + "folder_most \(largestFolder) folder_budget \(budget) clips \(try library.sounds().count) missing \(missing)")
