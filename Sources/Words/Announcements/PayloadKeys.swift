// SPDX-License-Identifier: Apache-2.0

/// The keys of a payload, and the rules for unknown keys. All functions here are pure.
///
/// A misspelt key must not be ignored: if a misspelt `kind` were ignored, a refund would be announced as money
/// received.
enum PayloadKeys {
  /// The keys of a payment.
  static let payment = [
    "id", "amount", "minor", "currency", "kind", "channel", "payer", "payer_reading", "note", "locale", "sequence",
    "occurred_at", "refund_of",
  ]

  /// The keys of a payment that determine the announced sum. Outside the payment they would contradict it.
  static let decisive = ["amount", "minor", "currency", "kind"]

  /// The keys of a payment that must not occur together with a text.
  static let neverBesideText = ["amount", "minor", "kind"]

  // MARK: Near keys

  /// Words that other systems often send, and that are similar to a key by chance.
  static let unrelated: Set<String> = [
    "account", "aid", "auction", "avoid", "count", "date", "driver", "mailed", "next", "node", "payee", "pid", "player",
    "refund_at", "refund_by", "refund_id", "refund_no", "refund_to", "refunds", "service", "stage", "stats", "test",
  ]

  /// A key of any length, in a form for comparison. Signs between its letters do not hide a word.
  struct Folded {
    /// The key in lower case.
    let lowered: [Unicode.Scalar]
    /// The key's words in lower case, joined by underscores: `occurredAt`, `Occurred At` and `occurred-at` become
    /// occurred_at. Other ASCII punctuation is removed. A key with an additional word is a different key: payment_id
    /// does not match payment.
    let words: [Unicode.Scalar]
    /// The words without underscores.
    let joined: [Unicode.Scalar]
    let name: String

    init(_ key: String) {
      // Most keys need no folding, and a payload may have thousands.
      if key.utf8.allSatisfy({ (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) }) {
        let scalars = Array(key.unicodeScalars)
        (lowered, words, joined, name) = (scalars, scalars, scalars, key)
        return
      }
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

  /// Returns whether a character separates the words of a key, or the parts of a value.
  static func isBetweenWords(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "_", "-", ".", "/", ":", " ", "\t", "\r", "\n": true
    default: false
    }
  }

  /// Returns whether a key has only printable ASCII characters. Other characters may be invisible, or may look like
  /// ASCII characters.
  static func isPlain(_ key: String) -> Bool { key.utf8.allSatisfy { (0x20...0x7E).contains($0) } }

  /// The known keys that a misspelt key may mean.
  struct Known: Sendable {
    private struct Key: Sendable {
      var name: String
      var scalars: [Unicode.Scalar]
      /// The key without underscores.
      var joined: [Unicode.Scalar]
      var isShort: Bool { scalars.count < 4 }
      /// The number of errors that a misspelt key may have. For a key that ``isShort``, the number is not used, because
      /// such a key may have no errors.
      var edits: Int { scalars.count < 6 ? 1 : 2 }
    }

    private let keys: [Key]

    init(_ names: [String]) {
      keys = names.map { name in
        let scalars = Array(name.unicodeScalars)
        return Key(name: name, scalars: scalars, joined: scalars.filter { $0 != "_" })
      }
    }

    /// Returns the key that was probably meant; `nil` if no key is similar.
    ///
    /// A misspelt key may differ in letter case, hyphens or underscores. A key of four or five letters may also have
    /// one error, and a longer key two. An error is a wrong, missing or additional letter, or two swapped neighbours. A
    /// key of two or three letters may differ only in letter case.
    func near(_ key: Folded) -> String? {
      if let same = keys.first(where: { $0.joined == ($0.isShort ? key.lowered : key.joined) }) { return same.name }
      guard !unrelated.contains(key.name) else { return nil }
      return keys.first { known in
        !known.isShort && abs(known.scalars.count - key.words.count) <= known.edits
          && SimilarNames.isWithin(known.edits, key.words, 0, known.scalars, 0)
      }?.name
    }
  }

  // MARK: Names for reports

  /// The largest number of unknown keys that a report lists by name.
  static let mostNamed = 20

  /// Returns a key in a form for reports and errors. It has at most 40 characters, and none that a terminal or a log
  /// file would interpret.
  static func printable(_ key: String) -> String {
    let scalars = key.unicodeScalars.prefix(40).map { scalar -> Unicode.Scalar in
      let isPlain = scalar.isASCII ? (0x21...0x7E).contains(scalar.value) : scalar.properties.isAlphabetic
      return isPlain ? scalar : "?"
    }
    return String(String.UnicodeScalarView(scalars)) + (key.unicodeScalars.count > 40 ? "…" : "")
  }
}
