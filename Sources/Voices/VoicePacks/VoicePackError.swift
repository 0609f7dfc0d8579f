// SPDX-License-Identifier: Apache-2.0

/// The reason why a voice pack cannot be used. The error contains no part of an announcement.
public struct VoicePackError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// An id or a folder's name breaks the rule of ``PackManifest/isID(_:)``.
    case idInvalid = "id_invalid"
    /// The pack does not exist.
    case notFound = "not_found"
    /// The manifest is missing, too large, not a regular file or not valid JSON for a manifest.
    case manifestUnreadable = "manifest_unreadable"
    /// The manifest has a format version that this program does not know.
    case formatUnsupported = "format_unsupported"
    /// The manifest can be read, but its contents are inconsistent.
    case manifestInvalid = "manifest_invalid"
    /// A clip that the manifest names is missing or too large, or is not a regular file.
    case clipUnreadable = "clip_unreadable"
    /// A clip is not a mono PCM16 WAV file, is empty or too long, or has a different sample rate from the pack.
    case clipInvalid = "clip_invalid"
    /// The file of chosen packs cannot be read or is not valid.
    case choicesUnreadable = "choices_unreadable"
    /// The system refused an operation for a reason that is not in the pack. A later attempt may succeed.
    case systemFailure = "system_failure"
  }

  public var code: Code

  /// The pack or file that the error is about.
  public var subject: String
  public var problem: String

  /// What to do next.
  public var remedy: String

  /// Whether a later attempt may succeed, because the system refused an operation or the pack was being replaced.
  var isPassing: Bool { [.systemFailure, .clipUnreadable, .manifestUnreadable].contains(code) }

  init(_ code: Code, _ subject: String, _ problem: String, remedy: String) {
    self.code = code
    self.subject = subject
    self.problem = problem
    self.remedy = remedy
  }

  public var description: String { "\(subject): \(problem); \(remedy)." }
}

extension VoicePackError {
  static func idInvalid(_ id: String) -> VoicePackError {
    VoicePackError(
      .idInvalid, "voice pack \(shown(id))", "is not a valid pack name",
      remedy: "use 1 to 64 of A-Z, a-z, 0-9, “-”, “_” and “.”, not beginning with “.”")
  }

  static func notFound(_ id: String) -> VoicePackError {
    VoicePackError(.notFound, "voice pack \(id)", "does not exist", remedy: "run crier voices list to see the packs")
  }

  /// Returns a text from a file or a command line in a form for errors. The result is short and contains no characters
  /// that a terminal would interpret.
  static func shown(_ text: String) -> String {
    let shown = text.unicodeScalars.prefix(60).map { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned:
        scalar.escaped(asASCII: true)
      default: String(scalar)
      }
    }
    return "“\(shown.joined())\(text.unicodeScalars.count > 60 ? "…" : "")”"
  }
}
