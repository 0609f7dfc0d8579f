// SPDX-License-Identifier: Apache-2.0

import Announcements

/// A clip token in a push: the data that a phone needs to say the token from its own voice pack.
///
/// The payload has one string for each token: the name, a space, and one letter each for the role and the pause, such
/// as `十 aw`. Four bytes a token are about a third of what JSON objects would need.
extension ClipToken {
  /// Reads a string of the payload; nil if it is not a token, or has a role or pause that this version does not know.
  init?(payload text: String) {
    guard let space = text.lastIndex(of: " ") else { return nil }
    let letters = Array(text[text.index(after: space)...])
    guard letters.count == 2, let role = Script.Role.allCases.first(where: { $0.letter == letters[0] }),
      let pause = Pause.allCases.first(where: { $0.letter == letters[1] })
    else { return nil }
    self.init(name: String(text[..<space]), role: role, pause: pause)
    if payload == nil { return nil }
  }

  /// The string in the payload; nil if the name is empty or contains white space, or if no voice pack has clips for its
  /// role.
  var payload: String? {
    guard !name.isEmpty, !name.contains(where: \.isWhitespace), let role = role.letter else { return nil }
    return "\(name) \(role)\(pause.letter)"
  }
}

extension Script.Role {
  fileprivate var letter: Character? {
    switch self {
    case .phrase: "p"
    case .channel: "c"
    case .amount: "a"
    case .count: "n"
    case .text: "t"
    case .payer, .note: nil
    }
  }
}

extension ClipToken.Pause {
  fileprivate var letter: Character {
    switch self {
    case .word: "w"
    case .piece: "p"
    case .clause: "c"
    case .sentence: "s"
    case .end: "e"
    }
  }
}
