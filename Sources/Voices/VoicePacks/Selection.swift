// SPDX-License-Identifier: Apache-2.0

public import Announcements

/// The part of a pack that serves a range of tokens.
public enum Selection: Sendable, Hashable {
  case clip(SelectedClip)
  /// A range of token indices for which there is no clip. Adjacent tokens without a clip form one range.
  case missing(Range<Int>)
}

/// A clip of a pack that was selected for its position in an announcement.
public struct SelectedClip: Sendable, Hashable {
  /// The indices of the tokens that the clip says. For a phrase there are several.
  public let tokens: Range<Int>

  /// The name of the clip's file in the pack's folder.
  public let file: String

  /// The clip's words from the manifest. The amount that a listener hears is read back from these words.
  public let text: String

  /// The boundary after the clip's last token.
  public let pause: ClipToken.Pause

  /// The role of the clip's first token. Either all words of a clip belong to an amount, or none.
  public let role: Script.Role
}

extension VoicePack {
  /// Selects the clips for an announcement, from left to right. At each token it selects the longest matching phrase.
  /// If no phrase matches, it selects the token's own clip.
  ///
  /// A phrase matches consecutive tokens if only the boundaries `.word` and `.piece` are between them, and if either
  /// all or none of them belong to an amount. Before a comma the clip `rising` is used. Before a full stop and at the
  /// end the clip `final` is used. If that clip does not exist, `plain` is used.
  ///
  /// - Returns: selections that cover every token exactly once, in order.
  public func selection(for tokens: [ClipToken]) -> [Selection] {
    var selections: [Selection] = []
    selections.reserveCapacity(tokens.count)
    var position = 0
    while position < tokens.count {
      if let clip = clip(at: position, of: tokens) {
        selections.append(.clip(clip))
        position = clip.tokens.upperBound
        continue
      }
      if case .missing(let range) = selections.last {
        selections[selections.count - 1] = .missing(range.lowerBound..<position + 1)
      } else {
        selections.append(.missing(position..<position + 1))
      }
      position += 1
    }
    return selections
  }

  /// Returns the words that have no clip of their own in the pack, in the order of the vocabulary. The clip of a phrase
  /// that contains the word does not count, because another announcement may need the word in a different phrase.
  public func missing(from vocabulary: Vocabulary) -> [Vocabulary.Word] {
    vocabulary.words.filter { tokens[$0.token] == nil }
  }

  private func clip(at position: Int, of tokens: [ClipToken]) -> SelectedClip? {
    let first = tokens[position]
    for phrase in phrases[first.name] ?? [] where phrase.serves(tokens[position...]) {
      return select(phrase.clips, for: position..<position + phrase.tokens.count, of: tokens)
    }
    return self.tokens[first.name].flatMap { select($0, for: position..<position + 1, of: tokens) }
  }

  private func select(
    _ alternates: PackManifest.Alternates, for range: Range<Int>, of tokens: [ClipToken]
  ) -> SelectedClip? {
    let pause = tokens[range.upperBound - 1].pause
    let file: String =
      switch pause {
      case .clause: alternates.rising ?? alternates.plain
      case .sentence, .end: alternates.final ?? alternates.plain
      case .word, .piece: alternates.plain
      }
    return manifest.clips[file].map {
      SelectedClip(tokens: range, file: file, text: $0.text, pause: pause, role: tokens[range.lowerBound].role)
    }
  }
}

extension Script.Role {
  /// Whether words with this role are read back as a number. A clip must not combine them with other words.
  fileprivate var isNumber: Bool { self == .amount || self == .count }
}

extension PackManifest.Phrase {
  /// Returns whether the phrase can be used for the first of these tokens.
  fileprivate func serves(_ tokens: ArraySlice<ClipToken>) -> Bool {
    let said = tokens.prefix(self.tokens.count)
    return said.count == self.tokens.count
      && zip(said, self.tokens).allSatisfy { $0.name == $1 }
      && said.dropLast().allSatisfy { $0.pause == .word || $0.pause == .piece }
      && Set(said.map { $0.role.isNumber ? $0.role : nil }).count == 1
  }
}
