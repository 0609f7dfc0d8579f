// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Which voice reads a name that is written in another script than its sentence: `Templates/scripts.json`.
public struct ScriptVoices: Sendable, Hashable {
  struct Entry: Sendable, Hashable, Decodable {
    var language: String
    var voice: String
  }

  private let entries: [String: Entry]

  /// - Parameter data: JSON, from ISO 15924 codes to `{"language": BCP 47, "voice": the engine's name}`.
  /// - Throws: `.phraseBookInvalid`.
  public init(data: Data) throws(AnnouncementError) {
    do {
      entries = try JSONDecoder().decode([String: Entry].self, from: data)
    } catch {
      throw AnnouncementError(
        .phraseBookInvalid, "scripts.json", "does not read as a table of voices",
        remedy: "see docs/phrase-books.md for the fields")
    }
  }

  func voice(for script: String) -> (language: String, voice: String)? {
    entries[script].map { ($0.language, $0.voice) }
  }
}
