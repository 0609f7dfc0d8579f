// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundMeasurement
import Waveforms

/// Sounds with known properties, with full scale at ±1.
enum Signals {
  static func tone(_ hertz: Double, _ amplitude: Double, seconds: Double, rate: Int = 48_000) -> [Double] {
    (0..<Int(seconds * Double(rate))).map { amplitude * sin(2 * .pi * hertz * Double($0) / Double(rate)) }
  }

  static func silence(seconds: Double, rate: Int = 48_000) -> [Double] {
    Array(repeating: 0, count: Int(seconds * Double(rate)))
  }

  /// Returns white noise with a peak of `amplitude`. Its RMS is 4.8 dB lower.
  static func noise(_ amplitude: Double, seconds: Double, rate: Int = 48_000, seed: UInt64 = 7) -> [Double] {
    var state = seed
    return (0..<Int(seconds * Double(rate))).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return amplitude * (Double(state >> 33) / Double(1 << 30) - 1)
    }
  }

  /// Returns a word-like sound: a quiet hiss of 80 ms, and a vowel of pulses at 140 Hz that swells and fades.
  static func word(
    _ amplitude: Double = 0.3, seconds: Double = 0.5, hiss: Double = 0.05, rate: Int = 48_000
  ) -> [Double] {
    let onset = noise(amplitude * hiss, seconds: 0.08, rate: rate)
    let count = Int((seconds - 0.08) * Double(rate))
    let vowel = (0..<count).map { index in
      let phase = 2 * .pi * 140 * Double(index) / Double(rate)
      let harmonics = (1...12).reduce(0.0) { $0 + cos(Double($1) * phase) / Double($1) } / 3
      return amplitude * harmonics * sin(.pi * Double(index) / Double(count))
    }
    return onset + vowel
  }

  static func mixed(_ first: [Double], _ second: [Double]) -> [Double] { zip(first, second).map { $0 + $1 } }

  /// Returns the word with half a second of quiet before and after it, over noise of this peak.
  static func take(
    _ amplitude: Double = 0.3, seconds: Double = 0.5, noise level: Double = 0.0005, rate: Int = 48_000
  ) -> [Double] {
    let quiet = silence(seconds: 0.5, rate: rate)
    let sound = quiet + word(amplitude, seconds: seconds, rate: rate) + quiet
    return mixed(sound, noise(level, seconds: Double(sound.count + 1) / Double(rate), rate: rate, seed: 3))
  }

  static func waveform(_ samples: [Double], rate: Int = 22_050) -> Waveform {
    Waveform(
      samples: samples.map { Int16(max(-32_768, min(32_767, ($0 * 32_767).rounded()))) }, sampleRate: rate)
  }
}

/// The sample encoding of a WAV file.
enum Depth: CaseIterable {
  case bits8, bits16, bits24, bits32, float32

  var bits: Int {
    switch self {
    case .bits8: 8
    case .bits16: 16
    case .bits24: 24
    case .bits32, .float32: 32
    }
  }
}

/// A new folder, which is removed together with the value that holds it.
final class TemporaryFolder {
  let url = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString, directoryHint: .isDirectory)

  init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// Writes a WAV file of one or more channels of the same length.
  @discardableResult func wav(
    _ name: String, _ channels: [Double]..., rate: Int = 48_000, depth: Depth = .bits16
  ) throws -> URL {
    var data: [UInt8] = []
    for frame in channels[0].indices {
      for channel in channels { data += Self.bytes(channel[frame], depth) }
    }
    func little(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
    let frame = channels.count * depth.bits / 8
    let header =
      Array("WAVEfmt ".utf8) + little(16, 4) + little(depth == .float32 ? 3 : 1, 2) + little(channels.count, 2)
      + little(rate, 4) + little(rate * frame, 4) + little(frame, 2) + little(depth.bits, 2) + Array("data".utf8)
      + little(data.count, 4)
    return try file(name, Array("RIFF".utf8) + little(header.count + data.count, 4) + header + data)
  }

  @discardableResult func file(_ name: String, _ bytes: [UInt8]) throws -> URL {
    let file = url.appending(path: name)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: file)
    return file
  }

  /// Measures a waveform with independent code.
  func measure(_ waveform: Waveform, silenceThresholdDBFS: Double = -50) throws -> SoundReport {
    let file = try file("\(UUID().uuidString).wav", WAVFile.encode(waveform))
    return try SoundReport.measure(file: file.path, silenceThresholdDBFS: silenceThresholdDBFS)
  }

  private static func bytes(_ value: Double, _ depth: Depth) -> [UInt8] {
    if depth == .float32 { return bytes(Int(Float(value).bitPattern), 4) }
    let scale = Double(1 << (depth.bits - 1))
    let integer = Int(max(-scale, min(scale - 1, (value * scale).rounded())))
    return bytes(depth == .bits8 ? integer + 128 : integer, depth.bits / 8)
  }

  private static func bytes(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }
}

/// Returns the amplitude of a tone in samples, by correlation with a sine and a cosine over complete periods.
func amplitude(of hertz: Double, in samples: some Collection<Float>, rate: Int) -> Double {
  let period = Double(rate) / hertz
  let count = Int((Double(samples.count) / period).rounded(.down) * period)
  var (sine, cosine) = (0.0, 0.0)
  for (index, sample) in samples.prefix(count).enumerated() {
    let phase = 2 * .pi * Double(index) / period
    sine += Double(sample) * sin(phase)
    cosine += Double(sample) * cos(phase)
  }
  return 2 * (sine * sine + cosine * cosine).squareRoot() / Double(count)
}

func decibels(_ amplitude: Double) -> Double { 20 * log10(amplitude) }
