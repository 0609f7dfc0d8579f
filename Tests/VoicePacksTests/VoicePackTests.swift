// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VoicePacks
import Waveforms

@testable import Announcements

@Suite("VoicePack: a folder of recordings, checked and mapped")
struct VoicePackTests {
  private let voices: VoicesFolder
  private let directory: URL
  private var manifest = VoicesFolder.manifest(tokens: ["one", "two"])

  init() throws {
    voices = try VoicesFolder()
    directory = try voices.write(manifest)
  }

  @Test("a loaded pack has its manifest and its clips' bytes")
  func loads() throws {
    let pack = try VoicePack(directory: directory)
    #expect(pack.manifest == manifest)
    #expect(pack.directory == directory)
    #expect(try pack.bytes(ofClip: "one.wav") == Data(contentsOf: directory.appending(path: "one.wav")))
    #expect(pack.bytes(ofClip: "three.wav") == nil)
  }

  @Test("a pack's folder may be reached through a link, and its path may contain dots")
  func linkedFolder() throws {
    let link = voices.url.appending(path: "elsewhere")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: voices.url)
    #expect(loadingError(link.appending(path: "demo")) == nil)
    #expect(loadingError(directory.appending(path: "../demo/.")) == nil)
  }

  @Test("the clips of a pack are joined with the pause of each place, and without a pause after the last clip")
  func stitched() throws {
    let pack = try VoicePack(directory: directory)
    let tokens = [
      ClipToken(name: "one", role: .phrase, pause: .clause),
      ClipToken(name: "two", role: .amount, pause: .sentence),
    ]
    let clips = pack.selection(for: tokens).compactMap { if case .clip(let clip) = $0 { clip } else { nil } }
    let pauses = ClipPauses(word: 10, piece: 20, clause: 100, sentence: 400)
    let waveform = pack.stitched(clips, pauses: pauses)
    #expect(waveform.sampleRate == 22_050)
    #expect(waveform.durationMilliseconds == 30 + 100 + 100 + 100 + 30 + 1)
    #expect(
      waveform.marks == [
        .init(text: "one", startMilliseconds: 30, endMilliseconds: 130),
        .init(text: "two", startMilliseconds: 230, endMilliseconds: 330),
      ])
    #expect(waveform.samples[1000] == 1 && waveform.samples[6000] == 2)
    #expect(pack.stitched(clips, pauses: pauses, edgeMilliseconds: 0).samples.count == 3 * 2205)
    #expect(pack.stitched([], pauses: pauses).marks.isEmpty)
  }

  @Test("many threads may use one pack at once")
  func threads() async throws {
    let pack = try VoicePack(directory: directory)
    let tokens = ["one", "two"].map { ClipToken(name: $0, role: .amount, pause: .word) }
    let results = await withTaskGroup(of: Waveform.self, returning: Set<Waveform>.self) { group in
      for _ in 0..<32 {
        group.addTask {
          let clips = pack.selection(for: tokens).compactMap { if case .clip(let clip) = $0 { clip } else { nil } }
          return pack.stitched(clips, pauses: .usual)
        }
      }
      return await group.reduce(into: []) { $0.insert($1) }
    }
    #expect(results.count == 1)
  }

  @Test("a pack keeps its sound even if its folder is removed during use")
  func replaced() throws {
    let pack = try VoicePack(directory: directory)
    let before = pack.bytes(ofClip: "one.wav").map { Data(Array($0)) }
    try FileManager.default.removeItem(at: directory)
    #expect(pack.bytes(ofClip: "one.wav") == before)
  }

  @Test("a pack's folder whose name is not a valid id is refused, and a missing folder is not found")
  func folders() throws {
    #expect(loadingError(voices.directory(".demo"))?.code == .idInvalid)
    #expect(loadingError(voices.directory("two words"))?.code == .idInvalid)
    #expect(loadingError(URL(string: "https://example.org/demo") ?? directory)?.code == .idInvalid)
    #expect(loadingError(voices.directory("other"))?.code == .notFound)
    try Data().write(to: voices.url.appending(path: "file"))
    #expect(loadingError(voices.url.appending(path: "file"))?.code == .notFound)
  }

  @Test("a pack with a clip that is missing, a link, a folder or a pipe is refused")
  func noFile() throws {
    let clip = directory.appending(path: "two.wav")
    try FileManager.default.removeItem(at: clip)
    #expect(loadingError(directory)?.code == .clipUnreadable)
    for target in ["one.wav", "/etc/passwd", "../demo/one.wav"] {
      try FileManager.default.createSymbolicLink(atPath: clip.path, withDestinationPath: target)
      #expect(loadingError(directory)?.code == .clipUnreadable)
      try FileManager.default.removeItem(at: clip)
    }
    try FileManager.default.createDirectory(at: clip, withIntermediateDirectories: false)
    #expect(loadingError(directory)?.code == .clipUnreadable)
    try FileManager.default.removeItem(at: clip)
    try #require(mkfifo(clip.path, 0o600) == 0)
    #expect(loadingError(directory)?.code == .clipUnreadable)
  }

  @Test("the error for a clip that is not a WAV file, empty, too long or of a wrong rate names the clip")
  func badClip() throws {
    let whole = WAVFile.encode(Waveform(samples: [1, 2], sampleRate: 22_050))
    for bytes in [[], Array("RIFF".utf8), whole.dropLast(), whole + [0]] {
      try Data(bytes).write(to: directory.appending(path: "two.wav"))
      #expect(loadingError(directory)?.code == .clipInvalid)
    }
    try voices.write([], as: "two.wav", in: directory)
    #expect(loadingError(directory)?.code == .clipInvalid)
    try voices.write([1], rate: 8000, as: "two.wav", in: directory)
    #expect(loadingError(directory)?.code == .clipInvalid)
    try voices.write([Int16](repeating: 1, count: 20 * 22_050 + 1), as: "two.wav", in: directory)
    #expect(loadingError(directory)?.code == .clipInvalid)
    #expect(
      loadingError(directory)?.description
        == "voice pack demo: two.wav is longer than 20 s; record it again.")
    try voices.write([Int16](repeating: 1, count: 20 * 22_050), as: "two.wav", in: directory)
    #expect(loadingError(directory) == nil)
  }

  @Test("a clip of far more bytes than 20 s need is refused without being read")
  func hugeClip() throws {
    let file = try FileHandle(forWritingTo: directory.appending(path: "two.wav"))
    try file.truncate(atOffset: 1 << 30)
    try file.close()
    #expect(loadingError(directory)?.code == .clipUnreadable)
  }
}
