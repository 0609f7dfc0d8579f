// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundMeasurement
import Testing
import Waveforms

@testable import ToneMaking

@Suite("Crier's own tones")
struct ToneTests {
  static let shipped = ToneDescriptions(
    directory: URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Tones").standardizedFileURL)

  static let names = ["bell", "chime", "coins", "falling", "knock", "marimba", "rising"]

  /// Measures a tone's file with libraries that share no code with the synthesis.
  private func measure(_ tone: MadeTone) throws -> SoundReport {
    let file = FileManager.default.temporaryDirectory.appending(path: "tone-\(UUID().uuidString).wav")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(tone.bytes).write(to: file)
    return try SoundReport.measure(file: file.path)
  }

  @Test(
    "the shipped descriptions are bell, chime, coins, falling, knock, marimba and rising, each with a title of its own")
  func shippedNames() throws {
    #expect(try Self.shipped.names() == Self.names)
    let titles = try Self.names.map { try Self.shipped.description(of: $0).title }
    #expect(Set(titles).count == Self.names.count)
  }

  /// The frequency in Hz between two times of a tone in ms, from the upward zero crossings.
  private func hertz(of tone: MadeTone, _ milliseconds: Range<Int>) throws -> Double {
    let samples = try WAVFile.decode(tone.bytes).waveform.samples
    let part = samples[milliseconds.lowerBound * 22_050 / 1000..<milliseconds.upperBound * 22_050 / 1000]
    let crossings = part.indices.dropLast().filter { part[$0] < 0 && part[$0 + 1] >= 0 }
    let (first, last) = (try #require(crossings.first), try #require(crossings.last))
    return Double(crossings.count - 1) * 22_050 / Double(last - first)
  }

  @Test("the tones 'rising' and 'falling' begin with the same note, and differ in the second note")
  func risingAndFalling() throws {
    for (name, second) in [("rising", 987.77), ("falling", 440.0)] {
      let tone = try MadeTone(name, from: Self.shipped)
      #expect(abs(try hertz(of: tone, 50..<190) / 659.26 - 1) < 0.02, "\(name)")
      #expect(abs(try hertz(of: tone, 350..<550) / second - 1) < 0.02, "\(name)")
      #expect((600...800).contains(tone.durationMilliseconds))
    }
  }

  @Test("a tone is a mono WAV file of 16-bit samples at 22,050 Hz and lasts 0.5 to 2 s", arguments: names)
  func format(_ name: String) throws {
    let tone = try MadeTone(name, from: Self.shipped)
    let report = try measure(tone)
    #expect(report.container == "WAV (Microsoft)" && report.encoding == "Signed 16 bit PCM")
    #expect(report.channels == 1 && report.sampleRate == 22_050)
    #expect((500...2000).contains(report.durationMilliseconds), "\(report.durationMilliseconds) ms")
    #expect(abs(report.durationMilliseconds - Double(tone.durationMilliseconds)) <= 1)
  }

  @Test(
    "a tone of Crier has -12 LUFS within 1 LU, which is louder than announcements, and at most -1 dBTP",
    arguments: names)
  func loudness(_ name: String) throws {
    let tone = try MadeTone(name, from: Self.shipped)
    let report = try measure(tone)
    #expect(abs(report.loudnessLUFS + 12) <= 1, "\(report.loudnessLUFS) LUFS")
    #expect(report.truePeakDBTP <= -1, "\(report.truePeakDBTP) dBTP")
    #expect(abs(report.loudnessLUFS - tone.loudnessLUFS) <= 0.05)
    #expect(abs(report.truePeakDBTP - tone.truePeakDBTP) <= 0.25)
  }

  @Test("a tone begins and ends in silence, without a step or a constant offset", arguments: names)
  func edges(_ name: String) throws {
    let tone = try MadeTone(name, from: Self.shipped)
    let report = try measure(tone)
    #expect((20...40).contains(report.leadingSilenceMilliseconds), "\(report.leadingSilenceMilliseconds) ms")
    #expect((20...40).contains(report.trailingSilenceMilliseconds), "\(report.trailingSilenceMilliseconds) ms")
    #expect(abs(report.dcOffset) < 0.002)
    let samples = try WAVFile.decode(tone.bytes).waveform.samples
    // One 16-bit step is inaudible. The neighbours of the ends must not rise faster than the tone itself.
    #expect(samples.prefix(22).allSatisfy { $0.magnitude <= 1 }, "\(samples.prefix(22))")
    #expect(samples.suffix(2).allSatisfy { $0.magnitude <= 1 }, "\(samples.suffix(22))")
    let whole = ClipMovement(of: samples, sampleRate: 22_050)
    for position in [0, samples.count] {
      let edge = JoinMeasurement(of: samples, at: position, sampleRate: 22_050, between: [whole])
      #expect(edge.step < whole.largestStep / 20, "a step of \(edge.step) at \(position)")
    }
  }

  @Test("the same description of a tone always gives the same bytes", arguments: names)
  func reproducible(_ name: String) throws {
    let first = try MadeTone(name, from: Self.shipped)
    #expect(try MadeTone(name, from: Self.shipped) == first)
  }

  @Test("the samples of a tone's description are the same on every machine")
  func golden() throws {
    let description = ToneDescription(
      title: "Test", attackMilliseconds: 3, releaseMilliseconds: 40,
      partials: [
        .init(ratio: 1, level: 1, decayMilliseconds: 900), .init(ratio: 2.76, level: 0.3, decayMilliseconds: 300),
      ],
      notes: [
        .init(startMilliseconds: 0, lengthMilliseconds: 500, hertz: 784, level: 0.8),
        .init(startMilliseconds: 150, lengthMilliseconds: 700, hertz: 1046.5, level: 1),
      ])
    let waveform = description.waveform(sampleRate: 22_050)
    #expect(waveform.samples.count == 18_742)
    // FNV-1a of the samples. A program in another language, with the same operations, gives the same digest.
    let digest = waveform.samples.reduce(UInt64(0xcbf2_9ce4_8422_2325)) {
      ($0 ^ UInt64(UInt16(bitPattern: $1))) &* 0x0000_0100_0000_01b3
    }
    #expect(digest == 10_704_768_874_142_753_897)
  }

  @Test("different descriptions give different tones")
  func different() throws {
    let sounds = try Self.names.map { try MadeTone($0, from: Self.shipped).bytes }
    #expect(Set(sounds).count == Self.names.count)
  }

  @Test("a note that stops abruptly compared with its decay still ends without a click")
  func abrupt() throws {
    let description = ToneDescription(
      title: "Test", attackMilliseconds: 1, releaseMilliseconds: 5,
      partials: [.init(ratio: 1, level: 1, decayMilliseconds: 10_000)],
      notes: [.init(startMilliseconds: 0, lengthMilliseconds: 600, hertz: 440, level: 1)])
    let samples = description.waveform(sampleRate: 22_050).samples
    #expect(samples.first == 0 && samples.last == 0)
    let loudest = ClipMovement(of: samples, sampleRate: 22_050).largestStep
    let end = JoinMeasurement(
      of: samples, at: samples.count, sampleRate: 22_050, between: [ClipMovement(of: [], sampleRate: 22_050)])
    #expect(end.step < loudest / 2)
  }

  @Test("a tone that the limiter would distort is an error that says what to change")
  func unreachable() {
    let description = ToneDescription(
      title: "Test", attackMilliseconds: 1, releaseMilliseconds: 5,
      partials: [.init(ratio: 1, level: 1, decayMilliseconds: 10)],
      notes: [
        .init(startMilliseconds: 0, lengthMilliseconds: 20, hertz: 90, level: 1),
        .init(startMilliseconds: 1500, lengthMilliseconds: 20, hertz: 90, level: 1),
      ])
    let error = #expect(throws: ToneError.self) { try MadeTone("test", description) }
    #expect(error?.code == .descriptionInvalid)
    #expect(error?.description.contains("cannot be made as loud as the others") == true)
  }

  @Test("the sine, the cosine and the decay of tones agree with the C library's functions")
  func exact() {
    for index in 0...1000 {
      let angle = Double.pi * Double(index) / 1000
      let (sine, cosine) = ExactMath.sineAndCosine(angle)
      #expect(abs(sine - sin(angle)) < 1e-14 && abs(cosine - cos(angle)) < 1e-14)
    }
    for samples in [220.5, 1000, 220_500] {
      #expect(abs(ExactMath.decayFactor(samplesTo60Decibels: samples) - pow(10, -3 / samples)) < 1e-15)
    }
  }
}
