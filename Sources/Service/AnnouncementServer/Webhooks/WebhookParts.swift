// SPDX-License-Identifier: Apache-2.0

public import WebhookDelivery

/// The parts of the service that send webhooks.
public struct WebhookParts: Sendable {
  public var client: WebhookClient
  /// Whether an endpoint's URL may have a private address, and be `http`.
  public var allowsPrivateAddresses: Bool

  public init(client: WebhookClient, allowsPrivateAddresses: Bool = false) {
    self.client = client
    self.allowsPrivateAddresses = allowsPrivateAddresses
  }
}
