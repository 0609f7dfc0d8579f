// SPDX-License-Identifier: Apache-2.0

/// A clip token in a push: what a phone needs to say it from its own voice pack.
///
/// The payload has one string for each token: the name, a space, and one letter each for the role and the pause, such
/// as `十 aw`. Four bytes a token are about a third of what JSON objects would need.
public struct SpokenToken: Sendable, Hashable {
  /// What the words are. The raw values are those of `Script.Role` in `Announcements`.
  public enum Role: String, Sendable, Hashable, CaseIterable {
    case phrase, channel, amount, count, text

    var letter: Character {
      switch self {
      case .phrase: "p"
      case .channel: "c"
      case .amount: "a"
      case .count: "n"
      case .text: "t"
      }
    }
  }

  /// The boundary after the token. The raw values are those of `ClipToken.Pause` in `Announcements`.
  public enum Pause: String, Sendable, Hashable, CaseIterable {
    case word, piece, clause, sentence, end

    var letter: Character {
      switch self {
      case .word: "w"
      case .piece: "p"
      case .clause: "c"
      case .sentence: "s"
      case .end: "e"
      }
    }
  }

  /// The words, with underscores instead of white space: `Hong_Kong_dollars`.
  public let name: String
  public let role: Role
  public let pause: Pause

  /// - Throws: ``PushMessageError`` with `tokenInvalid` if the name is empty or contains white space.
  public init(name: String, role: Role, pause: Pause) throws(PushMessageError) {
    guard !name.isEmpty, !name.contains(where: \.isWhitespace) else {
      throw PushMessageError(.tokenInvalid, "must have a name without white space, such as Hong_Kong_dollars")
    }
    self.name = name
    self.role = role
    self.pause = pause
  }

  /// Reads a string of the payload; nil if it is not a token, or has a role or pause that this version does not know.
  init?(payload text: String) {
    guard let space = text.lastIndex(of: " ") else { return nil }
    let letters = Array(text[text.index(after: space)...])
    guard letters.count == 2, let role = Role.allCases.first(where: { $0.letter == letters[0] }),
      let pause = Pause.allCases.first(where: { $0.letter == letters[1] }),
      let token = try? SpokenToken(name: String(text[..<space]), role: role, pause: pause)
    else { return nil }
    self = token
  }

  /// The string in the payload.
  var payload: String { "\(name) \(role.letter)\(pause.letter)" }
}
