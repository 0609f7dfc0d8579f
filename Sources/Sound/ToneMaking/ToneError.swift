// SPDX-License-Identifier: Apache-2.0

/// The reason why a tone cannot be made.
public struct ToneError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The error codes, for programs.
  public enum Code: String, Sendable, Hashable {
    /// The folder of descriptions cannot be read.
    case descriptionsMissing = "descriptions_missing"
    /// There is no description with this name.
    case toneUnknown = "tone_unknown"
    /// The description is invalid, or its sound cannot be mastered.
    case descriptionInvalid = "description_invalid"
  }

  public var code: Code
  /// The folder, the name or the file to which the error refers.
  public var subject: String
  public var reason: String
  /// What to do next.
  public var remedy: String

  init(_ code: Code, _ subject: String, _ reason: String, remedy: String) {
    self.code = code
    self.subject = subject
    self.reason = reason
    self.remedy = remedy
  }

  public var description: String { "\(subject): \(reason); \(remedy)." }
}
