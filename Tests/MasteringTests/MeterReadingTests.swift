// SPDX-License-Identifier: Apache-2.0

import Testing
import Waveforms

@testable import Mastering

@Suite("The fast measurement in place of libebur128's")
struct MeterReadingTests {
  private static let rate = Mastering.sampleRate

  /// Sounds of many levels and lengths, with and without pauses, and with the offsets and clicks that disturb filters.
  private static var sounds: [[Double]] {
    var sounds: [[Double]] = []
    for (index, seconds) in [0.4, 0.45, 0.99, 1.73, 3.71].enumerated() {
      let seed = UInt64(index + 1)
      for amplitude in [1.0, 0.02, 0.0006] {
        sounds.append(
          TestSounds.speech(seconds: seconds, pitch: 90 + Double(index) * 31, amplitude: amplitude, seed: seed))
        sounds.append(TestSounds.noise(amplitude: amplitude, seconds: seconds, seed: seed))
      }
      let words = TestSounds.speech(seconds: seconds / 3, amplitude: 0.7, seed: seed)
      sounds.append(words + TestSounds.silence(seconds: seconds / 3) + words.map { $0 * 0.25 })
      sounds.append(
        TestSounds.silence(seconds: seconds / 2) + TestSounds.tone(40, amplitude: 0.9, seconds: seconds / 2))
      sounds.append(words.map { $0 * 0.5 + 0.3 } + TestSounds.silence(seconds: seconds * 2 / 3))
    }
    sounds.append(TestSounds.speech(seconds: 12))
    sounds += TestSounds.all.values.map { $0.samples.map { Double($0) / 32_768 } }
    return sounds
  }

  @Test("the fast measurement agrees with libebur128 within 0.000001 LU, and gives the same rounded results")
  func agrees() throws {
    var returned = 0
    for samples in Self.sounds.map({ TestSounds.waveform($0).samples }) where samples.count >= 8_820 {
      let meter = try LoudnessMeter.loudness(of: samples, sampleRate: Self.rate)
      if let loudness = MeterReading.loudness(of: samples) { #expect(abs(loudness - meter) < 0.000_001) }
      guard let hundredths = MeterReading.hundredths(of: samples) else { continue }
      returned += 1
      #expect(hundredths == Decibels.hundredths(meter))
      #expect(try LoudnessMeter.hundredths(of: samples, sampleRate: Self.rate) == hundredths)
    }
    #expect(returned > 40)
  }

  @Test("if the fast measurement is too close to a rounding boundary, libebur128 measures the sound instead")
  func betweenHundredths() throws {
    // Scaling a sound in small steps moves its loudness across many boundaries.
    let sound = TestSounds.speech(seconds: 0.42, amplitude: 0.5)
    var left = 0
    for step in 0..<500 {
      let samples = TestSounds.waveform(sound.map { $0 * (0.5 + Double(step) * 0.000_1) }).samples
      let meter = try LoudnessMeter.loudness(of: samples, sampleRate: Self.rate) * 100
      let distance = abs(meter - meter.rounded(.down) - 0.5)
      guard let reading = MeterReading.hundredths(of: samples) else {
        left += 1
        #expect(distance < 2 * MeterReading.roundingMargin)
        continue
      }
      #expect(reading == Decibels.hundredths(meter / 100))
      #expect(distance > MeterReading.roundingMargin / 2)
    }
    #expect(left < 10)
  }

  @Test("the fast measurement counts blocks that cross the relative gate as libebur128 does")
  func atGate() throws {
    let loud = TestSounds.tone(1_000, amplitude: 0.5, seconds: 0.8)
    for step in 0..<60 {
      // The second half is 9 to 13 dB below the first, so the mean's gate lies among these levels.
      let quiet = TestSounds.tone(1_000, amplitude: 0.5 * (0.22 + Double(step) * 0.002), seconds: 0.8)
      let samples = TestSounds.waveform(loud + quiet).samples
      guard let reading = MeterReading.hundredths(of: samples) else { continue }
      #expect(reading == Decibels.hundredths(try LoudnessMeter.loudness(of: samples, sampleRate: Self.rate)))
    }
  }

  @Test(
    "the fast measurement gives no result for a sound without a gating block above the gate",
    arguments: [0, 1, 2_204, 8_819])
  func none(count: Int) {
    #expect(MeterReading.hundredths(of: [Int16](repeating: 9_000, count: count)) == nil)
    #expect(MeterReading.hundredths(of: [Int16](repeating: 0, count: 44_100)) == nil)
    #expect(MeterReading.hundredths(of: (0..<44_100).map { Int16($0 % 2) }) == nil)
  }
}
