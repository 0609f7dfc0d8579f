// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The respellings of all voices: `Templates/pronunciation/`.
public struct Pronunciations: Sendable {
  /// The respellings, by the name of the engine's voice without a variant.
  private var byVoice: [Substring: Pronunciation] = [:]

  /// Creates an empty collection, with which every voice receives the words unchanged.
  init() {}

  /// Reads the respellings of all voices.
  ///
  /// - Parameter directory: the folder that contains the files. If it does not exist, there are no respellings.
  /// - Throws: `.phraseBookInvalid`, with the file's name.
  init(directory: URL) throws(AnnouncementError) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
    for name in names.sorted() where name.hasSuffix(".json") {
      guard let data = try? Data(contentsOf: directory.appending(path: name)) else {
        throw AnnouncementError(
          .phraseBookInvalid, "pronunciation/\(name)", "cannot be read", remedy: "check the file's permissions")
      }
      byVoice[name.dropLast(".json".count)] = try Pronunciation(data: data, name: name)
    }
  }

  /// Returns whether a voice can speak a letter. A voice without a table is assumed to speak every letter.
  func canSay(_ letter: Unicode.Scalar, by voice: String) -> Bool {
    self[voice]?.canSay(letter) ?? true
  }

  /// Returns the run with the respellings of its voice.
  func respelled(_ run: Script.Run) -> Script.Run {
    guard let voice = run.voice, let pronunciation = self[voice] else { return run }
    var run = run
    run.segments = pronunciation.respell(run.segments)
    return run
  }

  private subscript(voice: String) -> Pronunciation? { byVoice[voice.prefix { $0 != "+" }] }
}
