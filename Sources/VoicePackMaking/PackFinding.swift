// SPDX-License-Identifier: Apache-2.0

/// Something that is wrong with a voice pack, or may be.
public struct PackFinding: Sendable, Hashable, Encodable {
  public enum Severity: String, Sendable, Hashable, Encodable, CaseIterable {
    /// An announcement could fail, or say something else than was paid.
    case error
    /// It would be heard, or cost something, and nothing fails.
    case warning
  }

  /// In order of gravity.
  public enum Code: String, Sendable, Hashable, Encodable, CaseIterable {
    /// The manifest is missing, is no manifest, or is of a version that this program does not read.
    case manifestUnreadable = "manifest_unreadable"
    /// The manifest says what cannot be, or its id is not the folder's name.
    case manifestInvalid = "manifest_invalid"
    /// The pack is for another phrase book than it is checked against.
    case wrongLocale = "wrong_locale"
    /// The manifest was changed after its digest was written.
    case wrongDigest = "wrong_digest"
    /// A clip says other words than those of its token: amounts are read back from them.
    case wrongText = "wrong_text"
    /// Two words have one and the same recording.
    case duplicateClip = "duplicate_clip"
    /// A word that payments need is not recorded.
    case missingToken = "missing_token"
    case clipMissing = "clip_missing"
    /// Not a plain file, not a WAV file of PCM16, or without a plain name.
    case clipUnreadable = "clip_unreadable"
    /// The file is not the one that the manifest was written for.
    case clipChanged = "clip_changed"
    case notMono = "not_mono"
    case wrongSampleRate = "wrong_sample_rate"
    case silentClip = "silent_clip"
    /// Words that announcements can do without are not recorded: the engine speaks them.
    case missingOptional = "missing_optional"
    case clipping
    case loudnessOff = "loudness_off"
    case loudnessSpread = "loudness_spread"
    case noise
    case offset
    case silenceAtEnds = "silence_at_ends"
    /// The clip begins or ends with a step.
    case openEdges = "open_edges"
    case tooLong = "too_long"
    /// A speech recogniser took an amount that is joined from the clips for another.
    case misunderstood
    /// The phrase book never says it.
    case unknownToken = "unknown_token"
    /// No token and no phrase has it.
    case unusedClip = "unused_clip"
    /// A sound in the folder that the manifest does not list.
    case strayFile = "stray_file"
  }

  public var severity: Severity
  public var code: Code

  /// The file's name, or the token's.
  public var subject: String
  public var problem: String

  /// What to do next.
  public var remedy: String

  init(_ severity: Severity, _ code: Code, _ subject: String, _ problem: String, _ remedy: String) {
    self.severity = severity
    self.code = code
    self.subject = subject
    self.problem = problem
    self.remedy = remedy
  }

  /// `error    missing_token  cents: is not recorded, and …; record “cents”.`, on one line whatever the names are.
  public var line: String {
    let padded = severity.rawValue.padding(to: 8)
    return "\(padded) \(code.rawValue)  \(subject): \(problem); \(remedy).".onOneLine
  }

  /// Errors before warnings, the graver ones first; findings of one kind stay in their order.
  static func inOrder(_ findings: [PackFinding]) -> [PackFinding] {
    Severity.allCases.flatMap { severity in
      Code.allCases.flatMap { code in findings.filter { $0.severity == severity && $0.code == code } }
    }
  }
}

extension String {
  func padding(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

  /// Without what would end a line or turn its direction: names in a broken pack may hold anything.
  var onOneLine: String {
    String(
      String.UnicodeScalarView(
        unicodeScalars.map { scalar in
          switch scalar.properties.generalCategory {
          case .control, .lineSeparator, .paragraphSeparator: "\u{FFFD}"
          default: scalar.properties.isBidiControl ? "\u{FFFD}" : scalar
          }
        }))
  }
}
