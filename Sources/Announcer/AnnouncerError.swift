// SPDX-License-Identifier: Apache-2.0

/// Why a clip was not made, where the fault lies in the making and not in one room. The description holds no amount,
/// name or note.
public struct AnnouncerError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The words of the amount did not read back as the amount paid. A fault of ours; nothing was spoken.
    case amountMismatch = "amount_mismatch"
    /// Free text is 30 s or longer at the fastest rate.
    case tooLong = "too_long"
    /// No voice pack covers the announcement, and speech was ruled out.
    case methodUnavailable = "method_unavailable"
    /// An option has a value that cannot be.
    case optionInvalid = "option_invalid"
  }

  public var code: Code

  /// What was being done, or the option as it is spelled.
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
