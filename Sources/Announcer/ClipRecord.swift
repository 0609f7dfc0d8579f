// SPDX-License-Identifier: Apache-2.0

import Announcements
import Crypto
import Foundation
import SoundFiles
import Waveforms

/// What a clip says about itself, kept in the comment of its sound file, so that a clip found in the folder can be
/// reported, and checked, with nothing but the file.
struct ClipRecord: Codable, Equatable {
  var recipe: String
  var text: String
  var voice: String
  var loudnessLUFS: Double
  var shortened: [ScriptWriter.Shortening]
  var marks: [ClipReport.Mark]
  var frames: Int

  /// Over the samples as a reader of the file gets them, little-endian. A power cut can leave zeros where a file's
  /// header promises sound.
  var samplesSHA256: String

  enum CodingKeys: String, CodingKey {
    case recipe, text, voice, shortened, marks, frames
    case loudnessLUFS = "loudness_lufs"
    case samplesSHA256 = "samples_sha256"
  }

  /// The file's bytes with a record in its comment, and the record.
  static func write(
    _ waveform: Waveform, as format: SoundFormat, record: (_ frames: Int, _ samplesSHA256: String) -> ClipRecord
  ) throws -> (bytes: [UInt8], record: ClipRecord) {
    // Linear samples read back as they were written; others are what the encoding made of them.
    let heard =
      format.encoding == .pcm16
      ? waveform.samples
      : try SoundFiles.decode(try SoundFiles.encode(waveform, as: format, comment: nil)).waveform.samples
    let record = record(heard.count, digest(heard))
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let comment = String(decoding: try encoder.encode(record), as: UTF8.self)
    return (try SoundFiles.encode(waveform, as: format, comment: comment), record)
  }

  /// Reads a clip's record back.
  /// - Returns: `nil` unless the file is whole, is of this recipe, and sounds as it was written.
  static func read(_ bytes: [UInt8], recipe: String) -> (waveform: Waveform, record: ClipRecord)? {
    guard let sound = try? SoundFiles.decode(bytes), let comment = sound.comment,
      let record = try? JSONDecoder().decode(ClipRecord.self, from: Data(comment.utf8)),
      record.recipe == recipe, record.frames == sound.waveform.samples.count,
      record.samplesSHA256 == digest(sound.waveform.samples)
    else { return nil }
    return (sound.waveform, record)
  }

  private static func digest(_ samples: [Int16]) -> String {
    samples.withUnsafeBytes { SHA256.hash(data: $0) }.hexadecimal
  }
}
