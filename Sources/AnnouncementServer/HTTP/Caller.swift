// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import ServiceAccess

/// The sender of a request, identified by a valid key.
struct Caller: Sendable, Hashable {
  var keyID: String
  var account: String
  /// The SHA-256 digest of the key.
  var digest: Data
  var scopes: Set<Scope>
  var defaults: AnnouncementRequest.Defaults
  var limit: RateLimit
  /// The device that the key belongs to; nil for a key that belongs to none.
  var device: String?
  /// The time at which the key expires; nil if it does not expire.
  var expiresAt: Date?
  /// The networks from which the key may be used; nil for all.
  var networks: [IPNetwork]?
  /// Whether payloads with unknown keys are refused.
  var isStrict = false

  func isExpired(at moment: Date) -> Bool { expiresAt.map { $0 <= moment } ?? false }

  /// Returns whether the key is the own key of a device.
  func isOwnKey(of device: String?) -> Bool { device != nil && self.device == device && scopes.contains(.device) }

  var isAdmin: Bool { scopes.contains(.admin) }
  /// The name of the key in logs.
  var logName: String { APIKey.logName(ofDigest: digest) }
}
