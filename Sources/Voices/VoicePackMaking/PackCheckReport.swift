// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The result of checking a voice pack. `crier voices check` prints it as text or as JSON.
public struct PackCheckReport: Sendable, Hashable, Encodable {
  /// A block of the vocabulary, and whether the pack can speak the words of the block.
  public struct Coverage: Sendable, Hashable, Encodable {
    /// The announcements that the block makes possible: `every whole amount under 100 in CNY`.
    public var coverage: String
    public var isRequired: Bool
    /// Whether there is a clip without faults for each word of this block and of the required blocks before it.
    public var isSayable: Bool
    /// The number of words in this block that have no clip without faults.
    public var missing: Int

    enum CodingKeys: String, CodingKey {
      case coverage, missing
      case isRequired = "required"
      case isSayable = "sayable"
    }
  }

  /// The totals for all clips that could be read.
  public struct Clips: Sendable, Hashable, Encodable {
    public var count = 0
    public var seconds = 0.0
    /// The total size of the files in bytes.
    public var bytes = 0
    /// The level of the quietest clip in LUFS; `nil` when no clip could be measured.
    public var softestLUFS: Double?
    public var medianLUFS: Double?
    public var loudestLUFS: Double?
  }

  /// The id of the pack from its manifest. If the manifest has none, the folder's name.
  public var pack: String
  /// The phrase book's locale (BCP 47).
  public var locale: String
  /// The findings in order of severity.
  public var findings: [PackFinding]
  /// The blocks of the vocabulary, in recording order.
  public var coverage: [Coverage]
  public var clips: Clips
  /// How well a recogniser understands the pack's amounts; `nil` when that was not measured.
  public private(set) var understanding: Understanding?
  /// The reason why the understanding was not measured, and the way to measure it. It is `nil` when the understanding
  /// was measured, and for a language that the recogniser does not know.
  public private(set) var understandingNote: String?
  /// The reason why the recordings were not compared with the words that they should say, and the way to compare them.
  /// It is `nil` when they were compared, and for a pack that a speech engine made.
  public internal(set) var comparisonNote: String?

  public var errorCount: Int { findings.count { $0.severity == .error } }
  public var warningCount: Int { findings.count { $0.severity == .warning } }

  /// Whether the pack can be used. Warnings do not affect the result.
  public var isUsable: Bool { errorCount == 0 }

  enum CodingKeys: String, CodingKey {
    case pack, locale, findings, coverage, clips
    case isUsable = "usable"
    case errorCount = "errors"
    case warningCount = "warnings"
    case understanding
    case understandingNote = "understanding_note"
    case comparisonNote = "comparison_note"
  }

  /// Also encodes the computed values, which the compiler's own encoding would leave out.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(pack, forKey: .pack)
    try fields.encode(locale, forKey: .locale)
    try fields.encode(isUsable, forKey: .isUsable)
    try fields.encode(errorCount, forKey: .errorCount)
    try fields.encode(warningCount, forKey: .warningCount)
    try fields.encode(findings, forKey: .findings)
    try fields.encode(coverage, forKey: .coverage)
    try fields.encode(clips, forKey: .clips)
    try fields.encodeIfPresent(understanding, forKey: .understanding)
    try fields.encodeIfPresent(understandingNote, forKey: .understandingNote)
    try fields.encodeIfPresent(comparisonNote, forKey: .comparisonNote)
  }

  /// The report as one JSON object, with keys in alphabetical order.
  public var json: Data {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
      encoder.keyEncodingStrategy = .convertToSnakeCase
      return try encoder.encode(self)
    }
  }

  /// The report as text: one line for each finding, one line for each required block, and a summary. Each line ends
  /// with a line break.
  public var text: String {
    let blocks = coverage.filter(\.isRequired).map { block in
      let state = block.isSayable ? "sayable" : "not sayable"
      return "\(state.padding(to: 12)) \(block.coverage)".onOneLine
    }
    let understood =
      understanding.map { ["understood: \($0.understood) of \($0.amounts) amounts"] }
      ?? understandingNote.map { ["not measured: \($0)".onOneLine] } ?? []
    let compared = comparisonNote.map { ["not compared: \($0)".onOneLine] } ?? []
    return (findings.map(\.line) + blocks + compared + understood + [summary]).map { $0 + "\n" }.joined()
  }

  /// The largest number of misunderstood amounts with a finding of their own.
  private static let mostMisunderstood = 10

  /// Adds how well the pack's amounts are understood. If the percentage is below ``Understanding/bar``, the first ten
  /// misunderstood amounts become warnings, and one more warning counts the rest. If the percentage is below
  /// ``Understanding/lowest``, an error says so.
  public mutating func add(_ understanding: Understanding) {
    guard understanding.amounts > 0 else {
      return add(understandingNote: "how well amounts are understood; record the words of more amounts")
    }
    self.understanding = understanding
    guard !understanding.isEnough else { return }
    var added = understanding.misunderstood.prefix(Self.mostMisunderstood).map { amount in
      PackFinding(
        .warning, .misunderstood, amount.amount, "“\(amount.said)” was understood as “\(amount.heard)”",
        "listen to the clips of its words, and record unclear ones again")
    }
    let rest = understanding.misunderstood.count - added.count
    if rest > 0 {
      added.append(
        PackFinding(
          .warning, .misunderstood, "and \(rest) more", rest == 1 ? "was misunderstood" : "were misunderstood",
          "see all of them with --json"))
    }
    if !understanding.isFit {
      added.append(
        PackFinding(
          .error, .misunderstood, pack,
          "only \(understanding.understood) of \(understanding.amounts) amounts were understood",
          "listen to the pack, and record unclear or wrong words again"))
    }
    findings = PackFinding.inOrder(findings + added)
  }

  /// Adds the reason why the understanding of the pack's amounts was not measured.
  public mutating func add(understandingNote note: String) { understandingNote = note }

  /// The summary line: `demo (en-US): 61 clips, 28.4 s, 1254 kB, -16.3 to -15.8 LUFS (median -16.0); no error, 2
  /// warnings`.
  private var summary: String {
    var line = "\(pack) (\(locale)): \(Self.count(clips.count, "clip")), \(Self.tenths(clips.seconds)) s, "
    line += "\((clips.bytes + 999) / 1000) kB"
    if let softest = clips.softestLUFS, let median = clips.medianLUFS, let loudest = clips.loudestLUFS {
      line += ", \(Self.tenths(softest)) to \(Self.tenths(loudest)) LUFS (median \(Self.tenths(median)))"
    }
    line += "; \(Self.count(errorCount, "error")), \(Self.count(warningCount, "warning"))"
    return line.onOneLine
  }

  static func count(_ count: Int, _ noun: String) -> String {
    "\(count == 0 ? "no" : String(count)) \(noun)\(count == 1 ? "" : "s")"
  }

  static func tenths(_ value: Double) -> String { String(format: "%.1f", value) }
}
