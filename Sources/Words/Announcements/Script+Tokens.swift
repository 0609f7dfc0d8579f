// SPDX-License-Identifier: Apache-2.0

extension Script {
  /// A segment of the script, with its token if a recorded voice may have a clip for it.
  public struct Piece: Sendable, Hashable {
    /// The index of the segment's run in ``Script/runs``.
    public var run: Int
    public var segment: Segment

    /// The token; `nil` for names, notes and words of another language, which are not recorded.
    public var token: ClipToken?

    /// The boundary after the segment.
    public var pause: ClipToken.Pause
  }

  /// The segments of the script in speaking order. A segment that contains only punctuation is not a piece of its own:
  /// it lengthens the pause before it.
  public var pieces: [Piece] {
    var pieces: [Piece] = []
    for (index, run) in runs.enumerated() {
      for segment in run.segments {
        let (opening, words, closing) = segment.text.brokenAtWords
        if let last = pieces.indices.last {
          let joint: ClipToken.Pause =
            pieces[last].run == index && pieces[last].segment.role == segment.role
              && (segment.role == .amount || segment.role == .count)
            ? .word : .piece
          pieces[last].pause = max(pieces[last].pause, joint, opening.pause)
          if words.isEmpty { continue }
        }
        guard !words.isEmpty else { continue }
        let isFixed = run.language == locale && segment.role != .payer && segment.role != .note
        let name = String(words.map { $0.isWhitespace ? "_" : $0 })
        let token = isFixed ? ClipToken(name: name, role: segment.role, pause: .word) : nil
        pieces.append(Piece(run: index, segment: segment, token: token, pause: closing.pause))
      }
    }
    if let last = pieces.indices.last { pieces[last].pause = .end }
    return pieces.map { piece in
      var piece = piece
      piece.token?.pause = piece.pause
      return piece
    }
  }

  /// The tokens of the script. They cover all parts of the script that a voice with fixed recordings can speak.
  public var tokens: [ClipToken] { pieces.compactMap(\.token) }
}

extension String {
  /// The clauses of the text. A clause ends at punctuation that requires a pause, because a token never spans a pause.
  var clauses: [String] {
    var clauses: [String] = []
    var open = ""
    for character in self {
      let (_, words, closing) = open.brokenAtWords
      if character.isLetter, !words.isEmpty, closing.pause > .word {
        clauses.append(open)
        open = ""
      }
      open.append(character)
    }
    return clauses + [open]
  }

  /// The text before the first letter, the words, and the text after the last letter.
  fileprivate var brokenAtWords: (opening: Substring, words: Substring, closing: Substring) {
    guard let first = firstIndex(where: \.isLetter), let last = lastIndex(where: \.isLetter) else {
      return (self[...], "", "")
    }
    return (self[..<first], self[first...last], self[index(after: last)...])
  }
}

extension Substring {
  /// The pause that this punctuation requires.
  fileprivate var pause: ClipToken.Pause {
    if contains(where: { ".!?。！？।".contains($0) }) { return .sentence }
    if contains(where: { ",;:，、；：،".contains($0) }) { return .clause }
    return .word
  }
}
