// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundDoctor
import SoundHeaders
import SoundFiles
import Testing
import Waveforms

@Suite("SoundExamination: files, folders, links and bytes")
struct SoundExaminationTests {
  private func code(_ bytes: [UInt8], named name: String = "tone.wav") throws -> [SoundProblem.Code] {
    try withFolder { folder in
      let file = folder.appending(path: name)
      try Data(bytes).write(to: file)
      return diagnosis(of: file).problems.map(\.code)
    }
  }

  @Test("an empty file, zero bytes, a text, a web page and other bytes each have their own problem")
  func contents() throws {
    #expect(try code([]) == [.emptyFile])
    #expect(try code(Array(repeating: 0, count: 4_096)) == [.onlyZeroBytes])
    #expect(try code(Array("Thank you for your order.\n".utf8)) == [.textNotSound])
    #expect(try code(Array(String(repeating: "到账十二元", count: 1_000).utf8)) == [.textNotSound])
    #expect(try code(Array("{\"error\": \"not found\"}".utf8)) == [.textNotSound])
    #expect(try code(Array("\n<!DOCTYPE html><title>404</title>".utf8)) == [.htmlNotSound])
    #expect(try code(Array("<?xml version=\"1.0\"?><html><body>404</body></html>".utf8)) == [.htmlNotSound])
    #expect(try code([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) == [.unknownContent])
    #expect(try code(Array("RIFF".utf8)) == [.textNotSound])
  }

  @Test(
    "a folder, a missing file, an unreadable file and a pipe each have their own problem, and none blocks the check")
  func places() throws {
    try withFolder { folder in
      let ofFolder = diagnosis(of: folder)
      #expect(ofFolder.problems.map(\.code) == [.folder])
      #expect(ofFolder.problems.first?.remedy.hasSuffix("\(folder.lastPathComponent)/*") == true)
      #expect(diagnosis(of: folder.appending(path: "none.wav")).problems.map(\.code) == [.missing])
      let pipe = folder.appending(path: "pipe.wav")
      let made = try Shell.run("mkfifo pipe.wav", in: folder)
      #expect(made.status == 0)
      #expect(diagnosis(of: pipe).problems.map(\.code) == [.notAFile])
      // Root may read every file, but nobody may read this one from its beginning.
      #expect(diagnosis(of: URL(filePath: "/proc/self/mem")).problems.map(\.code) == [.unreadable])
    }
  }

  @Test("the check follows a symbolic link to a sound, and checks the link's own name")
  func link() throws {
    try withFolder { folder in
      _ = try SampleFile.sox("tone.wav").make(in: folder)
      let link = folder.appending(path: "link.caf")
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.appending(path: "tone.wav"))
      #expect(diagnosis(of: link).problems.map(\.code) == [.wrongExtension])
    }
  }

  @Test("the bytes of a sound can be checked before they are in a file")
  func bytes() {
    let sound = Waveform(samples: (0..<22_050).map { $0 / 25 % 2 == 0 ? 5_000 : -5_000 }, sampleRate: 22_050)
    let examination = SoundExamination(
      of: WAVFile.encode(sound), path: "tone.wav", folder: "/containers/group.crier/Library/Sounds")
    #expect(examination.mix == sound)
    #expect(SoundDiagnosis(of: examination.facts).isPlayable)
  }

  @Test(
    "a sound in every format that Crier writes is playable without a warning", arguments: SoundFormat.Container.allCases
  )
  func ours(container: SoundFormat.Container) throws {
    let sound = Waveform(samples: (0..<22_050).map { $0 / 25 % 2 == 0 ? 4_500 : -4_500 }, sampleRate: 22_050)
    for encoding in SoundFormat.encodings(of: container) {
      let bytes = try SoundFiles.encode(
        sound, as: SoundFormat(container: container, encoding: encoding), comment: "支付宝到账")
      let facts = SoundExamination(of: bytes, path: "tone.\(container.rawValue)", folder: "/").facts
      #expect(SoundDiagnosis(of: facts).problems.isEmpty, "\(encoding)")
      #expect(facts.header?.codec?.name == encoding.rawValue)
    }
  }

  @Test("a box of MPEG-4 that states more bytes than there are, or fewer than its own head, causes no trap")
  func boxes() {
    func box(_ name: String, _ content: [UInt8], stated: UInt32? = nil, long: UInt64? = nil) -> [UInt8] {
      let size = stated ?? UInt32(content.count + 8)
      let head = (0..<4).map { UInt8(truncatingIfNeeded: size >> (24 - $0 * 8)) } + Array(name.utf8)
      return head + (long.map { long in (0..<8).map { UInt8(truncatingIfNeeded: long >> (56 - $0 * 8)) } } ?? [])
        + content
    }
    let start = box("ftyp", Array("M4A ".utf8) + [0, 0, 0, 0])
    let track = box("trak", box("mdia", box("minf", box("stbl", box("stsd", [0, 0, 0, 0, 0, 0, 0, 1])))))
    var files = [start, start + box("moov", track)]
    for size: UInt32 in [0, 2, 7, 8, 9, .max] { files.append(start + box("moov", track, stated: size)) }
    for size: UInt64 in [0, 15, 16, 17, 1 << 63, .max] {
      files.append(start + box("moov", track, stated: 1, long: size))
    }
    for file in files {
      let facts = SoundExamination(of: file, path: "a.m4a", folder: "/").facts
      #expect(SoundDiagnosis(of: facts).problems.contains { $0.code == .m4aNotSupported })
    }
  }

  @Test("a sound file that is cut anywhere, or has any changed byte in its header, causes no trap")
  func hostile() throws {
    let samples: [SampleFile] = [
      .sox("a.wav", "-e ima-adpcm", rate: 8_000, frames: 800),
      .sox("a.aiff", "-t aifc -b 16", rate: 8_000, frames: 800),
      .sox("a.caf", rate: 8_000, frames: 800), .ffmpeg("b.caf", "-c:a adpcm_ima_qt", rate: 8_000, frames: 800),
      .ffmpeg("a.m4a", "-c:a aac -movflags faststart", rate: 8_000, frames: 8_000),
      .ffmpeg("a.aac", "-c:a aac", rate: 8_000, frames: 8_000),
    ]
    try withFolder { folder in
      for sample in samples {
        let bytes = [UInt8](try Data(contentsOf: try sample.make(in: folder)))
        // The description of the sound in MPEG-4 is far behind the start.
        let length = min(bytes.count, sample.name == "a.m4a" ? 900 : 160)
        for count in 0..<length {
          _ = SoundDiagnosis(of: SoundExamination(of: Array(bytes.prefix(count)), path: "a.wav", folder: "/").facts)
        }
        for offset in 4..<length {
          for value: UInt8 in [0, 0x7F, 0xFF] {
            var changed = bytes
            changed[offset] = value
            _ = SoundDiagnosis(of: SoundExamination(of: changed, path: "a.wav", folder: "/").facts)
          }
        }
      }
    }
  }
}
