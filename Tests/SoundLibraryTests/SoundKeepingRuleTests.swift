// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import SoundLibrary

@Suite("The rule for keeping clips")
struct SoundKeepingRuleTests {
  private func removed(
    _ keeping: SoundKeeping, _ sounds: [StoredSound], needed: Set<String> = []
  ) -> [(String, SoundKeeping.Reason)] {
    keeping.removals(from: sounds, needed: needed, at: testTime).map { ($0.sound.name, $0.reason) }
  }

  @Test(
    "a new use of a clip is recorded, whatever time its file states for its last use",
    arguments: [Int.min, Int.min + 1, -1, 0, Int.max - 1, Int.max])
  func anyTime(_ time: Int) {
    #expect(SoundUse(at: testTime).isNews(lastUsedAt: time))
  }

  @Test("a use is recorded if the last recorded use is more than an hour away, in the past or in the future")
  func interval() {
    let time = Int(testTime.timeIntervalSince1970)
    for (seconds, isNews) in [(0, false), (3_600, false), (3_601, true)] {
      #expect(SoundUse(at: testTime).isNews(lastUsedAt: time - seconds) == isNews)
      #expect(SoundUse(at: testTime).isNews(lastUsedAt: time + seconds) == isNews)
    }
  }

  @Test("pruning without limits removes nothing")
  func noLimits() {
    #expect(removed(SoundKeeping(), [storedSound(1, hours: 100_000)]).isEmpty)
  }

  @Test("over the budget in bytes, the clips unused for the longest time are removed until the rest fits")
  func bytes() {
    let sounds = [
      storedSound(1, hours: 5), storedSound(2, hours: 9), storedSound(3, hours: 7), storedSound(4, hours: 3),
    ]
    for (limit, names) in [
      (400, []), (399, [clipName(2)]), (300, [clipName(2)]), (299, [clipName(2), clipName(3)]),
      (0, [clipName(2), clipName(3), clipName(1), clipName(4)]),
    ] {
      let removals = removed(SoundKeeping(mostBytes: limit), sounds)
      #expect(removals.map(\.0) == names && removals.allSatisfy { $0.1 == .budget }, "\(limit)")
    }
  }

  @Test("above the limit of files, the clips unused for the longest time are removed; tones count, but stay")
  func files() {
    let tone = StoredSound(name: "tone.wav", byteCount: 1_000, lastUsed: testTime.addingTimeInterval(-1e8))
    let sounds = [tone, storedSound(1, hours: 5), storedSound(2, hours: 9)]
    #expect(removed(SoundKeeping(mostFiles: 3), sounds).isEmpty)
    #expect(removed(SoundKeeping(mostFiles: 2), sounds).map(\.0) == [clipName(2)])
    #expect(removed(SoundKeeping(mostFiles: 0), sounds).map(\.0) == [clipName(2), clipName(1)])
  }

  @Test("clips that were unused for longer than the limit are removed, even within the budget")
  func unused() {
    let sounds = [storedSound(1, hours: 24 * 31), storedSound(2, hours: 24 * 29)]
    let removals = removed(SoundKeeping(mostBytes: 1_000, longestUnused: 30 * 86_400), sounds)
    #expect(removals.map(\.0) == [clipName(1)] && removals.map(\.1) == [.unused])
  }

  @Test("no clip is removed in the hour after its use, even if the recorded time is up to an hour too early")
  func young() {
    let sounds = [
      storedSound(1, hours: 1.9), storedSound(2, hours: 2.1), storedSound(3, hours: 0), storedSound(4, hours: -5),
    ]
    for keeping in [SoundKeeping(mostBytes: 0), SoundKeeping(mostFiles: 0), SoundKeeping(longestUnused: 0)] {
      #expect(removed(keeping, sounds).map(\.0) == [clipName(2)])
    }
  }

  @Test(
    "a clip stays for an hour after its use, and for another hour because recorded uses are up to an hour too early")
  func twoHours() {
    func sound(_ number: Int, _ seconds: Double) -> StoredSound {
      StoredSound(name: clipName(number), byteCount: 1, lastUsed: testTime.addingTimeInterval(-seconds))
    }
    let removals = removed(SoundKeeping(mostBytes: 0), [sound(1, 7_200), sound(2, 7_201)])
    #expect(removals.map(\.0) == [clipName(2)])
  }

  @Test("a clip stays for as many days after its last use as a link to it is valid")
  func links() {
    let keeping = SoundKeeping(mostBytes: 0, keptAfterUse: 7 * 86_400)
    #expect(
      removed(keeping, [storedSound(1, hours: 7 * 24), storedSound(2, hours: 7 * 24 + 2)]).map(\.0) == [clipName(2)])
  }

  @Test("clips that are needed stay, however old they are and whatever the budget is")
  func needed() {
    let sounds = [storedSound(1, hours: 9_000), storedSound(2, hours: 8_000)]
    let keeping = SoundKeeping(mostBytes: 0, mostFiles: 0, longestUnused: 0)
    #expect(removed(keeping, sounds, needed: [clipName(1)]).map(\.0) == [clipName(2)])
  }

  @Test("pruning divides the clips into small groups in their order", arguments: [0, 1, 255, 256, 257, 1_000])
  func groups(count: Int) {
    let removals = (0..<count).map { SoundKeeping.Removal(sound: storedSound($0, hours: 5), reason: .budget) }
    let groups = SoundKeeping.groups(of: removals)
    #expect(groups.flatMap { $0 } == removals)
    #expect(groups.allSatisfy { (1...SoundKeeping.groupSize).contains($0.count) })
    #expect(groups.count == (count + 255) / 256)
  }

  @Test(
    "pruning removes only files with names of rendered clips",
    arguments: [
      ("tone.wav", false), (String(repeating: "a", count: 64) + ".wav", true),
      (String(repeating: "0", count: 64) + ".caf", true), (String(repeating: "9", count: 64) + ".aiff", true),
      (String(repeating: "A", count: 64) + ".wav", false), (String(repeating: "a", count: 63) + ".wav", false),
      (String(repeating: "a", count: 65) + ".wav", false), (String(repeating: "g", count: 64) + ".wav", false),
      (String(repeating: "a", count: 64) + ".mp3", false), (String(repeating: "a", count: 64) + ".wav.wav", false),
      (String(repeating: "a", count: 64), false), ("", false), (".wav", false),
    ])
  func names(name: String, isClip: Bool) {
    #expect(SoundLibrary.isRenderedClip(name) == isClip)
  }
}
