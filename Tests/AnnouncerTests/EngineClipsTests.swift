// SPDX-License-Identifier: Apache-2.0

import Announcer
import Foundation
import SoundFiles
import SoundLibrary
import SpeechEngine
import Testing

@Suite("Clips by engine")
struct EngineClipsTests {
  /// Publishes a copy of a clip with a changed record.
  private func publish(
    _ name: String, as original: URL, in library: SoundLibrary, record change: (inout [String: Any]) -> Void
  ) throws {
    let sound = try SoundFiles.decode([UInt8](Data(contentsOf: original)))
    let comment = try #require(sound.comment)
    var record = try #require(try JSONSerialization.jsonObject(with: Data(comment.utf8)) as? [String: Any])
    change(&record)
    let changed = String(decoding: try JSONSerialization.data(withJSONObject: record), as: UTF8.self)
    _ = try library.publish(try SoundFiles.encode(sound.waveform, as: sound.format, comment: changed), as: name)
  }

  @Test("the engine is unknown for a spoken clip whose record has no engine, and for a file without a record")
  func unknown() async throws {
    let workshop = try Workshop()
    let clip = try await workshop.announcer.render(try Workshop.payment(), into: workshop.library)
    let url = URL(filePath: clip.report.clip.path)
    let engine = try await workshop.engine.identity().description
    for method in ["speech", "mixed", "clips"] {
      try publish("\(method).wav", as: url, in: workshop.library) { record in
        record["engine"] = nil
        record["method"] = method
      }
    }
    let bare = try SoundFiles.encode(clip.waveform, as: SoundFormat(container: .wav, encoding: .pcm16), comment: nil)
    _ = try workshop.library.publish(bare, as: "bare.wav")
    _ = try workshop.library.publish([1, 2, 3], as: "torn.wav")
    let clips = try EngineClips(in: workshop.library)
    #expect(clips.names == [engine: [url.lastPathComponent]])
    // Clips made of recordings have no engine, so they do not count as clips of an unknown engine.
    #expect(clips.unknown.sorted() == ["bare.wav", "mixed.wav", "speech.wav", "torn.wav"])
  }
}
