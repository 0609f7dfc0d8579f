// SPDX-License-Identifier: Apache-2.0

/// Why a voice pack cannot be used. Nothing of an announcement is in it.
public struct VoicePackError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// An id or a folder's name breaks the rule of ``PackManifest/isID(_:)``.
    case idInvalid = "id_invalid"
    /// There is no such pack.
    case notFound = "not_found"
    /// The manifest is missing, too large, no regular file or not the JSON of a manifest.
    case manifestUnreadable = "manifest_unreadable"
    /// The manifest has a format that this program does not know.
    case formatUnsupported = "format_unsupported"
    /// The manifest can be read and says what cannot be.
    case manifestInvalid = "manifest_invalid"
    /// A clip that the manifest names is missing, too large or no regular file.
    case clipUnreadable = "clip_unreadable"
    /// A clip is no mono PCM16 WAV file, is empty or too long, or has another sample rate than the pack.
    case clipInvalid = "clip_invalid"
    /// The system refused for a reason that lies not in the pack, and may not the next time.
    case systemFailure = "system_failure"
  }

  public var code: Code

  /// What cannot be used: the pack, or a file of it.
  public var subject: String
  public var problem: String

  /// What to do next.
  public var remedy: String

  /// Whether it may be otherwise the next time: the system refused, or the pack was being replaced.
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
      .idInvalid, "voice pack \(shown(id))", "the name cannot be a pack's",
      remedy: "use 1 to 64 of A-Z, a-z, 0-9, “-”, “_” and “.”, not beginning with “.”")
  }

  static func notFound(_ id: String) -> VoicePackError {
    VoicePackError(.notFound, "voice pack \(id)", "is not there", remedy: "list the packs with crier voices list")
  }

  /// A text from a file or a command line as an error shows it: short, and without what a terminal would obey.
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
