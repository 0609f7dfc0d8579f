// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundDoctor
import SoundFiles
import Testing
import SoundHeaders
import Waveforms

@Suite("Sound files that other programs make")
struct SampleFileTests {
  @Test("each sample file gets the expected verdict and the expected problems", arguments: SampleFile.all)
  func verdict(sample: SampleFile) throws {
    try withFolder { folder in
      let diagnosis = diagnosis(of: try sample.make(in: folder))
      #expect(Set(diagnosis.problems.map(\.code)) == sample.codes, "\(diagnosis.problems.map(\.message))")
      #expect(diagnosis.isPlayable == sample.isPlayable)
      #expect(diagnosis.problems.count == sample.codes.count)
      let header = try #require(diagnosis.facts.header)
      if let frames = sample.frames { #expect(header.frames == frames) }
      if header.faults.isEmpty { try agree(header, folder.appending(path: sample.name), in: folder) }
    }
  }

  @Test("a file that the check calls playable can be played", arguments: SampleFile.all.filter(\.isPlayable))
  func played(sample: SampleFile) throws {
    try withFolder { folder in
      let bytes = [UInt8](try Data(contentsOf: try sample.make(in: folder)))
      let header = try #require(SoundHeader(of: bytes))
      let sound = try SoundFiles.mix(bytes)
      #expect(sound.sampleRate == header.sampleRate)
      #expect(sound.samples.count == header.frames || sound.samples.count == header.storedFrames)
      #expect(sound.samples.contains { $0.magnitude > 1_000 })
    }
  }

  @Test("the tests have at least 60 sample files, of which at least 40 are playable and at least 40 are not playable")
  func count() {
    #expect(SampleFile.all.count >= 60)
    #expect(SampleFile.all.count { $0.isPlayable } >= 40)
    #expect(SampleFile.all.count { !$0.isPlayable } >= 40)
  }

  /// Compares a header with what ffprobe and soxi say about the file, if they can read it.
  private func agree(_ header: SoundHeader, _ file: URL, in folder: URL) throws {
    // Both programs call RF64 a WAVE file.
    let container = header.container == .rf64 ? "wav" : header.container.rawValue
    let name = SampleFile.quoted(file.lastPathComponent)
    let probe = try Shell.run(
      "ffprobe -v error -show_entries format=format_name:stream=codec_name,sample_rate,channels,duration "
        + "-of default=noprint_wrappers=1 \(name)", in: folder)
    if probe.status == 0, header.container != .matroska, header.container != .wma, header.frames != 0 {
      let values = fields(probe.output, "=")
      #expect(Probe.container(values["format_name"]) == container)
      if header.codec != nil { #expect(Probe.codec(values["codec_name"]) == header.codec?.name) }
      #expect(values["sample_rate"] == header.sampleRate.map(String.init))
      #expect(values["channels"] == header.channels.map(String.init))
      let seconds = try #require(values["duration"].flatMap(Double.init))
      // ffprobe counts the silence that an encoder adds to MP3 and Opus, and estimates the length of a bare stream of
      // AAC. An edit list of MPEG-4 has a precision of 1 ms.
      let isExact = ![.mp3, .aac].contains(header.container) && header.codec != .mp3 && header.codec != .opus
      if let milliseconds = header.durationMilliseconds {
        #expect(abs(seconds - Double(milliseconds) / 1000) <= (isExact ? 0.002 : 0.12))
      }
    }
    let info = try Shell.run("soxi -V1 \(name) && soxi -t \(name)", in: folder)
    guard info.status == 0 else { return }
    let values = fields(info.output, ":")
    let type = info.output.split(separator: "\n").last.map(String.init)
    #expect(Probe.container(type) == container)
    if header.codec != nil { #expect(Probe.codec(soxi: values["Sample Encoding"]) == header.codec?.name) }
    #expect(values["Sample Rate"] == header.sampleRate.map(String.init))
    #expect(values["Channels"] == header.channels.map(String.init))
    if let match = values["Duration"]?.firstMatch(of: #/= (\d+) samples/#), header.container != .mp3 {
      // soxi counts the silence that fills the last block.
      #expect(Int(match.1) == header.frames || Int(match.1) == header.storedFrames)
    }
  }

  private func fields(_ output: String, _ separator: Character) -> [String: String] {
    Dictionary(
      output.split(separator: "\n").compactMap { line in
        line.firstIndex(of: separator).map {
          (
            line[..<$0].trimmingCharacters(in: .whitespaces),
            line[line.index(after: $0)...].trimmingCharacters(in: .whitespaces)
          )
        }
      }
    ) { first, _ in first }
  }
}

/// The names of ffprobe and soxi for containers and encodings, as the names of the doctor.
private enum Probe {
  static func container(_ name: String?) -> String? {
    switch name {
    case "aifc", "aif": "aiff"
    case "wavpcm": "wav"
    case "vorbis": "ogg"
    case let name? where name.hasPrefix("mov,"): "m4a"
    default: name
    }
  }

  static func codec(_ name: String?) -> String? {
    guard let name else { return nil }
    if let match = name.firstMatch(of: #/^pcm_[su](\d+)/#) { return "pcm\(match.1)" }
    if let match = name.firstMatch(of: #/^pcm_f(\d+)/#) { return "float\(match.1)" }
    return switch name {
    case "pcm_mulaw": "ulaw"
    case "pcm_alaw": "alaw"
    case "adpcm_ima_wav", "adpcm_ima_qt": "ima4"
    case "adpcm_ms": "ms_adpcm"
    case "gsm_ms": "gsm"
    default: name
    }
  }

  static func codec(soxi name: String?) -> String? {
    guard let name else { return nil }
    if let match = name.firstMatch(of: #/^(\d+)-bit (Signed|Unsigned) Integer PCM/#) { return "pcm\(match.1)" }
    if let match = name.firstMatch(of: #/^(\d+)-bit Floating Point PCM/#) { return "float\(match.1)" }
    let known = [
      "u-law": "ulaw", "A-law": "alaw", "IMA ADPCM": "ima4", "MS ADPCM": "ms_adpcm", "GSM": "gsm", "FLAC": "flac",
      "Vorbis": "vorbis",
    ]
    return known.first { name.hasSuffix($0.key) }?.value ?? name
  }
}
