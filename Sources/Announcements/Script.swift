// SPDX-License-Identifier: Apache-2.0

/// What will be said: runs of words, each in one language, in the order of speaking.
///
/// A script holds words only: no digit, no currency sign, no markup. It is a pure value; equal scripts spoken by the
/// same voices make the same clip.
public struct Script: Sendable, Hashable, Codable {
  /// What a piece of a script tells; the steps that shorten a clip drop pieces by role.
  public enum Role: String, Sendable, Hashable, Codable {
    case phrase, channel, amount, payer, note, text
    /// How many payments a summary sums up.
    case count
  }

  /// A few words of one role that are heard and shown as one mark.
  public struct Segment: Sendable, Hashable, Codable {
    public var text: String
    public var role: Role

    /// What the engine is given in place of ``text``, where the voice would say that wrongly.
    public var respelled: String?

    public init(_ text: String, _ role: Role, respelled: String? = nil) {
      self.text = text
      self.role = role
      self.respelled = respelled
    }

    /// What the engine is given.
    public var spelling: String { respelled ?? text }
  }

  /// Words in one language, spoken by one voice without a break.
  public struct Run: Sendable, Hashable, Codable {
    /// BCP 47.
    public var language: String

    /// The engine's name of the voice: a language of espeak-ng, `+`, a variant.
    public var voice: String
    public var segments: [Segment]

    public init(language: String, voice: String, segments: [Segment]) {
      self.language = language
      self.voice = voice
      self.segments = segments
    }

    /// The words as people write them.
    public var text: String { segments.map(\.text).joined() }

    /// The words as the engine is given them.
    public var spelling: String { segments.map(\.spelling).joined() }
  }

  /// The phrase book's locale, BCP 47.
  public var locale: String
  public var runs: [Run]

  /// Words a minute.
  public var rate: Int

  public init(locale: String, runs: [Run], rate: Int) {
    self.locale = locale
    self.runs = runs
    self.rate = rate
  }

  /// Everything that is said, as one line.
  public var text: String {
    var line = ""
    for text in runs.map(\.text) {
      if let last = line.unicodeScalars.last, let first = text.unicodeScalars.first, Self.isSpaced(last, first) {
        line += " "
      }
      line += text
    }
    return line.trimmed
  }

  /// The words of the amount alone; empty for free text. A summary has several: see ``totals``.
  public var amountText: String {
    runs.flatMap(\.segments).filter { $0.role == .amount }.map(\.text).joined().trimmed
  }

  /// The same script with nothing but its amount.
  public var amountAlone: Script {
    var alone = self
    alone.runs = runs.compactMap { run in
      let segments = run.segments.filter { $0.role == .amount }
      return segments.isEmpty ? nil : Run(language: run.language, voice: run.voice, segments: segments)
    }
    return alone
  }

  /// Whether two runs are written with a space between them: all but those of scripts that write none, and wide
  /// punctuation, which brings its own.
  private static func isSpaced(_ last: Unicode.Scalar, _ first: Unicode.Scalar) -> Bool {
    let unspaced: Set<String?> = ["Hani", "Hira", "Kana"]
    if last == "," || last == "." { return true }
    guard last.properties.isAlphabetic || last.properties.canonicalCombiningClass != .notReordered else { return false }
    return !(unspaced.contains(WritingSystem.of(last)) && unspaced.contains(WritingSystem.of(first)))
  }

  /// Whether any piece has this role.
  public func says(_ role: Role) -> Bool {
    runs.contains { run in run.segments.contains { $0.role == role } }
  }
}

extension StringProtocol {
  /// Without white space at both ends.
  var trimmed: String {
    String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
  }
}
