// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import TestSupport
import Testing
import Waveforms

@testable import VoicePackMaking

/// Measures how often swapped recordings are found, and how often right recordings are suspected. The speakers are
/// Debian's flite and festival, which `make check` installs, and the woman who recorded Asterisk's sounds.
///
/// `CRIER_SWAPPED_PACKS` sets the number of packs for all voices together; `make check-swaps` sets it to 200.
@Suite("Swapped recordings", .serialized)
struct SwappedRecordingChecks {
  private static let packs = ProcessInfo.processInfo.environment["CRIER_SWAPPED_PACKS"].flatMap(Int.init) ?? 24

  @Test("in random packs, at least 95 of 100 swapped pairs are found, and at most 2 of 100 correct packs are suspected")
  func synthesized() async throws {
    let writer = try Checkout.phraseBooks().writer(for: "en-US")
    let check = try RecordingCheck(engine: Checkout.engine(), writer: writer)
    let rows = RecordingSheet(vocabulary: try writer.vocabulary()).rows
    var total = Tally()
    for (index, program) in SpeechProgram.allCases.enumerated() {
      let speaker = try OtherSpeaker(program, rows)
      let count = Self.packs * (index + 1) / SpeechProgram.allCases.count - total.packs
      let tally = try await Self.measure(speaker, count, check, seed: UInt64(index + 1))
      print("\(program): \(tally)")
      total += tally
    }
    print("together: \(total)")
    #expect(total.found * 100 >= total.packs * 95)
    // One of 24 packs is more than 2 in a hundred, and says nothing about the rate.
    #expect(total.suspected <= max(1, total.packs * 2 / 100))
  }

  @Test(
    "no clip of Asterisk's sounds is suspected of a swap, and 85 of 100 swapped pairs are found",
    arguments: [("en_US_f_Allison", "en-US"), ("es_MX_f_Allison", "es-MX")])
  func asterisk(folder: String, locale: String) async throws {
    let sounds = URL(filePath: "/usr/share/asterisk/sounds").appending(path: folder)
    let imported = try RecordingImport().recordings(try AsteriskLayout.sources(in: sounds, locale: locale))
    let check = try RecordingCheck(
      engine: Checkout.engine(), writer: try Checkout.phraseBooks().writer(for: locale))
    #expect(try await check.suspicions(in: imported.clips) == [])
    var random = SplitMix64(seed: 3)
    var found = 0
    for _ in 0..<Self.packs {
      var clips = imported.clips
      let pair = Self.swap(&clips, &random)
      if try await check.suspicions(in: clips).contains(pair) { found += 1 }
    }
    print("\(folder): found \(found) of \(Self.packs)")
    #expect(found * 100 >= Self.packs * 85)
  }

  /// Compares random packs: each as it is, and with a swapped pair.
  private static func measure(
    _ speaker: OtherSpeaker, _ count: Int, _ check: RecordingCheck, seed: UInt64
  ) async throws -> Tally {
    var random = SplitMix64(seed: seed)
    var tally = Tally()
    for _ in 0..<count {
      var clips = try speaker.pack(&random)
      tally.packs += 1
      let suspicions = try await check.suspicions(in: clips)
      if !suspicions.isEmpty {
        tally.suspected += 1
        for suspicion in suspicions { print("  suspected: \(describe(suspicion, clips))") }
      }
      let pair = swap(&clips, &random)
      let found = try await check.suspicions(in: clips)
      if found.contains(pair) {
        tally.found += 1
      } else {
        print("  not found: \(describe(pair, clips)); found: \(found.map { describe($0, clips) })")
      }
      tally.others += found.count { $0 != pair }
    }
    return tally
  }

  /// Swaps the sounds of two random clips with different words.
  private static func swap(_ clips: inout [PackClip], _ random: inout SplitMix64) -> RecordingSuspicion {
    while true {
      let first = Int.random(in: clips.indices, using: &random)
      let second = Int.random(in: clips.indices, using: &random)
      guard first < second, !soundAlike(clips[first].text, clips[second].text) else { continue }
      (clips[first].waveform, clips[second].waveform) = (clips[second].waveform, clips[first].waveform)
      return RecordingSuspicion(kind: .swapped, clip: first, soundsLike: second)
    }
  }

  /// Whether a listener cannot tell the words apart either.
  private static func soundAlike(_ first: String, _ second: String) -> Bool {
    let words = Set([first.lowercased(), second.lowercased()])
    return words.count == 1 || words == ["one", "won"] || words == ["two", "to"]
  }

  private static func describe(_ suspicion: RecordingSuspicion, _ clips: [PackClip]) -> String {
    "\(suspicion.kind.rawValue) \(clips[suspicion.clip].text), \(clips[suspicion.soundsLike].text), "
      + "of \(clips.count) clips"
  }
}

/// The result of a measurement.
private struct Tally: CustomStringConvertible {
  var packs = 0
  /// The packs whose swapped pair was found and named.
  var found = 0
  /// The packs with a suspicion although nothing was swapped.
  var suspected = 0
  /// The suspicions beside the right one in packs with a swapped pair.
  var others = 0

  static func += (sum: inout Tally, other: Tally) {
    sum.packs += other.packs
    sum.found += other.found
    sum.suspected += other.suspected
    sum.others += other.others
  }

  var description: String {
    "found \(found) of \(packs) swapped pairs; suspected \(suspected) of \(packs) right packs; "
      + "\(others) other suspicions beside a swapped pair"
  }
}
