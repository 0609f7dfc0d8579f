// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundFiles
import SoundMeasurement
import Testing
import Waveforms

@Suite("SpokenFormat: sounds for programs that asked for a text to be spoken")
struct SpokenFormatTests {
  /// 1.5 s that sound a little like a voice: a tone with overtones, whose level rises and falls four times a second.
  private static func waveform(rate: Int) -> Waveform {
    let samples = (0..<rate * 3 / 2).map { index in
      let seconds = Double(index) / Double(rate)
      let tone = (1...8).reduce(0.0) { $0 + sin(2 * .pi * 140 * Double($1) * seconds) / Double($1) }
      return Int16((6_000 * tone * (0.6 - 0.4 * cos(2 * .pi * 4 * seconds))).rounded())
    }
    return Waveform(samples: samples, sampleRate: rate)
  }

  /// Measures a sound with programs that share nothing with the code that wrote it.
  private static func measure(_ bytes: [UInt8]) throws -> SoundReport {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    // libsndfile finds the format in the bytes.
    let file = folder.appending(path: "sound")
    try Data(bytes).write(to: file)
    return try SoundReport.measure(file: file.path(percentEncoded: false))
  }

  @Test("Debian's libsndfile can write all formats of spoken texts")
  func writable() {
    #expect(SpokenFormat.writable == [.mp3, .flac, .wav, .pcm])
  }

  @Test(
    "a spoken text in each format is as long and as loud as its sound",
    arguments: [SpokenFormat.mp3, .flac, .wav], [22_050, 24_000, 8_000])
  func decoded(format: SpokenFormat, rate: Int) throws {
    let waveform = Self.waveform(rate: rate)
    let wanted = try Self.measure(try SpokenFormat.wav.encode(waveform))
    let report = try Self.measure(try format.encode(waveform))
    #expect(report.frames == waveform.samples.count && report.sampleRate == rate && report.channels == 1)
    #expect(abs(report.loudnessLUFS - wanted.loudnessLUFS) < 0.2, "\(report.loudnessLUFS) LUFS")
    #expect(report.truePeakDBTP - wanted.truePeakDBTP < 0.5, "\(report.truePeakDBTP) dBTP")
    let names: [SpokenFormat: String] = [.mp3: "MPEG", .flac: "FLAC", .wav: "WAV"]
    #expect(report.container.contains(names[format] ?? "none"), "\(report.container)")
  }

  @Test("FLAC, WAV and samples without a header keep every sample")
  func lossless() throws {
    let waveform = Self.waveform(rate: 22_050)
    for format in [SpokenFormat.flac, .wav] {
      #expect(try SoundFiles.mix(try format.encode(waveform)).samples == waveform.samples, "\(format)")
    }
    let bytes = try SpokenFormat.pcm.encode(waveform)
    let samples = stride(from: 0, to: bytes.count, by: 2).map { index in
      Int16(bitPattern: UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8)
    }
    #expect(samples == waveform.samples)
  }

  @Test("the samples of an MP3 differ from those of its sound by less than -40 dB")
  func mp3() throws {
    let waveform = Self.waveform(rate: 22_050)
    let decoded = try SoundFiles.mix(try SpokenFormat.mp3.encode(waveform)).samples
    var (signal, noise) = (0.0, 0.0)
    for (sample, other) in zip(waveform.samples, decoded) {
      signal += Double(sample) * Double(sample)
      noise += (Double(sample) - Double(other)) * (Double(sample) - Double(other))
    }
    // A shift by a single sample would give 21 dB.
    #expect(10 * log10(signal / max(noise, 1)) > 40)
  }

  @Test("the same sound always gives the same bytes in each format", arguments: SpokenFormat.allCases)
  func deterministic(format: SpokenFormat) throws {
    let waveform = Self.waveform(rate: 22_050)
    #expect(try format.encode(waveform) == format.encode(waveform))
  }

  @Test("a spoken text's WAV file has no comment, so that it does not repeat the text")
  func noComment() throws {
    #expect(try SoundFiles.decode(SpokenFormat.wav.encode(Self.waveform(rate: 22_050))).comment == nil)
  }

  @Test("a sample rate that a format does not have is refused")
  func rate() {
    let waveform = Waveform(samples: [1, 2, 3], sampleRate: 12_345)
    #expect(throws: SoundFileError.self) { try SpokenFormat.mp3.encode(waveform) }
    #expect(throws: Never.self) { try SpokenFormat.wav.encode(waveform) }
  }

  @Test("a sound without samples gives a file, or an error, and never a trap", arguments: SpokenFormat.allCases)
  func empty(format: SpokenFormat) {
    _ = try? format.encode(Waveform(samples: [], sampleRate: 22_050))
  }
}
