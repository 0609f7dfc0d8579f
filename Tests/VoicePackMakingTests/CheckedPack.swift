// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import Mastering
import TestSupport
import VoicePackIntegrity
import VoicePackMaking
import VoicePacks
import Waveforms

/// The phrase books of this checkout.
enum Templates {
  static func writer(_ locale: String) throws -> ScriptWriter {
    let directory = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Templates", directoryHint: .isDirectory).standardizedFileURL
    return try PhraseBooks(directory: directory).writer(for: locale)
  }
}

/// A voice pack in a new folder, without faults until a test damages it. Each word is a tone of its own in two
/// syllables, levelled like a pack's clips.
final class CheckedPack {
  let folder: URL
  let directory: URL
  let vocabulary: Vocabulary
  var manifest: PackManifest

  init(_ locale: String = "ko-KR") throws {
    folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString, directoryHint: .isDirectory)
    directory = folder.appending(path: "tones", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    vocabulary = try Self.vocabularies.get()[locale].orThrow(locale)
    manifest = PackManifest(id: "tones", locale: locale, speaker: "a generator", licence: "CC0-1.0")
    for (number, word) in vocabulary.words.enumerated() {
      let file = String(format: "%04d.wav", number + 1)
      try set(Tones.clip(number), file: file, text: word.text)
      manifest.tokens[word.token] = PackManifest.Alternates(plain: file)
    }
    try seal()
  }

  /// The vocabularies, collected once. The other currencies differ only in their units.
  private static let vocabularies = Result {
    var vocabularies: [String: Vocabulary] = [:]
    for locale in ["ko-KR", "zh-CN", "en-US"] {
      var vocabulary = try Templates.writer(locale).vocabulary()
      // The tests concern amounts, so these come first here, followed by the sentence.
      let sentence = vocabulary.blocks.removeFirst()
      vocabulary.blocks.insert(sentence, at: vocabulary.blocks.firstIndex { !$0.coverage.hasPrefix("every") } ?? 0)
      vocabulary.blocks.removeAll { $0.coverage.hasPrefix("every amount in") && !$0.isRequired }
      vocabularies[locale] = vocabulary
    }
    return vocabularies
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Returns the name of a token's clip.
  func file(_ token: String) throws -> String { try manifest.tokens[token].orThrow(token).plain }

  /// Writes a clip, and its digest into the manifest.
  func set(_ waveform: Waveform, file: String, text: String? = nil) throws {
    try set(bytes: WAVFile.encode(waveform), file: file, text: text)
  }

  func set(bytes: [UInt8], file: String, text: String? = nil) throws {
    try Data(bytes).write(to: directory.appending(path: file))
    let text = text ?? manifest.clips[file]?.text ?? ""
    manifest.clips[file] = PackManifest.Clip(text: text, sha256: PackIntegrity.sha256(bytes))
  }

  /// Writes the manifest with the correct digest.
  func seal() throws {
    manifest.digest = try PackIntegrity.digest(of: manifest)
    try write(manifest: try manifest.json)
  }

  func write(manifest bytes: Data) throws {
    try bytes.write(to: directory.appending(path: PackManifest.fileName))
  }

  func check(amounts: EverydayAmounts? = nil) -> PackCheckReport {
    PackCheck.check(directory: directory, vocabulary: vocabulary, amounts: amounts)
  }

  /// Whether the program can load the pack.
  var loads: Bool { (try? VoicePack(directory: directory)) != nil }
}

/// Sounds with known properties, at 22,050 Hz.
enum Tones {
  /// Returns the levelled clip of the word with a number.
  static func clip(_ number: Int) throws -> Waveform { try clips.get()[number] }

  /// The clips, created once, because levelling would take most of each test's time.
  private static let clips = Result {
    try (0..<100).map { number in
      try Mastering(targetLUFS: ClipPreparation.loudnessLUFS).leveled(
        Waveform(samples: samples(hertz: 200 + 13 * Double(number)), sampleRate: 22_050))
    }
  }

  /// Returns two syllables that swell and fade, with 40 ms of silence between them.
  static func samples(hertz: Double, syllableMilliseconds: Int = 60) -> [Int16] {
    let count = syllableMilliseconds * 22_050 / 1_000
    let syllable = (0..<count).map { index in
      let swell = sin(.pi * Double(index) / Double(count))
      return Int16((0.3 * 32_767 * swell * sin(2 * .pi * hertz * Double(index) / 22_050)).rounded())
    }
    return syllable + Array(repeating: 0, count: 882) + syllable
  }
}
