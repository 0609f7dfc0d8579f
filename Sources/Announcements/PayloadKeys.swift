// SPDX-License-Identifier: Apache-2.0

/// The keys of a payload, and what is made of keys that are none of them. A pure value.
///
/// A misspelt key must not be passed over: without its `kind` a refund is announced as money that came.
enum PayloadKeys {
  /// Of a payment.
  static let payment = [
    "id", "amount", "minor", "currency", "kind", "channel", "payer", "payer_reading", "note", "locale", "sequence",
    "occurred_at",
  ]

  /// Of a payment: what it is that is announced. Beside a payment they would contradict it.
  static let decisive = ["amount", "minor", "currency", "kind"]

  /// Of a payment: what a text has no use for.
  static let neverBesideText = ["amount", "minor", "kind"]

  // MARK: Near keys

  /// Words that are near a key by chance, and that other systems send often.
  static let unrelated: Set<String> = [
    "account", "aid", "auction", "avoid", "count", "date", "driver", "mailed", "next", "node", "payee", "pid", "player",
    "service", "stage", "stats", "test",
  ]

  /// A key as it is compared, of any length: signs between its letters hide no word.
  struct Folded {
    /// In lower case.
    let lowered: [Unicode.Scalar]
    /// The key's words in lower case, with an underscore between two: `occurredAt`, `Occurred At` and `occurred-at` are
    /// occurred_at. Other punctuation of ASCII is left out. A key with a word more is another key: payment_id is not
    /// payment.
    let words: [Unicode.Scalar]
    /// The same without underscores.
    let joined: [Unicode.Scalar]
    let name: String

    init(_ key: String) {
      var words: [Unicode.Scalar] = []
      words.reserveCapacity(key.utf8.count + 4)
      var isBehindSmall = false
      for scalar in key.unicodeScalars {
        if PayloadKeys.isBetweenWords(scalar) {
          if let last = words.last, last != "_" { words.append("_") }
          isBehindSmall = false
        } else if !scalar.isASCII || scalar.properties.isAlphabetic || scalar.properties.numericType != nil {
          let lowered = scalar.lowercased
          if lowered != scalar, isBehindSmall { words.append("_") }
          isBehindSmall = lowered == scalar && scalar.isWordPart
          words.append(lowered)
        }
      }
      if words.last == "_" { words.removeLast() }
      self.words = words
      lowered = key.unicodeScalars.map(\.lowercased)
      joined = words.contains("_") ? words.filter { $0 != "_" } : words
      name = String(String.UnicodeScalarView(words))
    }
  }

  /// Whether a sign divides the words of a key, or the parts of a value.
  static func isBetweenWords(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "_", "-", ".", "/", ":", " ", "\t", "\r", "\n": true
    default: false
    }
  }

  /// Whether a key has no letter that looks like another one, and no sign that nobody sees.
  static func isPlain(_ key: String) -> Bool { key.utf8.allSatisfy { (0x20...0x7E).contains($0) } }

  /// Known keys that a misspelt one may mean.
  struct Known: Sendable {
    private struct Key: Sendable {
      var name: String
      var scalars: [Unicode.Scalar]
      /// Without underscores.
      var joined: [Unicode.Scalar]
      var isShort: Bool { scalars.count < 4 }
      /// How many letters of a misspelt one may differ, where the key is not short.
      var edits: Int { scalars.count < 6 ? 1 : 2 }
    }

    private let keys: [Key]

    init(_ names: [String]) {
      keys = names.map { name in
        let scalars = Array(name.unicodeScalars)
        return Key(name: name, scalars: scalars, joined: scalars.filter { $0 != "_" })
      }
    }

    /// The key that was meant, most likely: one that differs in letter case, hyphens or underscores, or in one letter
    /// where it has four or five letters, and in one or two where it has more. A letter is wrong, missing or too many, or
    /// two neighbours have changed places. A key of two or three letters is near in letter case alone.
    func near(_ key: Folded) -> String? {
      if let same = keys.first(where: { $0.joined == ($0.isShort ? key.lowered : key.joined) }) { return same.name }
      guard !unrelated.contains(key.name) else { return nil }
      return keys.first { known in
        !known.isShort && abs(known.scalars.count - key.words.count) <= known.edits
          && PayloadKeys.isWithin(known.edits, key.words, 0, known.scalars, 0)
      }?.name
    }
  }

  /// Whether the rest of one text becomes the rest of the other by so many changes: a scalar more, fewer or another, or
  /// two that change places. The work is bounded by the length times four to the power of the changes.
  static func isWithin(
    _ edits: Int, _ left: [Unicode.Scalar], _ leftStart: Int, _ right: [Unicode.Scalar], _ rightStart: Int
  ) -> Bool {
    var (i, j) = (leftStart, rightStart)
    while i < left.count, j < right.count, left[i] == right[j] { (i, j) = (i + 1, j + 1) }
    let (leftRest, rightRest) = (left.count - i, right.count - j)
    guard leftRest > 0, rightRest > 0 else { return leftRest + rightRest <= edits }
    guard edits > 0, abs(leftRest - rightRest) <= edits else { return false }
    if leftRest > 1, rightRest > 1, left[i] == right[j + 1], left[i + 1] == right[j],
      isWithin(edits - 1, left, i + 2, right, j + 2)
    {
      return true
    }
    return isWithin(edits - 1, left, i + 1, right, j + 1) || isWithin(edits - 1, left, i + 1, right, j)
      || isWithin(edits - 1, left, i, right, j + 1)
  }

  // MARK: Names for reports

  /// The most unknown keys that are named one by one.
  static let mostNamed = 20

  /// A key as a report or an error names it: at most 40 characters, and no sign that a terminal or a log obeys.
  static func printable(_ key: String) -> String {
    let scalars = key.unicodeScalars.prefix(40).map { scalar -> Unicode.Scalar in
      let isPlain = scalar.isASCII ? (0x21...0x7E).contains(scalar.value) : scalar.properties.isAlphabetic
      return isPlain ? scalar : "?"
    }
    return String(String.UnicodeScalarView(scalars)) + (key.unicodeScalars.count > 40 ? "…" : "")
  }
}
