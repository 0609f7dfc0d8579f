// SPDX-License-Identifier: Apache-2.0

public import WebhookDelivery

/// What the service needs to send webhooks.
public struct WebhookParts: Sendable {
  public var client: WebhookClient
  /// Whether an endpoint's URL may be `http`. It is allowed together with private addresses.
  public var allowsUnencrypted: Bool

  public init(client: WebhookClient, allowsUnencrypted: Bool = false) {
    self.client = client
    self.allowsUnencrypted = allowsUnencrypted
  }
}
