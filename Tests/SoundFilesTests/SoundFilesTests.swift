// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundFiles
import SoundMeasurement
import Testing
import Waveforms

@Suite("SoundFiles: sounds in every format that a phone plays")
struct SoundFilesTests {
  /// 0.2 s of two tones, at half of full scale.
  private let waveform = Waveform(
    samples: (0..<4410).map { index in
      Int16(8000 * sin(Double(index) * 0.1) + 8000 * sin(Double(index) * 0.031))
    }, sampleRate: 22_050)

  static let formats = SoundFormat.Container.allCases.flatMap { container in
    SoundFormat.encodings(of: container).map { SoundFormat(container: container, encoding: $0) }
  }

  @Test("every combination of container and encoding except CAF with IMA ADPCM can be written")
  func combinations() {
    #expect(Self.formats.count == 11)
    #expect(SoundFormat.encodings(of: .caf) == [.pcm16, .ulaw, .alaw])
  }

  @Test("a sound that is written in any format is read back unchanged, including its comment", arguments: formats)
  func roundTrip(format: SoundFormat) throws {
    let bytes = try SoundFiles.encode(waveform, as: format, comment: "支付宝到账 12.50")
    let decoded = try SoundFiles.decode(bytes)
    #expect(decoded.format == format)
    #expect(decoded.comment == "支付宝到账 12.50")
    #expect(decoded.waveform.sampleRate == 22_050)
    let samples = decoded.waveform.samples
    switch format.encoding {
    case .pcm16: #expect(samples == waveform.samples)
    case .ulaw, .alaw:
      #expect(samples.count == waveform.samples.count)
      #expect(signalToNoise(samples) > 30)
    case .ima4:
      #expect((waveform.samples.count...waveform.samples.count + 1016).contains(samples.count))
      #expect(signalToNoise(samples) > 20)
    }
  }

