// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundLibrary
import TestSupport

/// Publishes, looks up and prunes clips in one folder, together with other processes that do the same, and checks that
/// every promise of the sound library holds. It prints a line for each broken promise, and figures in its last line.
///
/// Usage: sound-keeper CONTAINER SEED SECONDS ORIGIN
///
/// The clock runs 3,600 times faster than the real one, from the real time ORIGIN on, so that a second is an hour.
///
/// The checks know these rules: a clip stays while a link to it is valid, while something needs it, and while it is the
/// chosen tone; and after a prune, the clips exceed the budget only if all of them are in use.
@main
struct SoundKeeper {
  static let clipCount = 10_000
  /// The budget in bytes: about a twentieth of all clips.
  static let budget = 500 * 4_096
  /// Clips that every process lists as needed. The process with seed 1 publishes them first.
  static let needed = (0..<50).map(name)
  /// The chosen tone: a sound whose name has the form of a clip's name. Nobody uses it.
  static let tone = name(clipCount)
  /// The time for which a link to a clip is valid after its use, in seconds of the fast clock.
  static let linkLifetime: TimeInterval = 3 * 3_600
  /// The longest time for which a process needs a clip, in seconds of the fast clock. It is longer than
  /// ``linkLifetime``, so that only the need keeps a clip at the end of this time.
  static let longestNeed: TimeInterval = 10 * 3_600

  let library: SoundLibrary
  let seed: UInt64
  /// The folder that stands for the batches, announcements and pushes that need clips. A file in it has the name of the
  /// clip and the seed of the process.
  let needs: URL
  /// The clips that this process needs, each with the end of the need.
  var ownNeeds: [(index: Int, until: Date)] = []
  var needCount = 0
  let time: @Sendable () -> Date
  var numbers: SplitMix64
  /// The clips whose use was confirmed, with the time of the use.
  var uses: [(index: Int, at: Date)] = []
  var published = 0
  var found = 0
  var missed = 0
  var removed = 0
  var checks = 0

  static func main() {
    let arguments = CommandLine.arguments
    guard arguments.count == 5, let seed = UInt64(arguments[2]), let seconds = Double(arguments[3]),
      let origin = Double(arguments[4])
    else { fatalError("usage: sound-keeper CONTAINER SEED SECONDS ORIGIN") }
    let time: @Sendable () -> Date = {
      let real = Date().timeIntervalSince1970
      return Date(timeIntervalSince1970: origin + (real - origin) * 3_600)
    }
    let container = GroupContainer(directory: URL(filePath: arguments[1], directoryHint: .isDirectory))
    var keeper = SoundKeeper(
      library: SoundLibrary(container: container, now: time), seed: seed,
      needs: container.directory.appending(path: "needs", directoryHint: .isDirectory), time: time,
      numbers: SplitMix64(seed: seed))
    do {
      try FileManager.default.createDirectory(at: keeper.needs, withIntermediateDirectories: true)
      if seed == 1 { try keeper.prepare() }
      let end = Date().addingTimeInterval(seconds)
      while Date() < end { try keeper.step() }
    } catch {
      keeper.complain("\(error)")
    }
    print(
      "published \(keeper.published) found \(keeper.found) missed \(keeper.missed) removed \(keeper.removed) "
        + "checks \(keeper.checks) needs \(keeper.needCount)")
  }

  static func name(_ index: Int) -> String {
    let digits = String(index, radix: 16)
    return String(repeating: "0", count: 64 - digits.count) + digits + ".wav"
  }

