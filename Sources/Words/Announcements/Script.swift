// SPDX-License-Identifier: Apache-2.0

/// The words of an announcement. A script consists of runs in speaking order, and the words of each run are in one
/// language.
///
/// A script contains only words: no digits, no currency signs and no markup. It has value semantics. Equal scripts
/// spoken by the same voices produce the same clip.
public struct Script: Sendable, Hashable, Codable {
  /// The meaning of a piece of a script. When a clip is shortened, pieces are removed by their role.
  public enum Role: String, Sendable, Hashable, Codable, CaseIterable {
    case phrase, channel, amount, payer, note, text
    /// The number of payments in a summary.
    case count
  }

  /// A few words with the same role. They form one mark of the clip.
  public struct Segment: Sendable, Hashable, Codable {
    public var text: String
    public var role: Role

    /// The text that the engine receives instead of ``text``, if the voice would mispronounce ``text``.
    public var respelled: String?

    public init(_ text: String, _ role: Role, respelled: String? = nil) {
      self.text = text
      self.role = role
      self.respelled = respelled
    }

    /// The text that the engine receives.
    public var spelling: String { respelled ?? text }
  }

  /// Words in one language that one voice speaks without interruption.
  public struct Run: Sendable, Hashable, Codable {
    /// The language as a BCP 47 tag.
    public var language: String

    /// The engine's name of the voice: an espeak-ng language, `+`, and a variant. If it is `nil`, no voice of the
    /// engine can say the words, and only recordings can.
    public var voice: String?
    public var segments: [Segment]

    public init(language: String, voice: String?, segments: [Segment]) {
      self.language = language
      self.voice = voice
      self.segments = segments
    }

    /// The words in their usual spelling.
    public var text: String { segments.map(\.text).joined() }

    /// The words in the spelling that the engine receives.
    public var spelling: String { segments.map(\.spelling).joined() }
  }

  /// The phrase book's locale (BCP 47).
  public var locale: String
  public var runs: [Run]

  /// The speaking rate in words per minute.
  public var rate: Int

  public init(locale: String, runs: [Run], rate: Int) {
    self.locale = locale
    self.runs = runs
    self.rate = rate
  }

  /// All words of the script as one line.
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

  /// Only the words of the amount; empty for free text. For a summary, which has several amounts, see ``totals``.
  public var amountText: String {
    runs.flatMap(\.segments).filter { $0.role == .amount }.map(\.text).joined().trimmed
  }

  /// The script reduced to its amount.
  public var amountAlone: Script {
    var alone = self
    alone.runs = runs.compactMap { run in
      let segments = run.segments.filter { $0.role == .amount }
      return segments.isEmpty ? nil : Run(language: run.language, voice: run.voice, segments: segments)
    }
    return alone
  }

  /// The scripts (ISO 15924) that are written without spaces between words.
  private static let unspacedScripts = WritingSystem.unspacedAlphabets.union(["Hani", "Hira", "Kana"])

  /// Returns whether a space is written between two runs. There is no space after a script that is written without
  /// spaces, and none after wide punctuation, which includes its own space.
  private static func isSpaced(_ last: Unicode.Scalar, _ first: Unicode.Scalar) -> Bool {
    if last == "," || last == "." { return true }
    guard last.isWordPart else { return false }
    return ![last, first].allSatisfy { WritingSystem.of($0).map(unspacedScripts.contains) == true }
  }

  /// Returns whether any segment has this role.
  public func says(_ role: Role) -> Bool {
    runs.contains { run in run.segments.contains { $0.role == role } }
  }
}

extension StringProtocol {
  /// The text without white space at either end.
  var trimmed: String {
    guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace }) else {
      return ""
    }
    return String(self[first...last])
  }
}
