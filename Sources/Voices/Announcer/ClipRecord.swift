// SPDX-License-Identifier: Apache-2.0

import Announcements
import Crypto
import Foundation
import SoundFiles
import TextFormats
import Waveforms

/// A clip's record. It is stored in the comment of the clip's sound file. A clip that is found in the folder can
/// therefore be checked and reported without any other file.
struct ClipRecord: Codable, Equatable {
  var recipe: String
  var text: String
  /// The kind of voice: `speech`, `clips` or `mixed`.
  var method: String
  var voice: String
  /// The engine that spoke: its version and the digest of its data, such as `espeak-ng-1.51-` followed by 16
  /// hexadecimal digits. It is `nil` if recorded clips say everything.
  var engine: String?
  /// The speech servers that spoke, each with its program and voice, such as `joe: piper 1.8.0, en_US-joe-medium`. It
  /// is `nil` if no server spoke. A clip that a server spoke cannot be made again with the same bytes.
  var server: String?
  var loudnessLUFS: Double
  var shortened: [ScriptWriter.Shortening]
  var marks: [Mark]
  var frames: Int

  /// The SHA-256 digest of two things: the file's samples as a reader decodes them (little-endian), and the rest of
  /// this record. It detects a file in which a power cut left zeros in place of sound.
  var digest = ""

  /// A mark. It is encoded as `["支付宝", 0, 610]` to save space, because libsndfile can read only comments shorter than
  /// 2,000 bytes (measured on 1.2). The project's own WAV reader has no such limit. A clip with a longer comment in an
  /// encoding other than WAV's linear samples is rendered again each time.
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
    case recipe, text, method, voice, engine, server, shortened, marks, frames, digest
    case loudnessLUFS = "loudness_lufs"
  }

  /// Returns the bytes of a file that has a record in its comment, and also the record.
  static func write(
    _ waveform: Waveform, as format: SoundFormat, record: (_ frames: Int) -> ClipRecord
  ) throws -> (bytes: [UInt8], record: ClipRecord) {
    // Linear samples are read back exactly as they were written. Other encodings change the samples.
    let heard =
      format.encoding == .pcm16
      ? waveform.samples
      : try SoundFiles.decode(try SoundFiles.encode(waveform, as: format, comment: nil)).waveform.samples
    var record = record(heard.count)
    record.digest = try record.digest(with: heard)
    let comment = String(decoding: try record.encoded, as: UTF8.self)
    return (try SoundFiles.encode(waveform, as: format, comment: comment), record)
  }

  /// Reads a clip's record.
  ///
  /// - Returns: The waveform and the record; `nil` if the file is damaged or has another recipe.
  static func read(_ bytes: [UInt8], recipe: String) -> (waveform: Waveform, record: ClipRecord)? {
    guard let sound = try? SoundFiles.decode(bytes), let record = unchecked(sound),
      record.recipe == recipe, record.frames == sound.waveform.samples.count,
      let digest = try? record.digest(with: sound.waveform.samples), digest == record.digest
    else { return nil }
    return (sound.waveform, record)
  }

  /// Returns the record of a decoded sound, or `nil` if it has none. The record is not compared with the sound.
  static func unchecked(_ sound: DecodedSound) -> ClipRecord? {
    sound.comment.flatMap { try? JSONDecoder().decode(ClipRecord.self, from: Data($0.utf8)) }
  }

  /// The engine that spoke the words of a clip.
  enum Speaker: Equatable {
    case engine(String)
    /// No engine spoke. The clip consists only of recorded clips and of what speech servers spoke.
    case none
    /// The file has no readable record, or its record does not name the engine.
    case unknown
  }

  /// Returns the engine that a clip's record names. Nothing else in the clip is checked.
  static func speaker(of bytes: [UInt8]) -> Speaker {
    guard let record = (try? SoundFiles.decode(bytes)).flatMap(unchecked) else { return .unknown }
    if let engine = record.engine { return .engine(engine) }
    return record.method == "clips" || record.server != nil ? .none : .unknown
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
