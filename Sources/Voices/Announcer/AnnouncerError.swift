// SPDX-License-Identifier: Apache-2.0

/// An error of the pipeline itself. Other reasons why a clip was not made are the errors of the modules that report
/// them. The description contains no amount, name or note.
public struct AnnouncerError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The words of the amount do not mean the amount paid. This is an internal error. Nothing was spoken.
    case amountMismatch = "amount_mismatch"
    /// A free text takes 30 s or longer at the fastest rate.
    case tooLong = "too_long"
    /// No voice pack covers the announcement, and the options exclude the engine.
    case methodUnavailable = "method_unavailable"
    /// An option has an invalid value.
    case optionInvalid = "option_invalid"
  }

  public var code: Code

  /// The operation that failed, or the option in the spelling that the user typed.
  public var subject: String
  public var problem: String

  /// What to do next.
  public var remedy: String

  public init(_ code: Code, _ subject: String, _ problem: String, remedy: String) {
    self.code = code
    self.subject = subject
    self.problem = problem
    self.remedy = remedy
  }

  public var description: String { "\(subject): \(problem); \(remedy)." }
}
