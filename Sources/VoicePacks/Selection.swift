// SPDX-License-Identifier: Apache-2.0

public import Announcements

/// What a pack has for a stretch of tokens.
public enum Selection: Sendable, Hashable {
  case clip(SelectedClip)
  /// No clip says these tokens; by index. Neighbours are one range.
  case missing(Range<Int>)
}

/// A clip of a pack, chosen for its place in an announcement.
public struct SelectedClip: Sendable, Hashable {
  /// Which tokens it says, by index; more than one for a phrase.
  public let tokens: Range<Int>

  /// In the pack's folder.
  public let file: String

  /// What is said in it, by the manifest: the amount that is heard is read back from these words.
  public let text: String

  /// What follows its last token.
  public let pause: ClipToken.Pause

  /// Of its first token. A clip says an amount wholly or not at all.
  public let role: Script.Role
}

extension VoicePack {
  /// Chooses the clips for an announcement, from left to right: the longest phrase that begins here, else the token's
  /// own clip.
  ///
  /// A phrase serves for consecutive tokens with nothing but `.word` and `.piece` between them, all of them of an
  /// amount or none. Before a comma the alternate is `rising`, before a full stop and at the end `final`, where there is one,
  /// and else `plain`.
  /// - Returns: selections that together cover every token once, in order.
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

  /// The words that the pack cannot say by themselves, in the vocabulary's order. Phrases do not count: the next
  /// announcement may have the same word in another place.
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
  /// Whether its words are read back as a number; they must not be mixed with others in one clip.
  fileprivate var isNumber: Bool { self == .amount || self == .count }
}

extension PackManifest.Phrase {
  /// Whether the phrase says the first of these tokens.
  fileprivate func serves(_ tokens: ArraySlice<ClipToken>) -> Bool {
    let said = tokens.prefix(self.tokens.count)
    return said.count == self.tokens.count
      && zip(said, self.tokens).allSatisfy { $0.name == $1 }
      && said.dropLast().allSatisfy { $0.pause == .word || $0.pause == .piece }
      && Set(said.map { $0.role.isNumber ? $0.role : nil }).count == 1
  }
}
