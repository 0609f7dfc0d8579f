// SPDX-License-Identifier: Apache-2.0

/// An error in the data that a phone stores for its registration. Failed calls of the service throw
/// `DeviceClientError`.
public struct PhoneRegistrationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The error codes, for programs.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The id and the key cannot be read or stored.
    case credentialsUnavailable = "credentials_unavailable"
    /// The tokens cannot be read or stored.
    case tokensUnavailable = "tokens_unavailable"
    /// Another process has held the lock of the tokens for seconds.
    case tokensBusy = "tokens_busy"
    /// The answer of the shop's backend has no id or no key.
    case answerUnreadable = "answer_unreadable"
    /// The text is not the URL of a service.
    case serviceInvalid = "service_invalid"
    /// The shop's backend has not registered this phone yet.
    case notRegistered = "not_registered"
  }

  public let code: Code
  /// The cause in a few words, for example the system's message; nil if there is none.
  public let reason: String?

  init(_ code: Code, reason: String? = nil) {
    self.code = code
    self.reason = reason
  }

  /// What went wrong, and what to do next. The text contains no key and no token.
  public var description: String {
    let cause = reason.map { " (\($0))" } ?? ""
    return switch code {
    case .credentialsUnavailable:
      "The phone's id and key cannot be read or stored\(cause). Try again when the phone is unlocked; if the error stays, "
        + "check the keychain's access group."
    case .tokensUnavailable:
      "The file of the push tokens cannot be read or written\(cause). Check the app group and the space on the disk."
    case .tokensBusy: "Another process has locked the push tokens for too long. Register again later."
    case .answerUnreadable:
      "The answer of the backend has no id or no key. Let the backend answer with {\"device\": \"…\", \"key\": \"…\"}."
    case .serviceInvalid: "The text is not the URL of a service. Give a URL such as https://crier.example."
    case .notRegistered: "The backend has not registered this phone yet. Call obtainCredentials(from:) first."
    }
  }
}
