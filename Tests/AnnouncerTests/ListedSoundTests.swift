// SPDX-License-Identifier: Apache-2.0

import Announcer
import Foundation
import SoundFiles
import SoundLibrary
import Testing
import Waveforms

@Suite("Listed sounds")
struct ListedSoundTests {
  /// A library of files, whose contents do not matter if they are not given.
  private struct Folder: ~Copyable {
    let root = FileManager.default.temporaryDirectory.appending(path: "listed-\(UUID().uuidString)")
    let library: SoundLibrary

    init() throws {
      library = SoundLibrary(container: try GroupContainer(containers: root, group: "group.crier"))
    }

    deinit { try? FileManager.default.removeItem(at: root) }
  }

  private func tone(frames: Int) -> Waveform {
    Waveform(samples: (0..<frames).map { Int16($0 % 100 * 50) }, sampleRate: 22_050)
  }

  @Test("a listed clip has its words, length and size, in every format that Crier writes")
  func clips() async throws {
    let workshop = try Workshop()
    let formats: [SoundFormat] = [
      SoundFormat(container: .wav, encoding: .pcm16), SoundFormat(container: .caf, encoding: .ulaw),
      SoundFormat(container: .aiff, encoding: .ima4),
    ]
    for format in formats {
      var options = RenderOptions()
      options.format = format
      let report = try await workshop.announcer.render(
        try Workshop.payment(), options: options, into: workshop.library
      ).report
      let all = try ListedSound.all(in: workshop.library)
      let sound = try #require(all.first { $0.name == report.clip.name })
      #expect(sound.words == report.text)
      #expect(sound.milliseconds == report.clip.durationMilliseconds)
      #expect(sound.bytes == report.clip.bytes)
    }
    #expect(try ListedSound.all(in: workshop.library).count == formats.count)
  }

  @Test("a listed sound that Crier did not make has a length and no words, and a damaged file has neither")
  func others() throws {
    let folder = try Folder()
    let wave = WAVFile.encode(tone(frames: 22_051))
    _ = try folder.library.publish(wave, as: "tone.wav")
    // The same samples as frames of two channels: half as many frames, and twice as many bytes in each.
    var stereo = wave
    (stereo[22], stereo[32]) = (2, 4)
    stereo.removeLast(2)
    for (offset, change) in [(4, stereo.count - 8), (40, stereo.count - 44)] {
      for byte in 0..<4 { stereo[offset + byte] = UInt8(change >> (8 * byte) & 255) }
    }
    _ = try folder.library.publish(stereo, as: "stereo.wav")
    _ = try folder.library.publish([1, 2, 3], as: "damaged.caf")
    _ = try folder.library.publish([], as: "empty.wav")
    let commented = WAVFile.encode(tone(frames: 2_205), comment: "Made by hand")
    _ = try folder.library.publish(commented, as: "commented.wav")
    let sounds = try ListedSound.all(in: folder.library)
    #expect(sounds.map(\.name) == ["commented.wav", "damaged.caf", "empty.wav", "stereo.wav", "tone.wav"])
    #expect(sounds.map(\.words) == [nil, nil, nil, nil, nil])
    #expect(sounds.map(\.milliseconds) == [100, nil, nil, 500, 1_001])
    #expect(sounds.map(\.bytes) == [commented.count, 3, 0, stereo.count, wave.count])
  }

  @Test("the last use of a listed sound is the time at which its file was last modified")
  func lastUsed() throws {
    let folder = try Folder()
    let url = try folder.library.publish([1], as: "tone.wav")
    let time = Date(timeIntervalSince1970: 1_700_000_000)
    try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: url.path)
    #expect(try ListedSound.all(in: folder.library).map(\.lastUsed) == [time])
  }

  @Test("the list of sounds leaves out folders, links, and names that no clip has, and a missing folder has no sounds")
  func leftOut() throws {
    let folder = try Folder()
    #expect(try ListedSound.all(in: folder.library).isEmpty)
    let url = try folder.library.publish([1], as: "tone.wav")
    let sounds = url.deletingLastPathComponent()
    try FileManager.default.createDirectory(at: sounds.appending(path: "b.wav"), withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(atPath: sounds.path + "/c.wav", withDestinationPath: "tone.wav")
    for name in ["notes.txt", ".publishing-3", ".hidden.wav"] {
      try Data([1]).write(to: sounds.appending(path: name))
    }
    #expect(try ListedSound.all(in: folder.library).map(\.name) == ["tone.wav"])
  }

  @Test("a file that is too large for a clip is listed with its size and without a length")
  func large() throws {
    let folder = try Folder()
    let url = try folder.library.publish([1], as: "tone.wav")
    let file = try FileHandle(forWritingTo: url)
    try file.truncate(atOffset: UInt64(SoundLibrary.maximumClipBytes + 1))
    try file.close()
    let sounds = try ListedSound.all(in: folder.library)
    #expect(sounds.map(\.bytes) == [SoundLibrary.maximumClipBytes + 1] && sounds.map(\.milliseconds) == [nil])
  }
}
