// SPDX-License-Identifier: Apache-2.0

/// A fault or a possible fault of a voice pack.
public struct PackFinding: Sendable, Hashable, Encodable {
  public enum Severity: String, Sendable, Hashable, Encodable, CaseIterable {
    /// An announcement could fail, or could say an amount other than the one paid.
    case error
    /// A listener would hear the fault, or the fault has a cost, but no announcement fails.
    case warning
  }

  /// The kinds of findings, in order of severity.
  public enum Code: String, Sendable, Hashable, Encodable, CaseIterable {
    /// The manifest is missing or invalid, or has a version that this program does not read.
    case manifestUnreadable = "manifest_unreadable"
    /// The manifest is inconsistent, or the id in it differs from the folder's name.
    case manifestInvalid = "manifest_invalid"
    /// The pack belongs to a phrase book other than the one used for this check.
    case wrongLocale = "wrong_locale"
    /// The manifest was changed after its digest was written.
    case wrongDigest = "wrong_digest"
    /// The words of a clip differ from its token. Amounts are read back from the words of the clips.
    case wrongText = "wrong_text"
    /// Two clips seem to be swapped: each says the other's words.
    case swappedClips = "swapped_clips"
    /// Two different words have the same recording.
    case duplicateClip = "duplicate_clip"
    /// A word that payments need has no recording.
    case missingToken = "missing_token"
    case clipMissing = "clip_missing"
    /// A clip is not a plain file or not a PCM16 WAV file, or its name is not a plain name.
    case clipUnreadable = "clip_unreadable"
    /// The file of a clip does not match the digest in the manifest.
    case clipChanged = "clip_changed"
    case notMono = "not_mono"
    case wrongSampleRate = "wrong_sample_rate"
    case silentClip = "silent_clip"
    /// Optional words have no recording. The engine speaks them.
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
    /// An amount was joined from the clips, and a speech recogniser understood a different amount.
    case misunderstood
    /// A clip seems to say the words of another clip.
    case otherWords = "other_words"
    /// The phrase book never uses a token of the pack.
    case unknownToken = "unknown_token"
    /// No token and no phrase of the pack uses the clip.
    case unusedClip = "unused_clip"
    /// The folder contains a sound that the manifest does not list.
    case strayFile = "stray_file"
  }

  public var severity: Severity
  public var code: Code

  /// The name of the file or token that the finding is about.
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

  /// The finding on one line, even if the names contain line breaks:
  /// `error    missing_token  cents: is not recorded, but …; record “cents”.`
  public var line: String {
    let padded = severity.rawValue.padding(to: 8)
    return "\(padded) \(code.rawValue)  \(subject): \(problem); \(remedy).".onOneLine
  }

  /// Returns the findings in order of severity: errors first, then warnings, each with the most severe kind first.
  /// Findings of the same kind keep their order.
  static func inOrder(_ findings: [PackFinding]) -> [PackFinding] {
    Severity.allCases.flatMap { severity in
      Code.allCases.flatMap { code in findings.filter { $0.severity == severity && $0.code == code } }
    }
  }
}

extension String {
  func padding(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

  /// The text without characters that would end a line or change the text direction. In a broken pack, names may
  /// contain any characters.
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
