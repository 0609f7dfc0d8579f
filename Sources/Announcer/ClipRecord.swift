// SPDX-License-Identifier: Apache-2.0

import Announcements
import Crypto
import Foundation
import SoundFiles
import VoicePackIntegrity
import Waveforms

/// What a clip says about itself, kept in the comment of its sound file, so that a clip found in the folder can be
/// reported, and checked, with nothing but the file.
struct ClipRecord: Codable, Equatable {
  var recipe: String
  var text: String
  /// Who speaks: `speech`, `clips` or `mixed`.
  var method: String
  var voice: String
  /// Which engine spoke in it, by its version and its data: `espeak-ng-1.51-` and 16 hexadecimal digits. `nil` where clips
  /// say everything.
  var engine: String?
  var loudnessLUFS: Double
  var shortened: [ScriptWriter.Shortening]
  var marks: [Mark]
  var frames: Int

  /// SHA-256 over the samples as a reader of the file gets them, little-endian, and over the rest of this record. A
  /// power cut can leave zeros where a file's header promises sound.
  var digest = ""

  /// Written as `["支付宝", 0, 610]`: libsndfile reads a comment back only when it is shorter than 2,000 bytes (measured
  /// on 1.2; of our own reader that is not so). A clip with a longer one in another encoding is made anew each time.
  struct Mark: Codable, Equatable {
    var mark: Waveform.Mark

    init(_ mark: Waveform.Mark) { self.mark = mark }

    init(from decoder: any Decoder) throws {
      var fields = try decoder.unkeyedContainer()
      mark = Waveform.Mark(
        text: try fields.decode(String.self), startMilliseconds: try fields.decode(Int.self),
        endMilliseconds: try fields.decode(Int.self))
    }

    func encode(to encoder: any Encoder) throws {
      var fields = encoder.unkeyedContainer()
      try fields.encode(mark.text)
      try fields.encode(mark.startMilliseconds)
      try fields.encode(mark.endMilliseconds)
    }
  }

  enum CodingKeys: String, CodingKey {
    case recipe, text, method, voice, engine, shortened, marks, frames, digest
    case loudnessLUFS = "loudness_lufs"
  }

  /// The file's bytes with a record in its comment, and the record.
  static func write(
    _ waveform: Waveform, as format: SoundFormat, record: (_ frames: Int) -> ClipRecord
  ) throws -> (bytes: [UInt8], record: ClipRecord) {
    // Linear samples read back as they were written; others are what the encoding made of them.
    let heard =
      format.encoding == .pcm16
      ? waveform.samples
      : try SoundFiles.decode(try SoundFiles.encode(waveform, as: format, comment: nil)).waveform.samples
    var record = record(heard.count)
    record.digest = try record.digest(with: heard)
    let comment = String(decoding: try record.encoded, as: UTF8.self)
    return (try SoundFiles.encode(waveform, as: format, comment: comment), record)
  }

  /// Reads a clip's record back.
  /// - Returns: `nil` unless the file is whole, is of this recipe, and sounds as it was written.
  static func read(_ bytes: [UInt8], recipe: String) -> (waveform: Waveform, record: ClipRecord)? {
    guard let sound = try? SoundFiles.decode(bytes), let comment = sound.comment,
      let record = try? JSONDecoder().decode(ClipRecord.self, from: Data(comment.utf8)),
      record.recipe == recipe, record.frames == sound.waveform.samples.count,
      let digest = try? record.digest(with: sound.waveform.samples), digest == record.digest
    else { return nil }
    return (sound.waveform, record)
  }

  /// Which engine spoke in a clip.
  enum Speaker: Equatable {
    case engine(String)
    /// Recorded clips say everything.
    case none
    /// The file has no record that can be read, or one that names no engine for what was spoken.
    case unknown
  }

  /// The engine that a clip's record names, of which no more is checked than that it can be read.
  static func speaker(of bytes: [UInt8]) -> Speaker {
    guard let comment = try? SoundFiles.decode(bytes).comment,
      let record = try? JSONDecoder().decode(ClipRecord.self, from: Data(comment.utf8))
    else { return .unknown }
    if let engine = record.engine { return .engine(engine) }
    return record.method == "clips" ? .none : .unknown
  }

  private static let encoder = {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }()

  private var encoded: Data {
    get throws { try Self.encoder.encode(self) }
  }

  private func digest(with samples: [Int16]) throws -> String {
    var bare = self
    bare.digest = ""
    var hash = SHA256()
    hash.update(data: try bare.encoded)
    samples.withUnsafeBytes { hash.update(bufferPointer: $0) }
    return hash.finalize().hexadecimal
  }
}
