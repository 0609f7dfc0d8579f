// SPDX-License-Identifier: Apache-2.0

import Foundation
import Mastering
import Testing
import VoicePackMaking
import VoicePacks
import Waveforms

/// The audible faults of a clip. Each is a warning, but silence is an error.
@Suite("Pack check: sound")
struct PackCheckSoundTests {
  private let file = "0003.wav"

  /// Returns the findings when one clip has these samples.
  private func findings(_ samples: [Int16]) throws -> [PackFinding] {
    let pack = try CheckedPack()
    try pack.set(Waveform(samples: samples, sampleRate: 22_050), file: file)
    try pack.seal()
    return pack.check().findings
  }

  /// Returns 400 ms of samples, which is long enough for a loudness of its own in the standard.
  private func clip() throws -> [Int16] {
    let tone = Tones.samples(hertz: 235, syllableMilliseconds: 200)
    return try Mastering(targetLUFS: ClipPreparation.loudnessLUFS).leveled(Waveform(samples: tone, sampleRate: 22_050))
      .samples
  }

  private func expect(_ code: PackFinding.Code, _ problem: String, in samples: [Int16]) throws {
    let findings = try findings(samples)
    #expect(findings.map(\.code) == [code])
    #expect(findings.allSatisfy { $0.severity == .warning && $0.subject == file })
    #expect(findings.first?.problem.contains(problem) == true, "\(findings)")
  }

  @Test("a silent clip in a pack is an error", arguments: [0, 1, 22_050])
  func silent(_ count: Int) throws {
    for samples in [Array(repeating: Int16(0), count: count), Array(repeating: Int16(80), count: count)] {
      let findings = try findings(samples)
      #expect(findings.map(\.code) == [.silentClip] && findings[0].severity == .error)
    }
  }

  @Test("three consecutive samples at full scale count as clipping, and two do not")
  func clipping() throws {
    var samples = try clip()
    let place = 1_000
    for index in place..<place + 3 { samples[index] = 32_767 }
    try expect(.clipping, "stays at full scale for 3 or more samples, 1 times", in: samples)
  }

  @Test("a true peak above -0.5 dBTP counts as clipping, even with samples below full scale")
  func truePeak() throws {
    var samples = try clip()
    for (offset, sample) in [Int16(-20_000), 31_500, 31_500, -20_000].enumerated() { samples[1_000 + offset] = sample }
    try expect(.clipping, "has a true peak of", in: samples)
  }

  @Test("a clip 2 LU quieter than the others is reported, and so is the pack's range of levels")
  func soft() throws {
    let findings = try findings(try clip().map { $0 / 4 * 3 })
    #expect(findings.map(\.code) == [.loudnessOff, .loudnessSpread])
    #expect(findings.first?.problem.hasPrefix("has -18.") == true)
    #expect(findings.last?.problem.hasPrefix("is 2.") == true)
  }

  @Test("noise in all clips of a pack is reported with its level, but noise in a single clip is not")
  func noise() throws {
    let pack = try CheckedPack()
    var seed: UInt64 = 7
    for (number, file) in pack.manifest.clips.keys.sorted().enumerated() {
      var samples = try Tones.clip(number).samples.map { sample -> Int16 in
        seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return sample &+ Int16(truncatingIfNeeded: Int(seed >> 54) - 512)
      }
      samples[0] = 0
      samples[samples.count - 1] = 0
      try pack.set(Waveform(samples: samples, sampleRate: 22_050), file: file)
      if number == 0 {
        try pack.seal()
        #expect(!pack.check().findings.contains { $0.code == .noise })
      }
    }
    try pack.seal()
    let findings = pack.check().findings.filter { $0.code == .noise }
    #expect(findings.map(\.subject) == ["tones"])
    #expect(findings.first?.problem.hasPrefix("three of four clips have no moment below -4") == true)
  }

  @Test("a constant offset of a clip is reported")
  func offset() throws {
    var samples = try clip().map { $0 + 100 }
    // The clip is faded, like the ends of any clip.
    for index in 0..<66 {
      samples[index] = Int16(Double(samples[index]) * Double(index) / 66)
      let end = samples.count - 1 - index
      samples[end] = Int16(Double(samples[end]) * Double(index) / 66)
    }
    try expect(.offset, "has an offset of 0.3 % of full scale", in: samples)
  }

  @Test("a clip may have up to 40 ms of silence at each end")
  func silence() throws {
    let silence = Array(repeating: Int16(0), count: 22_050 * 30 / 1_000)
    #expect(try findings(silence + clip() + silence) == [])
    try expect(.silenceAtEnds, "ms before the voice", in: silence + silence + clip())
    try expect(.silenceAtEnds, "ms after the voice", in: clip() + silence + silence)
  }

  @Test("a clip whose end is not zero is reported as having a click")
  func edges() throws {
    var samples = try clip()
    samples[samples.count - 1] = 12
    try expect(.openEdges, "does not begin and end at zero", in: samples)
  }

  @Test("a clip of more than 5 s gets a warning, and a clip of more than the permitted 20 s is an error")
  func long() throws {
    let clip = try clip()
    func repeated(seconds: Int) -> [Int16] {
      Array(repeatElement(clip, count: seconds * 22_050 / clip.count + 1).joined())
    }
    try expect(.tooLong, "lasts 5.", in: repeated(seconds: 5))
    let findings = try findings(repeated(seconds: 20))
    #expect(findings.map(\.code) == [.tooLong] && findings[0].severity == .error)
  }
}
