// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import VoicePackMaking

@Suite("Resampler: another rate, the same sound")
struct ResamplerTests {
  private func converted(_ samples: [Double], from rate: Int, pieces: Int = 1) throws -> [Float] {
    var resampler = try Resampler(from: rate, to: 22_050)
    let samples = samples.map(Float.init)
    var output: [Float] = []
    let length = (samples.count + pieces - 1) / pieces
    for start in stride(from: 0, to: samples.count, by: length) {
      output += try resampler.next(Array(samples[start..<min(samples.count, start + length)]))
    }
    return try output + resampler.finish()
  }

  @Test(
    "a tone of 1 kHz keeps its pitch, its level to 0.05 dB and its place", arguments: [8000, 44_100, 48_000, 192_000])
  func keepsATone(rate: Int) throws {
    let output = try converted(Signals.tone(1000, 0.5, seconds: 1, rate: rate), from: rate)
    #expect(abs(output.count - 22_050) <= 1)
    let middle = output[2205..<19_845]  // 800 ms, whole periods, away from the ends
    #expect(abs(decibels(amplitude(of: 1000, in: middle, rate: 22_050) / 0.5)) < 0.05)
    // The same samples as the tone itself has at the new rate: no delay, and nothing beside the tone.
    let tone = Signals.tone(1000, 0.5, seconds: 1, rate: 22_050)
    let error = middle.indices.map { abs(Double(output[$0]) - tone[$0]) }.max() ?? 1
    #expect(error < 0.0005)
  }

  @Test("a tone of 15 kHz, which the new rate cannot hold, is 90 dB down and comes back nowhere else")
  func dropsWhatCannotBeHeld() throws {
    let output = try converted(Signals.tone(15_000, 0.5, seconds: 1), from: 48_000)
    let middle = output[2205..<19_845]
    let energy = middle.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(middle.count)
    #expect(decibels((energy * 2).squareRoot() / 0.5) < -90)
  }

  @Test("pieces give the very samples that the whole gives, every time")
  func piecesAreTheWhole() throws {
    let noise = Signals.noise(0.5, seconds: 0.7, rate: 44_100)
    let whole = try converted(noise, from: 44_100)
    #expect(try converted(noise, from: 44_100, pieces: 13) == whole)
    #expect(try converted(noise, from: 44_100) == whole)
  }

  @Test("its own rate is handed through, bit for bit")
  func ownRate() throws {
    let noise = Signals.noise(0.5, seconds: 0.1, rate: 22_050)
    #expect(try converted(noise, from: 22_050) == noise.map(Float.init))
  }

  @Test("no samples give none")
  func nothing() throws {
    var resampler = try Resampler(from: 48_000, to: 22_050)
    #expect(try resampler.next([]).isEmpty)
    #expect(try resampler.finish().isEmpty)
  }

  @Test("rates outside 4 to 192 kHz are refused", arguments: [0, -1, 3999, 192_001])
  func refusesRates(rate: Int) {
    let error = #expect(throws: PackMakingError.self) { _ = try converted([0, 0], from: rate) }
    #expect(error?.code == .recordingUnreadable)
  }
}
