// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundHeaders
import Testing

@testable import SoundDoctor

@Suite("SoundDiagnosis: decisions from the facts of a sound file")
struct SoundDiagnosisTests {
  private func header(
    _ container: SoundContainer = .wav, _ codec: SoundCodec = .pcm(bits: 16), rate: Int = 44_100, frames: Int = 44_100
  ) -> SoundHeader {
    var header = SoundHeader(container: container, codec: codec)
    (header.sampleRate, header.channels, header.frames, header.storedFrames) = (rate, 1, frames, frames)
    return header
  }

  private func codes(
    _ header: SoundHeader? = nil, path: String = "tone.wav", folder: String = "/home/ada",
    levels: SoundLevels? = SoundLevels(peak: 0.5, loudnessLUFS: -16)
  ) -> [SoundProblem.Code] {
    let header = header ?? self.header()
    let facts = SoundFacts(
      path: path, folder: folder, bytes: 1, content: .sound(header.container), header: header, levels: levels)
    return SoundDiagnosis(of: facts).problems.map(\.code)
  }

  @Test("a sound is too long from exactly 30 s on, at every rate", arguments: [8_000, 11_025, 22_050, 44_100, 48_000])
  func limit(rate: Int) {
    #expect(codes(header(rate: rate, frames: 30 * rate - 1)) == [])
    #expect(codes(header(rate: rate, frames: 30 * rate)) == [.tooLong])
    #expect(codes(header(rate: rate, frames: 30 * rate + 1)) == [.tooLong])
    #expect(codes(header(rate: rate, frames: .max)) == [.tooLong])
  }

  @Test("the duration of a sound below 30 s is never shown as 30,000 ms")
  func duration() {
    #expect(header(frames: 30 * 44_100 - 1).durationMilliseconds == 29_999)
    #expect(header(frames: 30 * 44_100).durationMilliseconds == 30_000)
    #expect(header(frames: .max).durationMilliseconds == nil)
  }

