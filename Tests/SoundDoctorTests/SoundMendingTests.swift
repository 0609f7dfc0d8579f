// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundDoctor
import Testing
import Waveforms

@Suite("SoundMending")
struct SoundMendingTests {
  private func copy(_ sample: SampleFile, in folder: URL) throws -> SoundMending.Copy {
    try SoundMending.writeCopy(of: SoundExamination(of: try sample.make(in: folder).path(percentEncoded: false)))
  }

  @Test(
    "the repaired copy is a mono WAV file with 16 bits at 22,050 Hz, and has no problem",
    arguments: [
      SampleFile.ffmpeg("tone.mp3", "-c:a libmp3lame", rate: 44_100), .sox("six.wav", channels: 6),
      .sox("96k.wav", rate: 96_000), .sox("loud.wav", gain: 0), .sox("quiet.wav", gain: -40),
      .sox("float.caf", "-e float -b 32"), .ffmpeg("ima4.caf", "-c:a adpcm_ima_qt"),
      .ffmpeg("tone.flac", "-c:a flac"), SampleFile.sox("tone.wav").renamed("tone.caf", []),
      SampleFile.sox("cut.wav").edited([]) { $0.removeLast(10_001) },
      SampleFile.sox("cut.caf").edited([]) { $0.removeLast(10_001) },
      SampleFile.sox("no-length.wav").edited([]) { $0.set(0, 4, at: $0.offset(after: "data")) },
      SampleFile.sox("no-length.aiff").edited([]) { $0.set(8, 4, at: $0.offset(after: "SSND"), big: true) },
      SampleFile.sox("no-pad.wav").edited([]) { $0.insertUnpadded("LIST", before: "data") },
      SampleFile.sox("no-pad.aiff").edited([]) { $0.insertUnpadded("NAME", before: "COMM", big: true) },
      .sox("it's - 1.wav", gain: 0),
    ])
  func mended(sample: SampleFile) throws {
    try withFolder { folder in
      let copy = try copy(sample, in: folder)
      let stem = sample.name.split(separator: ".")[0]
      #expect(copy.file.lastPathComponent == stem + "-fixed.wav" && !copy.isCut)
      let (waveform, _) = try WAVFile.decode([UInt8](try Data(contentsOf: copy.file)))
      #expect(waveform.sampleRate == 22_050)
      let diagnosis = diagnosis(of: copy.file)
      #expect(diagnosis.problems.isEmpty, "\(diagnosis.problems)")
      let loudness = try #require(diagnosis.facts.levels?.loudnessLUFS)
      #expect(abs(loudness + 16) <= 1)
    }
  }

  @Test("a sound of 30 s or more is cut to 29.5 s, and fades out", arguments: [30, 61])
  func cut(seconds: Int) throws {
    try withFolder { folder in
      let copy = try copy(.sox("long.wav", rate: 8_000, frames: seconds * 8_000), in: folder)
      #expect(copy.isCut)
      let (waveform, _) = try WAVFile.decode([UInt8](try Data(contentsOf: copy.file)))
      #expect((29_300...29_500).contains(waveform.durationMilliseconds))
      let end = waveform.samples.suffix(22_050 / 10).reduce(0) { max($0, $1.magnitude) }
      let middle = waveform.samples.prefix(22_050).reduce(0) { max($0, $1.magnitude) }
      #expect(Int(end) * 4 < Int(middle))
      #expect(diagnosis(of: copy.file).problems.isEmpty)
    }
  }

  @Test("a sound that is long only because of silence at its end is trimmed, and not cut")
  func trimmed() throws {
    try withFolder { folder in
      var sample = SampleFile.sox("tail.wav", rate: 8_000)
      sample.command += " pad 0 40"
      let copy = try copy(sample, in: folder)
      let (waveform, _) = try WAVFile.decode([UInt8](try Data(contentsOf: copy.file)))
      #expect(!copy.isCut && (1_000...1_100).contains(waveform.durationMilliseconds))
    }
  }

  @Test("a repaired copy never replaces an existing file, and the error says so")
  func exists() throws {
    try withFolder { folder in
      let existing = folder.appending(path: "loud-fixed.wav")
      try Data("mine".utf8).write(to: existing)
      let error = #expect(throws: SoundMendingError.self) { try copy(.sox("loud.wav", gain: 0), in: folder) }
      #expect(error?.code == .exists)
      #expect(error?.description.contains("loud-fixed.wav exists already and is not replaced") == true)
      #expect(try Data(contentsOf: existing) == Data("mine".utf8))
    }
  }

  @Test(
    "a sound that cannot be decoded or heard gets no copy, and the error has the remedy",
    arguments: [
      (SampleFile.ffmpeg("tone.m4a", "-c:a aac"), "ffmpeg -n -i /"),
      (SampleFile(name: "silent.wav", command: "sox -D -r 8000 -n silent.wav trim 0 1", codes: []), "Export the sound"),
    ])
  func refused(sample: SampleFile, remedy: String) throws {
    try withFolder { folder in
      let error = #expect(throws: SoundMendingError.self) { try copy(sample, in: folder) }
      #expect(error?.code == .notMendable && error?.path == folder.appending(path: sample.name).path)
      #expect(error?.reason.hasPrefix("the sound cannot be decoded") == true)
      #expect(error?.remedy.hasPrefix(remedy) == true)
      let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(left == [sample.name])
    }
  }
}
