// SPDX-License-Identifier: Apache-2.0

extension Script {
  /// A segment in its place, and the token a recorded voice may have for it.
  public struct Piece: Sendable, Hashable {
    /// Index into ``Script/runs``.
    public var run: Int
    public var segment: Segment

    /// `nil` for a name or a note, and for words of another language: nobody recorded them.
    public var token: ClipToken?

    /// What follows it.
    public var pause: ClipToken.Pause
  }

  /// The script apart, in the order of speaking. A segment of punctuation alone is no piece; it lengthens the pause
  /// before it.
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

  /// The tokens of the script: of all that a voice with fixed recordings can have.
  public var tokens: [ClipToken] { pieces.compactMap(\.token) }
}

extension String {
  /// Its parts, each with the punctuation behind it that asks for a pause: a token never goes over a pause.
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

  /// What stands before the first letter, the words, and what stands behind the last.
  fileprivate var brokenAtWords: (opening: Substring, words: Substring, closing: Substring) {
    guard let first = firstIndex(where: \.isLetter), let last = lastIndex(where: \.isLetter) else {
      return (self[...], "", "")
    }
    return (self[..<first], self[first...last], self[index(after: last)...])
  }
}

extension Substring {
  /// The pause that this punctuation asks for.
  fileprivate var pause: ClipToken.Pause {
    if contains(where: { ".!?。！？।".contains($0) }) { return .sentence }
    if contains(where: { ",;:，、；：،".contains($0) }) { return .clause }
    return .word
  }
}