  @Test("only linear PCM of 8 to 32 bits is playable")
  func bits() {
    for bits in 8...32 { #expect(codes(header(.wav, .pcm(bits: bits))) == []) }
    for bits in [0, 1, 7, 33, 64] { #expect(codes(header(.wav, .pcm(bits: bits))) == [.codecNotSupported]) }
  }

  @Test("a loudness from 3 LU below Crier's clips to 1 LU above its tones is accepted, and any other gets a warning")
  func loudness() {
    func at(_ loudness: Double) -> [SoundProblem.Code] {
      codes(levels: SoundLevels(peak: 0.5, loudnessLUFS: loudness))
    }
    #expect(at(-19) == [] && at(-16) == [] && at(-12) == [] && at(-11) == [])
    #expect(at(-19.01) == [.tooQuiet] && at(-10.99) == [.tooLoud])
  }

  @Test("the message about a sound's loudness names the measured value and the limit")
  func loudnessText() {
    func message(_ loudness: Double) -> String? {
      let facts = SoundFacts(
        path: "tone.wav", folder: "/", content: .sound(.wav), header: header(),
        levels: SoundLevels(peak: 0.5, loudnessLUFS: loudness))
      return SoundDiagnosis(of: facts).problems.first?.message
    }
    #expect(message(-10.5) == "The loudness is -10.50 LUFS, which is above -11 LUFS and louder than Crier's tones.")
    #expect(message(-10.996) == "The loudness is -10.99 LUFS, which is above -11 LUFS and louder than Crier's tones.")
    #expect(message(-19.001) == "The loudness is -19.01 LUFS, which is below -19 LUFS and quieter than Crier's clips.")
    #expect(message(-30) == "The loudness is -30.00 LUFS, which is below -19 LUFS and quieter than Crier's clips.")
  }

  @Test("a file named 'default' is reported as never played, and both remedies suggest the same other name")
  func reserved() {
    let facts = SoundFacts(
      path: "/tones/default", folder: "/tones", content: .sound(.caf), header: header(.caf),
      levels: SoundLevels(peak: 0.5, loudnessLUFS: -16))
    let problems = SoundDiagnosis(of: facts).problems
    #expect(problems.map(\.code) == [.wrongExtension, .reservedName])
    #expect(
      problems.last?.message
        == "A notification that names “default” plays the system's default sound, and never this file.")
    for problem in problems { #expect(problem.remedy == "mv -n /tones/default /tones/tone.caf") }
  }

  @Test(
    "a sound file may be named default.wav, default.caf or default.aiff",
    arguments: [SoundContainer.wav, .caf, .aiff])
  func fallback(_ container: SoundContainer) {
    #expect(codes(header(container), path: "default.\(container.fileExtensions[0])") == [])
  }

  /// Returns the codes and the remedies of a WAV file that has nothing wrong but its name.
  private func problems(named path: String) -> [String] {
    let facts = SoundFacts(
      path: path, folder: "/s", content: .sound(.wav), header: header(),
      levels: SoundLevels(peak: 0.5, loudnessLUFS: -16))
    return SoundDiagnosis(of: facts).problems.map { "\($0.code.rawValue): \($0.remedy)" }
  }

  @Test(
    "a sound file with a wrong name gets a command that gives it the nearest right name",
    arguments: [
      ("/s/.tone.wav", ["invalid_name: mv -n /s/.tone.wav /s/tone.wav"]),
      ("/s/.wav", ["wrong_extension: mv -n /s/.wav /s/.wav.wav", "invalid_name: mv -n /s/.wav /s/wav.wav"]),
      ("/s/a\u{1}b.wav", ["invalid_name: mv -n $'/s/a\\x01b.wav' /s/a_b.wav"]),
      ("/s/tone.WAV", ["unpublishable_name: mv -n /s/tone.WAV /s/tone.wav"]),
      ("/s/tone", ["wrong_extension: mv -n /s/tone /s/tone.wav"]),
      ("/s/tone.mp3", ["wrong_extension: mv -n /s/tone.mp3 /s/tone.wav"]),
      ("/s/tone.v2", ["wrong_extension: mv -n /s/tone.v2 /s/tone.v2.wav"]),
      ("/s/cafe\u{301}.wav", ["decomposed_name: mv -n '/s/cafe\u{301}.wav' '/s/caf\u{e9}.wav'"]),
    ])
  func names(path: String, expected: [String]) {
    #expect(problems(named: path) == expected)
  }

  @Test("a file name may have 255 bytes, and a longer name is cut to its first 40 letters")
  func longNames() {
    #expect(problems(named: "/s/" + String(repeating: "x", count: 251) + ".wav") == [])
    for count in [252, 253, 1_000] {
      let name = String(repeating: "x", count: count) + ".wav"
      #expect(problems(named: "/s/\(name)") == ["invalid_name: mv -n /s/\(name) /s/\(name.prefix(40)).wav"])
    }
  }

  @Test("a message about a sound's length has seconds, rounded down")
  func lengthTexts() {
    func message(_ header: SoundHeader) -> String? {
      let facts = SoundFacts(
        path: "tone.wav", folder: "/", content: .sound(.wav), header: header,
        levels: SoundLevels(peak: 0.5, loudnessLUFS: -16))
      return SoundDiagnosis(of: facts).problems.first?.message
    }
    #expect(message(header(rate: 8_000, frames: 244_000))?.hasPrefix("The sound lasts 30.50 s. ") == true)
    var cut = header(rate: 8_000)
    cut.faults = [.truncated(stated: 16_000, present: 15_999)]
    #expect(
      message(cut)
        == "The header states 2.00 s of sound, but only 1.99 s is there: the file was cut off.")
  }

  @Test("a sample rate from 8,000 to 48,000 Hz is usual, and any other rate gets a warning")
  func rates() {
    for rate in [8_000, 48_000] { #expect(codes(header(rate: rate)) == []) }
    for rate in [7_999, 48_001] { #expect(codes(header(rate: rate)) == [.unusualSampleRate]) }
  }

  @Test("the command for a clipped sound restores the samples and lowers the level")
  func clippingRemedy() {
    let facts = SoundFacts(
      path: "/s/tone.wav", folder: "/s", content: .sound(.wav), header: header(),
      levels: SoundLevels(peak: 1, clippedSamples: 3, loudnessLUFS: -16))
    #expect(
      SoundDiagnosis(of: facts).problems.map(\.remedy) == [
        "ffmpeg -n -i /s/tone.wav -vn -t 29.5 -af adeclip,volume=-6dB -ac 1 -ar 22050 -c:a pcm_s16le /s/tone-fixed.wav"
      ])
  }

  @Test("a sound 60 dB below full scale cannot be heard, and a clipped sound only gets a warning")
  func peak() {
    #expect(codes(levels: SoundLevels(peak: 0)) == [.silent])
    #expect(codes(levels: SoundLevels(peak: 0.001)) == [.silent])
    #expect(codes(levels: SoundLevels(peak: 0.002)) == [])
    #expect(codes(levels: SoundLevels(peak: 1, clippedSamples: 3, loudnessLUFS: -16)) == [.clipping])
    #expect(codes(levels: SoundLevels(peak: 1.1, loudnessLUFS: -16)) == [.clipping])
  }

  @Test("a correct header with a sound that cannot be decoded is an error")
  func undecodable() { #expect(codes(levels: nil) == [.undecodable]) }

  @Test(
    "a folder named 'Sounds' gets a warning only if it is not in a folder named 'Library'",
    arguments: [
      ("/containers/group.crier/Library/Sounds", true), ("/containers/group.crier/Sounds", false),
      ("/Sounds", false), ("/containers/group.crier/library/sounds", false), ("/home/ada/tones", true), ("/", true),
    ])
  func folder(folder: String, isRight: Bool) {
    #expect(codes(folder: folder) == (isRight ? [] : [.wrongFolder]))
  }

  @Test("errors of a sound come before warnings, and only errors make the sound unplayable")
  func order() {
    var faulty = header(rate: 96_000)
    faulty.faults = [.lengthMissing]
    let found = codes(faulty, path: "default", folder: "/Sounds")
    #expect(found == [.headerMismatch, .wrongExtension, .unusualSampleRate, .reservedName, .wrongFolder])
    let facts = SoundFacts(
      path: "tone.wav", folder: "/Sounds", content: .sound(.wav), header: header(rate: 96_000),
      levels: SoundLevels(peak: 0.5, loudnessLUFS: -9))
    let diagnosis = SoundDiagnosis(of: facts)
    #expect(diagnosis.problems.map(\.code) == [.unusualSampleRate, .tooLoud, .wrongFolder])
    #expect(diagnosis.isPlayable)
  }

  @Test(
    "each kind of file that is not a sound has its own problem and no other problem",
    arguments: [
      (SoundContent.missing, SoundProblem.Code.missing), (.folder, .folder), (.special, .notAFile),
      (.unreadable, .unreadable), (.oversized, .fileTooLarge), (.empty, .emptyFile), (.zeros, .onlyZeroBytes),
      (.text, .textNotSound), (.html, .htmlNotSound), (.unknown, .unknownContent),
    ])
  func content(content: SoundContent, code: SoundProblem.Code) {
    let diagnosis = SoundDiagnosis(of: SoundFacts(path: "default", folder: "/Sounds", content: content))
    #expect(diagnosis.problems.map(\.code) == [code] && !diagnosis.isPlayable && !diagnosis.isMendable)
  }

  @Test("the suggested commands quote the file's name for the shell")
  func quoting() {
    func remedy(_ path: String) -> String? {
      let facts = SoundFacts(
        path: path, folder: "/", content: .sound(.mp3), header: header(.mp3, .mp3),
        levels: SoundLevels(peak: 0.5, loudnessLUFS: -16))
      return SoundDiagnosis(of: facts).problems.first { $0.code == .mp3NotDocumented }?.remedy
    }
    #expect(remedy("it's $HOME.mp3") == #"crier sounds check --fix 'it'\''s $HOME.mp3'"#)
    #expect(remedy("-rf.mp3") == "crier sounds check --fix ./-rf.mp3")
    #expect(remedy("a:b.mp3") == "crier sounds check --fix ./a:b.mp3")
    #expect(remedy("/tones/a:b.mp3") == "crier sounds check --fix /tones/a:b.mp3")
  }

  @Test("docs/sounds.md explains every code of a problem, with its severity")
  func documented() throws {
    let page = try String(
      contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/sounds.md"),
      encoding: .utf8)
    for code in SoundProblem.Code.allCases {
      #expect(page.contains("| `\(code.rawValue)` | \(code.severity.rawValue) |"), "\(code.rawValue)")
    }
  }
}