  /// A clip of 100 to 8,099 bytes that can be checked: every byte follows from its place, the index and the length.
  static func bytes(_ index: Int) -> [UInt8] {
    let count = 100 + (index &* 7_919) % 8_000
    return (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ index &+ count) }
  }

  func complain(_ text: String) { print("broken: \(text)") }

  /// Whether a file exists. The library is not asked, because it is what is being checked.
  func exists(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: library.soundsDirectory.appending(path: name).path(percentEncoded: false))
  }

  func prepare() throws {
    for (index, name) in Self.needed.enumerated() { _ = try library.publish(Self.bytes(index), as: name) }
    _ = try library.publish([1, 2, 3], as: "tone.wav")
    _ = try library.publish(Self.bytes(Self.clipCount), as: Self.tone)
    try FileTonePreference(container: library.container).setTone(Self.tone)
    // Standard output is a pipe, whose buffer would hold the line back.
    try FileHandle.standardOutput.write(contentsOf: Data("ready\n".utf8))
  }

  mutating func step() throws {
    // Half of the requests are for one clip in a hundred.
    let index = Int.random(
      in: 0..<(Bool.random(using: &numbers) ? Self.clipCount : Self.clipCount / 100), using: &numbers)
    let name = Self.name(index)
    let before = time()
    switch Int.random(in: 0..<100, using: &numbers) {
    case 0..<55:
      if let content = try library.contents(of: name, isUse: true) {
        if content != Self.bytes(index) { complain("a reader saw a partial or wrong clip of \(content.count) bytes") }
        found += 1
        uses.append((index, before))
      } else {
        missed += 1
      }
    case 55..<70:
      if try library.use(name) { uses.append((index, before)) }
    case 70..<97:
      _ = try library.publish(Self.bytes(index), as: name)
      published += 1
      uses.append((index, before))
    case 97: try need(index)
    default: try prune()
    }
    if uses.count > 2_000 { uses.removeFirst(1_000) }
    try endNeeds()
    check()
  }

  private func need(of index: Int) -> URL { needs.appending(path: "\(Self.name(index)).\(seed)") }

  /// Begins to need a clip for some time. This is also a use of the clip. The clip stays until the end of the need.
  mutating func need(_ index: Int) throws {
    // Processes that are killed need nothing, because their files would stay.
    guard seed <= 4, !ownNeeds.contains(where: { $0.index == index }) else { return }
    try Data().write(to: need(of: index))
    guard try library.use(Self.name(index)) else { return try FileManager.default.removeItem(at: need(of: index)) }
    let time = TimeInterval.random(in: 0..<Self.longestNeed, using: &numbers)
    ownNeeds.append((index, self.time().addingTimeInterval(time)))
    needCount += 1
  }

  /// Ends the needs whose time is over, and checks that their clips are still there.
  mutating func endNeeds() throws {
    let now = time()
    for need in ownNeeds where need.until <= now {
      if !exists(Self.name(need.index)) { complain("a clip that was needed until now is missing") }
      try FileManager.default.removeItem(at: self.need(of: need.index))
    }
    ownNeeds.removeAll { $0.until <= now }
  }

  /// Returns the clips that some process needs.
  func neededNow() throws -> Set<String> {
    let length = Self.tone.count
    let names = try FileManager.default.contentsOfDirectory(atPath: needs.path(percentEncoded: false))
    return Set(names.map { String($0.prefix(length)) }).union(Self.needed)
  }

  /// Removes clips as the service does it, and checks what is left.
  mutating func prune() throws {
    let start = time()
    let before = Set(try library.sounds())
    var needed = try neededNow()
    let keeping = SoundKeeping(mostBytes: Self.budget, keptAfterUse: Self.linkLifetime)
    for group in SoundKeeping.groups(of: try library.excess(keeping, needed: needed, tidies: true)) {
      let neededNow = try neededNow()
      needed.formUnion(neededNow)
      removed += try library.remove(group, unless: neededNow.contains).count
    }
    needed.formUnion(try neededNow())
    // These clips were there all the time, and nobody needed them. Clips that other processes publish meanwhile are
    // left to the next prune of those processes.
    let left = before.intersection(try library.sounds()).filter { !needed.contains($0.name) }
    guard left.reduce(0, { $0 + $1.byteCount }) > Self.budget else { return }
    let unused = left.filter {
      start.timeIntervalSince($0.lastUsed) > Self.linkLifetime + SoundUse.interval && $0.name != Self.tone
        && $0.isRenderedClip
    }
    if !unused.isEmpty { complain("\(unused.count) clips are over the budget, and nothing uses them") }
  }

  mutating func check() {
    if let use = uses.randomElement(using: &numbers) {
      let isThere = exists(Self.name(use.index))
      if !isThere, time().timeIntervalSince(use.at) < Self.linkLifetime {
        complain("a clip with a valid link is missing")
      }
      checks += 1
    }
    if let needed = Self.needed.randomElement(using: &numbers), !exists(needed) { complain("a needed clip is missing") }
    if let need = ownNeeds.randomElement(using: &numbers), !exists(Self.name(need.index)) {
      complain("a clip that something needs is missing")
    }
    for tone in ["tone.wav", Self.tone] where !exists(tone) { complain("a tone is missing") }
  }
}
