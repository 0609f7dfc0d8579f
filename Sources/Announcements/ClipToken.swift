// SPDX-License-Identifier: Apache-2.0

/// A piece of a script as a recorded voice has it: one clip's worth of words, out of a locale's finite vocabulary.
///
/// Tokens are no second grammar: each is a segment of the script, the very words that the engine would be given, without
/// the white space and punctuation around them. What punctuation asks for becomes a pause.
public struct ClipToken: Sendable, Hashable {
  /// What follows a token, from the closest joint to the end.
  public enum Pause: String, Sendable, Hashable, Codable, CaseIterable, Comparable {
    /// The next word of the same piece: `twenty` `one`.
    case word
    /// The next piece of the sentence: `Received` `twelve`.
    case piece
    /// A comma.
    case clause
    /// A full stop.
    case sentence
    /// Nothing: the announcement is over.
    case end

    public static func < (left: Pause, right: Pause) -> Bool { left.rank < right.rank }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
  }

  /// Without white space: `twelve`, `Hong_Kong_dollars`, `到账`.
  public var name: String
  public var role: Script.Role
  public var pause: Pause

  public init(name: String, role: Script.Role, pause: Pause) {
    self.name = name
    self.role = role
    self.pause = pause
  }

  /// The words that a token's name stands for.
  public static func words(ofName name: String) -> String { name.replacing("_", with: " ") }
}

/// How long a recorded voice is silent between two clips, in ms: a phrase book's `pauses`.
public struct ClipPauses: Sendable, Hashable, Decodable {
  public var word: Int
  public var piece: Int
  public var clause: Int
  public var sentence: Int

  /// What a phrase book may ask for, in ms: longer silences are heard as the end.
  public static let range = 0...2_000

  /// For a phrase book that says nothing about them.
  public static let usual = ClipPauses(word: 20, piece: 50, clause: 180, sentence: 320)

  public init(word: Int, piece: Int, clause: Int, sentence: Int) {
    self.word = word
    self.piece = piece
    self.clause = clause
    self.sentence = sentence
  }

  /// In ms; none at the end.
  public func milliseconds(_ pause: ClipToken.Pause) -> Int {
    switch pause {
    case .word: word
    case .piece: piece
    case .clause: clause
    case .sentence: sentence
    case .end: 0
    }
  }

  /// Each with its key in the phrase book.
  public var named: [(name: String, milliseconds: Int)] {
    [("word", word), ("piece", piece), ("clause", clause), ("sentence", sentence)]
  }
}