  @Test("another program reads each written sound file in the intended format", arguments: formats)
  func measured(format: SoundFormat) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("sound.\(format.fileExtension)")
    try Data(SoundFiles.encode(waveform, as: format)).write(to: file)
    let report = try SoundReport.measure(file: file.path)
    #expect(report.channels == 1)
    #expect(report.sampleRate == 22_050)
    #expect(report.container.lowercased().contains(format.container.rawValue))
    let names: [SoundFormat.Encoding: String] = [
      .pcm16: "Signed 16 bit PCM", .ulaw: "U-Law", .alaw: "A-Law", .ima4: "IMA ADPCM",
    ]
    #expect(report.encoding == names[format.encoding])
    #expect(abs(report.samplePeak - 0.48) < 0.02)
  }

  @Test("the same sound always gives the same bytes of a file, without a time or a program's name", arguments: formats)
  func deterministic(format: SoundFormat) throws {
    let bytes = try SoundFiles.encode(waveform, as: format, comment: "hello")
    #expect(try SoundFiles.encode(waveform, as: format, comment: "hello") == bytes)
    // PEAK chunks and peaks in CAF contain the time of writing. The others contain a name, a version or a date.
    for word in ["PEAK", "peak", "ISFT", "ICRD", "APPL", "sndfile", "Sndfile", "SNDFILE", "bext", "COMT"] {
      #expect(!contains(bytes, Array(word.utf8)), "\(word)")
    }
  }

  @Test("AIFF's version chunk is the standard's constant, not the current time")
  func versionChunk() throws {
    let bytes = try SoundFiles.encode(waveform, as: SoundFormat(container: .aiff, encoding: .ulaw))
    #expect(contains(bytes, Array("FVER".utf8) + [0, 0, 0, 4, 0xA2, 0x80, 0x51, 0x40]))
  }

  @Test("a plain WAV file equals the output of WAVFile")
  func plainWAV() throws {
    let format = SoundFormat(container: .wav, encoding: .pcm16)
    #expect(try SoundFiles.encode(waveform, as: format, comment: "x") == WAVFile.encode(waveform, comment: "x"))
  }

  @Test("an empty comment of a sound file is left out, and a comment ends at its first NUL", arguments: formats)
  func comments(format: SoundFormat) throws {
    #expect(try SoundFiles.decode(SoundFiles.encode(waveform, as: format, comment: "")).comment == nil)
    #expect(try SoundFiles.decode(SoundFiles.encode(waveform, as: format, comment: nil)).comment == nil)
    #expect(try SoundFiles.decode(SoundFiles.encode(waveform, as: format, comment: "a\0b")).comment == "a")
    let long = String(repeating: "支付", count: 150)
    #expect(try SoundFiles.decode(SoundFiles.encode(waveform, as: format, comment: long)).comment == long)
  }

  @Test("the error for an unsupported combination of container and encoding names the choices")
  func unsupported() {
    do {
      _ = try SoundFiles.encode(waveform, as: SoundFormat(container: .caf, encoding: .ima4))
      Issue.record("no error")
    } catch {
      #expect(error.code == .unsupportedCombination)
      #expect(
        error.description
          == "The sound file cannot be written: caf cannot contain ima4; use pcm16, ulaw, alaw.")
    }
  }

  @Test("a truncated sound file is refused or gives fewer samples, and never causes a trap", arguments: formats)
  func truncated(format: SoundFormat) throws {
    let bytes = try SoundFiles.encode(waveform, as: format, comment: "c")
    for length in stride(from: 0, to: bytes.count, by: 97) {
      if let decoded = try? SoundFiles.decode(Array(bytes[..<length])) {
        #expect(decoded.waveform.samples.count < waveform.samples.count + 1017)
      }
    }
  }

  @Test("a truncated WAV file is always refused")
  func tornWAV() throws {
    let bytes = WAVFile.encode(waveform)
    for length in [0, 11, 12, 43, 44, 45, 1000, bytes.count - 1] {
      #expect(throws: SoundFileError.self) { try SoundFiles.decode(Array(bytes[..<length])) }
    }
  }

  @Test("a stereo sound file is refused")
  func stereo() {
    var bytes = WAVFile.encode(waveform)
    bytes[22] = 2
    #expect(code(bytes) == .notMono)
  }

  @Test("a sound file whose samples are in an unsupported encoding is refused")
  func floatingPoint() {
    var bytes = WAVFile.encode(waveform)
    bytes[20] = 3  // IEEE float.
    bytes[32] = 4
    bytes[34] = 32
    bytes[28...30] = [0x88, 0x58, 0x01]
    #expect(code(bytes) == .unsupportedEncoding)
  }

  @Test("a sample that is not a number counts as silence, and does not affect the peak")
  func notANumber() throws {
    var bytes = WAVFile.encode(waveform)
    bytes[20] = 3  // IEEE float.
    bytes[32] = 4
    bytes[34] = 32
    bytes[28...30] = [0x88, 0x58, 0x01]
    let samples: [Float] = (0..<2_205).map { $0 == 7 ? .nan : 0.25 }
    bytes[44...] = samples.flatMap { sample in (0..<4).map { UInt8(sample.bitPattern >> (8 * $0) & 0xFF) } }[...]
    let survey = try SoundFiles.survey(bytes, first: 1, clippedRun: 3)
    #expect(survey.peak == 0.25 && survey.mix.samples.count == 2_205)
    #expect(survey.mix.samples[7] == 0 && survey.mix.samples[8] == 8_192)
    #expect(try SoundFiles.mix(bytes) == survey.mix, "a file with floating-point samples is as loud when it is played")
  }

  @Test("bytes that are not a sound are refused", arguments: ["", "hello", "{\"a\": 1}", "RIFF", "FORM", "caff"])
  func noSound(text: String) {
    #expect(code(Array(text.utf8)) == .malformed)
  }

  private func code(_ bytes: [UInt8]) -> SoundFileError.Code? {
    do {
      _ = try SoundFiles.decode(bytes)
      return nil
    } catch {
      return error.code
    }
  }

  private func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
    Data(bytes).range(of: Data(part)) != nil
  }

  private func signalToNoise(_ samples: [Int16]) -> Double {
    var (signal, noise) = (0.0, 0.0)
    for (original, decoded) in zip(waveform.samples, samples) {
      signal += Double(original) * Double(original)
      noise += (Double(original) - Double(decoded)) * (Double(original) - Double(decoded))
    }
    return 10 * log10(signal / max(noise, 1))
  }
}
