// SPDX-License-Identifier: Apache-2.0

public import Announcements
public import VoicePacks

/// A clip of a pack, as a list shows it to people who listen to the pack.
public struct ListedClip: Sendable, Hashable {
  /// The name of the clip's file.
  public var file: String
  /// The names of the tokens: one, or several for a phrase.
  public var tokens: [String]
  public var position: ClipPosition
  /// The recorded words.
  public var text: String

  /// Returns the clips of a pack. Each file is listed once, with the first token that uses it. Words come in the order
  /// of the recording sheet, then other words, and then phrases.
  ///
  /// - Parameter vocabulary: the words of the pack's locale, in the order of the recording sheet; `nil` to list all
  ///   words in the order of their tokens.
  public static func clips(of manifest: PackManifest, vocabulary: Vocabulary?) -> [ListedClip] {
    let order = (vocabulary?.words ?? []).map(\.token)
    let known = Set(order)
    let words = order + manifest.tokens.keys.filter { !known.contains($0) }.sorted()
    let singles = words.compactMap { word in
      manifest.tokens[word].map { PackManifest.Phrase(tokens: [word], clips: $0) }
    }
    var isListed: Set<String> = []
    var list: [ListedClip] = []
    for entry in singles + manifest.phrases {
      let clips = entry.clips
      // If a word has no plain recording, its plain clip is the clip of another position.
      let plain: ClipPosition = clips.plain == clips.final ? .final : clips.plain == clips.rising ? .rising : .plain
      for (position, file) in [(plain, clips.plain), (.rising, clips.rising), (.final, clips.final)] {
        guard let file, let clip = manifest.clips[file], isListed.insert(file).inserted else { continue }
        list.append(ListedClip(file: file, tokens: entry.tokens, position: position, text: clip.text))
      }
    }
    return list
  }

  /// Returns whether the clip says a token or a phrase. The tokens of a phrase are separated by spaces. Underscores and
  /// letter case do not matter.
  public func says(_ name: String) -> Bool { Self.folded(tokens.joined(separator: " ")) == Self.folded(name) }

  private static func folded(_ name: String) -> String {
    name.lowercased().split { $0.isWhitespace || $0 == "_" }.joined(separator: " ")
  }
}
