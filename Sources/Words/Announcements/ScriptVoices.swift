// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The voices for names that are written in a different script from their sentence: `Templates/scripts.json`.
public struct ScriptVoices: Sendable, Hashable {
  struct Entry: Sendable, Hashable, Decodable {
    var language: String
    var voice: String
  }

  private let entries: [String: Entry]

  /// Reads the table of voices.
  ///
  /// - Parameter data: a JSON object that maps ISO 15924 codes to `{"language": BCP 47, "voice": the engine's name}`.
  /// - Throws: `.phraseBookInvalid`.
  public init(data: Data) throws(AnnouncementError) {
    do {
      entries = try JSONDecoder().decode([String: Entry].self, from: data)
    } catch {
      throw AnnouncementError(
        .phraseBookInvalid, "scripts.json", "is not a valid table of voices",
        remedy: "see docs/phrase-books.md for the fields")
    }
  }

  func voice(for script: String) -> (language: String, voice: String)? {
    entries[script].map { ($0.language, $0.voice) }
  }
}
