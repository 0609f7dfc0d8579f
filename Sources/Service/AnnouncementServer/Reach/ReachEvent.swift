// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The event that APNs or a webhook endpoint cannot be reached, or can be reached again.
struct ReachEvent: Sendable, Hashable {
  enum Kind: String, Sendable, Hashable {
    case pushUnreachable = "push_unreachable"
    case pushReachable = "push_reachable"
    case webhookUnreachable = "webhook_unreachable"
    case webhookReachable = "webhook_reachable"
  }

  var kind: Kind
  /// The account that gets the event; nil for all accounts.
  var account: String?
  var at = Date()
  var detail: [String: String]
}
