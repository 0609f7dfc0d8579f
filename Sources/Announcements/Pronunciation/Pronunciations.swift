// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The respellings of all voices: `Templates/pronunciation/`.
public struct Pronunciations: Sendable {
  /// By the engine's voice, without a variant.
  private var byVoice: [Substring: Pronunciation] = [:]

  /// No respellings: every voice is given the words as they stand.
  init() {}

  /// - Parameter directory: may be absent; then there are no respellings.
  /// - Throws: `.phraseBookInvalid`, naming the file.
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

  /// Whether a voice can say a letter. A voice without a table is taken to say all.
  func canSay(_ letter: Unicode.Scalar, by voice: String) -> Bool {
    self[voice]?.canSay(letter) ?? true
  }

  /// The run with the respellings of its voice.
  func respelled(_ run: Script.Run) -> Script.Run {
    guard let pronunciation = self[run.voice] else { return run }
    var run = run
    run.segments = pronunciation.respell(run.segments)
    return run
  }

  private subscript(voice: String) -> Pronunciation? { byVoice[voice.prefix { $0 != "+" }] }
}
