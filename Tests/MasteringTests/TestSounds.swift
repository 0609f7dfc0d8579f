// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundMeasurement
import Waveforms

/// Sounds with known properties, at 22,050 Hz.
enum TestSounds {
  static let rate = 22_050

  static func tone(_ hertz: Double, amplitude: Double, seconds: Double) -> [Double] {
    (0..<Int(seconds * Double(rate))).map { amplitude * sin(2 * .pi * hertz * Double($0) / Double(rate)) }
  }

  static func silence(seconds: Double) -> [Double] {
    Array(repeating: 0, count: Int(seconds * Double(rate)))
  }

  static func square(period: Int, amplitude: Double, seconds: Double) -> [Double] {
    (0..<Int(seconds * Double(rate))).map { $0 % period < period / 2 ? amplitude : -amplitude }
  }

  static func noise(amplitude: Double, seconds: Double, seed: UInt64 = 7) -> [Double] {
    var state = seed
    return (0..<Int(seconds * Double(rate))).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return amplitude * (Double(state >> 33) / Double(1 << 30) - 1)
    }
  }

  /// Returns the values without the highest frequencies, which no voice has.
  static func smoothed(_ values: [Double]) -> [Double] {
    zip(values, values.dropFirst()).map { ($0 + $1) / 2 }
  }

  /// Returns four syllables per second: each a hiss and then a vowel of pulses with a falling pitch, with the peaks of
  /// a voice.
  static func speech(seconds: Double, pitch: Double = 190, amplitude: Double = 0.5, seed: UInt64 = 7) -> [Double] {
    let hiss = noise(amplitude: 0.08, seconds: seconds, seed: seed)
    var phase = 0.0
    return hiss.indices.map { index in
      let time = Double(index) / Double(rate)
      let place = time.truncatingRemainder(dividingBy: 0.25) / 0.25
      phase += pitch * (1.1 - 0.2 * place) / Double(rate)
      guard place >= 0.25 else { return amplitude * hiss[index] * sin(.pi * place / 0.25) }
      let harmonics = (1...18).reduce(0.0) { $0 + cos(2 * .pi * Double($1) * phase) / Double($1).squareRoot() }
      return amplitude * sin(.pi * (place - 0.25) / 0.75) * harmonics / 6
    }
  }

  static func waveform(_ values: [Double], marks: [Waveform.Mark] = []) -> Waveform {
    Waveform(
      samples: values.map { Int16(max(-32_768, min(32_767, ($0 * 32_768).rounded()))) }, sampleRate: rate, marks: marks)
  }

  /// All sounds that the tests master, by name.
  static let all: [String: Waveform] = [
    "speech": waveform(silence(seconds: 0.05) + speech(seconds: 2.5) + silence(seconds: 0.3)),
    "loud speech": waveform(speech(seconds: 2, pitch: 110, amplitude: 1.2)),
    "quiet speech": waveform(silence(seconds: 1) + speech(seconds: 1, amplitude: 0.01)),
    "high voice": waveform(speech(seconds: 1.3, pitch: 320, amplitude: 0.3, seed: 99)),
    "tone": waveform(tone(1000, amplitude: 0.5, seconds: 1)),
    "low tone at full scale": waveform(tone(200, amplitude: 1, seconds: 1)),
    "tone between samples": waveform(tone(5512.5, amplitude: 0.9, seconds: 1)),
    "square at full scale": waveform(square(period: 50, amplitude: 1, seconds: 1)),
    "hiss": waveform(smoothed(noise(amplitude: 0.9, seconds: 1))),
    "white noise": waveform(noise(amplitude: 0.7, seconds: 1)),
    "bursts": waveform(
      (0..<8).flatMap { _ in silence(seconds: 0.1) + noise(amplitude: 0.9, seconds: 0.06, seed: 3) }),
    "speech off zero": waveform((silence(seconds: 0.1) + speech(seconds: 1.5, amplitude: 0.3)).map { $0 + 0.1 }),
    "speech with a click": waveform(
      speech(seconds: 1, amplitude: 0.2) + [0.99, -0.99] + speech(seconds: 1, amplitude: 0.2)),
  ]

  /// Writes the waveform to a file in a new folder, and measures the file.
  static func measure(_ waveform: Waveform) throws -> SoundReport {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("sound.wav")
    try Data(WAVFile.encode(waveform)).write(to: file)
    return try SoundReport.measure(file: file.path)
  }
}
