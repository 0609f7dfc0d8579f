// SPDX-License-Identifier: Apache-2.0

/// The reason why a value of a webhook cannot be used, or why a message is not genuine. It contains no secret, URL or
/// signature.
public struct WebhookError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The text is not `whsec_` with 24 to 64 bytes in base64.
    case secretInvalid = "secret_invalid"
    /// The text is not an absolute URL of a host, or is longer than ``WebhookURL/longest``.
    case urlInvalid = "url_invalid"
    /// The URL is not `https`.
    case notEncrypted = "not_encrypted"
    /// The URL's host is this machine or an address of a private network.
    case addressPrivate = "address_private"
    /// The URL has a user name or a password.
    case credentialsInURL = "credentials_in_url"
    /// The URL has a fragment, which no server would receive.
    case fragmentInURL = "fragment_in_url"
    /// The message's time is not a whole number of seconds, or is too far from the receiver's.
    case timestampOutsideWindow = "timestamp_outside_window"
    /// No signature of the message was made with one of the secrets.
    case signatureInvalid = "signature_invalid"
  }

  public let code: Code

  public init(_ code: Code) { self.code = code }

  public var description: String {
    switch code {
    case .secretInvalid: "The secret is not valid. Give whsec_ and 24 to 64 bytes in base64."
    case .urlInvalid:
      "The URL is not valid. Give an absolute URL of at most \(WebhookURL.longest) ASCII characters, such as "
        + "https://shop.example/hooks."
    case .notEncrypted: "The URL is not encrypted. Give one that begins with https://."
    case .addressPrivate:
      "The URL leads to this machine or into a private network, where the service sends nothing. Give a public host, "
        + "or have the operator set webhook_private_addresses."
    case .credentialsInURL: "The URL has a user name or a password. Leave it out."
    case .fragmentInURL: "The URL has a fragment, which no server receives. Leave out # and what follows."
    case .timestampOutsideWindow:
      "The time of the message is not within \(WebhookSecret.tolerance) seconds of now. Check the clock."
    case .signatureInvalid:
      "No signature of the message is valid. Check the endpoint's secret, and verify the body exactly as it was received."
    }
  }
}
