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
@main
struct SoundKeeper {
  static let clipCount = 10_000
  /// In bytes: about a twentieth of all clips.
  static let budget = 500 * 4_096
  /// Clips that every process lists as needed. The process with seed 1 publishes them first.
  static let needed = (0..<50).map(name)

  let library: SoundLibrary
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
      library: SoundLibrary(container: container, now: time), time: time, numbers: SplitMix64(seed: seed))
    do {
      if seed == 1 { try keeper.prepare() }
      let end = Date().addingTimeInterval(seconds)
      while Date() < end { try keeper.step() }
    } catch {
      keeper.complain("\(error)")
    }
    print(
      "published \(keeper.published) found \(keeper.found) missed \(keeper.missed) removed \(keeper.removed) "
        + "checks \(keeper.checks)")
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
    case 70..<98:
      _ = try library.publish(Self.bytes(index), as: name)
      published += 1
      uses.append((index, before))
    default:
      removed += try library.prune(SoundKeeping(mostBytes: Self.budget), needed: Set(Self.needed)).count
    }
    if uses.count > 2_000 { uses.removeFirst(1_000) }
    check()
  }

  mutating func check() {
    if let use = uses.randomElement(using: &numbers) {
      let isThere = exists(Self.name(use.index))
      if !isThere, time().timeIntervalSince(use.at) < SoundKeeping.shortestKept {
        complain("a clip that was used less than an hour ago is missing")
      }
      checks += 1
    }
    if let needed = Self.needed.randomElement(using: &numbers), !exists(needed) { complain("a needed clip is missing") }
    if !exists("tone.wav") { complain("the tone is missing") }
  }
}
