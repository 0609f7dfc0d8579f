// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The measurements of a speech server's voice in one locale, and the decision whether the voice may say amounts.
///
/// The type uses no clock, file or connection. ``ServerVoiceTest`` sets its properties.
public struct ServerVoiceMeasures: Sendable, Hashable {
  /// Two numbers in words.
  public struct Pair: Sendable, Hashable {
    public var first: String
    public var second: String

    public init(_ first: String, _ second: String) { (self.first, self.second) = (first, second) }
  }

  /// Whether a recogniser understands the amounts.
  public enum Recognition: Sendable, Hashable {
    case measured(understood: Int, amounts: Int)
    /// A recogniser exists for the language, but is not installed. The text names its packages.
    case notInstalled(packages: String)
    case noRecognizer
    /// Not all amounts were spoken, so none was given to the recogniser.
    case unspoken
  }

  /// The number of failures after which the server gets no more requests.
  public static let mostFailures = 10

  /// The locale as a BCP 47 tag.
  public var locale: String
  /// The number of announcements and numbers that should be spoken.
  public var asked = 0
  /// The time for each utterance that was spoken, in ms.
  public var milliseconds: [Int] = []
  /// The number of utterances that failed, by ``SpeechServerError/reason``. A sound that cannot be a reading of its
  /// words is a failure too.
  public var failures: [String: Int] = [:]
  /// The lengths of the sounds, as ratios to the expected lengths of their words.
  public var lengths: [Double] = []
  /// The shortest and the longest of these lengths among whole payments; nil if none was spoken.
  public private(set) var amountLengths: ClosedRange<Double>?
  /// The loudness of each sound in LUFS.
  public var loudness: [Double] = []
  /// How many numbers were compared with each other.
  public var numbers = 0
  /// The numbers that sound the same.
  public var alike: [Pair] = []
  /// The numbers that sound more like another number spoken by espeak-ng than like the same number spoken by espeak-ng.
  /// Such a comparison between two voices is not reliable, so it does not affect the decision.
  public var nearerToOthers: [Pair] = []
  /// The reason why the numbers were not compared with espeak-ng; nil if they were compared.
  public var comparisonProblem: String?
  public var understanding = Recognition.noRecognizer

  public init(locale: String) { self.locale = locale }

  mutating func add(amountLength length: Double) {
    amountLengths = min(amountLengths?.lowerBound ?? length, length)...max(amountLengths?.upperBound ?? length, length)
  }

  /// Whether so many utterances have failed that the server gets no more requests.
  public var isHopeless: Bool { failureCount >= Self.mostFailures }

  private var failureCount: Int { failures.values.reduce(0, +) }

  /// Whether the voice may say amounts: every utterance was spoken, every sound can be a reading of its words, no two
  /// numbers sound the same, and a recogniser, if there is one, understands enough amounts.
  public var isPassed: Bool {
    let isUnderstood =
      switch understanding {
      case .measured(let understood, let amounts):
        amounts > 0 && understood * 100 >= amounts * Understanding.bar
      case .notInstalled, .noRecognizer: true
      case .unspoken: false
      }
    return asked > 0 && milliseconds.count == asked && failures.isEmpty && numbers > 1 && alike.isEmpty && isUnderstood
  }

  /// What was measured and what was not measured, as sentences for people.
  public var findings: [String] {
    ["\(milliseconds.count) of \(asked) utterances were spoken\(isHopeless ? ", and then no more were asked" : "")."]
      + failures.sorted { $0.key < $1.key }.map { "\($0.value) failed: \($0.key)." }
      + timeFindings + soundFindings + numberFindings + [understandingFinding]
  }

  private var timeFindings: [String] {
    guard !milliseconds.isEmpty else { return [] }
    let sorted = milliseconds.sorted()
    return [
      "Time to speak: p50 \(sorted[(sorted.count - 1) / 2]) ms, p99 \(sorted[(sorted.count - 1) * 99 / 100]) ms."
    ]
  }

  private var soundFindings: [String] {
    guard let shortest = lengths.min(), let longest = lengths.max(), let quietest = loudness.min(),
      let loudest = loudness.max()
    else { return [] }
    return [
      "Lengths are \(Self.text(shortest, 2)) to \(Self.text(longest, 2)) times what the words need, and levels "
        + "\(Self.text(quietest, 1)) to \(Self.text(loudest, 1)) LUFS."
    ]
  }

  private var numberFindings: [String] {
    guard numbers > 1 else { return ["Whether numbers sound different was not measured."] }
    var findings =
      alike.isEmpty
      ? ["No two of \(numbers) numbers sound the same."]
      : alike.map { "“\($0.first)” and “\($0.second)” sound the same." }
    if let comparisonProblem {
      findings.append("The numbers were not compared with espeak-ng: \(comparisonProblem).")
    } else if nearerToOthers.isEmpty {
      findings.append("Each number sounds most like the same number of espeak-ng.")
    } else {
      let pairs = nearerToOthers.map { "“\($0.first)” (to “\($0.second)”)" }.joined(separator: ", ")
      findings.append("These numbers sound more like another number of espeak-ng; listen to them: \(pairs).")
    }
    return findings
  }

  private var understandingFinding: String {
    switch understanding {
    case .measured(let understood, let amounts):
      "A recogniser understood \(understood) of \(amounts) amounts; \(Understanding.bar) % are needed."
    case .notInstalled(let packages):
      "Whether people understand the amounts was not measured; install the Debian packages \(packages)."
    case .unspoken: "Whether people understand the amounts was not measured, because not all amounts were spoken."
    case .noRecognizer: "No recogniser for \(locale): whether people understand the amounts was not measured."
    }
  }

  private static func text(_ value: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", value) }
}
