// SPDX-License-Identifier: Apache-2.0

/// A piece of a script for a recorded voice: the words of one clip. The tokens of a locale form a finite vocabulary.
///
/// Tokens need no grammar of their own. Each token is a segment of the script: it has the words that the engine would
/// receive, but not the white space and punctuation around them. Punctuation becomes a pause.
public struct ClipToken: Sendable, Hashable {
  /// The boundary after a token. The cases are ordered from the closest joint to the end of the announcement.
  public enum Pause: String, Sendable, Hashable, Codable, CaseIterable, Comparable {
    /// The next word of the same piece follows: `twenty`, then `one`.
    case word
    /// The next piece of the sentence follows: `Received`, then `twelve`.
    case piece
    /// A comma follows.
    case clause
    /// A full stop follows.
    case sentence
    /// Nothing follows; the announcement ends.
    case end

    public static func < (left: Pause, right: Pause) -> Bool { left.rank < right.rank }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
  }

  /// The token's words with underscores instead of white space: `twelve`, `Hong_Kong_dollars`, `到账`.
  public var name: String
  public var role: Script.Role
  public var pause: Pause

  public init(name: String, role: Script.Role, pause: Pause) {
    self.name = name
    self.role = role
    self.pause = pause
  }

  /// Returns the words that a token's name stands for.
  public static func words(ofName name: String) -> String { name.replacing("_", with: " ") }
}

/// The pauses of a recorded voice between two clips, in ms: the key `pauses` of a phrase book.
public struct ClipPauses: Sendable, Hashable, Decodable {
  public var word: Int
  public var piece: Int
  public var clause: Int
  public var sentence: Int

  /// The pause lengths, in ms, that a phrase book may request. Listeners would mistake a longer pause for the end.
  public static let range = 0...2_000

  /// The pauses of a phrase book that defines no pauses.
  public static let usual = ClipPauses(word: 20, piece: 50, clause: 180, sentence: 320)

  /// Returns the length of a pause in ms; 0 at the end of the announcement.
  public func milliseconds(_ pause: ClipToken.Pause) -> Int {
    switch pause {
    case .word: word
    case .piece: piece
    case .clause: clause
    case .sentence: sentence
    case .end: 0
    }
  }

  /// The pauses with their keys in the phrase book.
  public var named: [(name: String, milliseconds: Int)] {
    [("word", word), ("piece", piece), ("clause", clause), ("sentence", sentence)]
  }
}
