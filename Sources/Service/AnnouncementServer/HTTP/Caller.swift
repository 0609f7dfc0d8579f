// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import HostAddresses
import Ledger
import ServiceAccess

/// The sender of a request, identified by a valid key.
struct Caller: Sendable, Hashable {
  var keyID: String
  /// The account in which the key works: for a test key, the ``TestAccount`` of its client's account.
  var account: String
  /// The SHA-256 digest of the key.
  let digest: Data
  var scopes: Set<Scope>
  var defaults: AnnouncementRequest.Defaults
  var limit: RateLimit
  /// The device that the key belongs to; nil for a key that belongs to no device.
  var device: String?
  /// The time at which the key expires; nil if it does not expire.
  var expiresAt: Date?
  /// The networks from which the key may be used; nil for all.
  var networks: [IPNetwork]?
  /// Whether payloads with unknown keys are refused.
  var isStrict: Bool

  func isExpired(at moment: Date) -> Bool { expiresAt.map { $0 <= moment } ?? false }

  /// Returns whether the key is the own key of a device.
  func isOwnKey(of device: String?) -> Bool { device != nil && self.device == device && scopes.contains(.device) }

  /// The account to which the key belongs.
  var clientAccount: String { TestAccount.owner(of: account) ?? account }

  /// Whether the key may see the data of all accounts.
  var isAdmin: Bool { scopes.contains(.admin) }
  /// The name of the key in logs.
  let logName: String

  init(
    keyID: String, account: String, digest: Data, scopes: Set<Scope>, defaults: AnnouncementRequest.Defaults,
    limit: RateLimit, device: String? = nil, expiresAt: Date? = nil, networks: [IPNetwork]? = nil,
    isStrict: Bool = false
  ) {
    (self.keyID, self.account, self.digest, self.scopes) = (keyID, account, digest, scopes)
    (self.defaults, self.limit, self.device, self.expiresAt) = (defaults, limit, device, expiresAt)
    (self.networks, self.isStrict) = (networks, isStrict)
    logName = APIKey.logName(ofDigest: digest)
  }
}
