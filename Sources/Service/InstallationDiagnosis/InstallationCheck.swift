// SPDX-License-Identifier: Apache-2.0

/// The result of looking at one part of an installation.
public struct InstallationCheck: Sendable, Hashable, Encodable {
  /// The parts of an installation, in the order of the report.
  public enum Part: String, Sendable, Hashable, CaseIterable, Encodable {
    case settings, home, disk, ledger, keys
    case phraseBooks = "phrase_books"
    case console, engine, sandbox
    case voicePacks = "voice_packs"
    case sound, port, pushes
    case speechServers = "speech_servers"
    case network, clock
    case openFiles = "open_files"

    /// The part's name in a text.
    public var title: String { rawValue.replacing("_", with: " ") }

    /// Whether a fault of the part prevents Crier from storing data. Any other fault makes something unavailable.
    var holdsData: Bool { [.home, .disk, .ledger].contains(self) }
  }

  public enum Verdict: String, Sendable, Hashable, Encodable {
    case ok
    case warning
    case fault
    /// The part was not examined, because of a fault of another part.
    case skipped
  }

  public var part: Part
  public var verdict: Verdict
  /// The finding, as a phrase. For a skipped part, it is the reason.
  public var found: String
  /// The problems: faults first.
  public var problems: [InstallationProblem]

  /// Creates the result of an examination. The worst problem determines the verdict.
  init(_ part: Part, _ found: String, _ problems: [InstallationProblem] = []) {
    self.part = part
    self.found = found
    self.problems = problems.filter { $0.severity == .fault } + problems.filter { $0.severity == .warning }
    verdict = problems.isEmpty ? .ok : self.problems[0].severity == .fault ? .fault : .warning
  }

  /// Creates the result of an examination that found one problem.
  init(
    _ part: Part, _ found: String, _ code: InstallationProblem.Code, _ message: String, remedy: String
  ) {
    self.init(part, found, [InstallationProblem(code, message, remedy: remedy)])
  }

  /// Creates the result for a part that was not examined.
  init(skipping part: Part, because reason: String) {
    (self.part, verdict, found, problems) = (part, .skipped, reason, [])
  }
}

extension InstallationCheck {
  /// The width of the column of verdicts, and of the column of names.
  private static let widths = (verdict: 9, part: 16)

  /// A line with the verdict, followed for each problem by lines that say what is wrong and what the remedy is.
  public var lines: [String] {
    let title = part.title
    let first =
      verdict.rawValue + String(repeating: " ", count: max(1, Self.widths.verdict - verdict.rawValue.count))
      + title + String(repeating: " ", count: max(1, Self.widths.part - title.count)) + found
    return [first] + problems.flatMap(\.lines)
  }
}

extension InstallationProblem {
  fileprivate var lines: [String] {
    ["  \(severity.rawValue) \(code.rawValue): \(message)"] + remedy.split(separator: "\n").map { "    \($0)" }
  }
}
