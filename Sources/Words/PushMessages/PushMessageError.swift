// SPDX-License-Identifier: Apache-2.0

/// The error of a push that cannot be made. It contains no token, name or amount.
public struct PushMessageError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable {
    case amountInvalid = "amount_invalid"
    case bundleIDInvalid = "bundle_id_invalid"
    case clipInvalid = "clip_invalid"
    case collapseIDInvalid = "collapse_id_invalid"
    case containerInvalid = "container_invalid"
    /// The content of a payload that a phone received.
    case contentInvalid = "content_invalid"
    case deviceTokenInvalid = "device_token_invalid"
    case hundredthsInvalid = "hundredths_invalid"
    case messageTooLarge = "message_too_large"
    case priorityInvalid = "priority_invalid"
    case soundInvalid = "sound_invalid"
    /// The token of a clip is invalid. The invalid token of a device has a code of its own.
    case tokenInvalid = "token_invalid"
  }

  public let code: Code
  /// The rule that was broken, as a sentence without its subject: `must have …`.
  public let rule: String

  public init(_ code: Code, _ rule: String) {
    self.code = code
    self.rule = rule
  }

  /// The name of the faulty part.
  private var subject: String {
    switch code {
    case .amountInvalid: "amount"
    case .bundleIDInvalid: "bundle id"
    case .clipInvalid: "clip"
    case .collapseIDInvalid: "collapse id"
    case .containerInvalid: "container"
    case .contentInvalid: "payload"
    case .deviceTokenInvalid: "device token"
    case .hundredthsInvalid: "volume or relevance score"
    case .messageTooLarge: "message"
    case .priorityInvalid: "priority"
    case .soundInvalid: "sound"
    case .tokenInvalid: "clip token"
    }
  }

  public var description: String { "The \(subject) \(rule)." }
}
