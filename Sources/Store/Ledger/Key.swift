// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension Ledger {
  /// A stored key to the service.
  public struct Key: Sendable, Hashable {
    public let id: String
    public let account: String
    /// The SHA-256 digest of the key, 32 bytes.
    public let digest: Data
    public let scopes: [String]
    public let name: String?
    public let locale: String?
    public let pack: String?
    public let group: String?
    /// The key's own rate limit; nil when it has none.
    public let rate: NewKey.Rate?
    public let createdAt: Date
    /// The time from which the key is refused; nil for a key that does not expire.
    public let expiresAt: Date?
    /// The addresses and networks from which the key may be used, such as `192.0.2.0/24`; empty for all.
    public let addresses: [String]
    /// Whether the service refuses payloads with unknown JSON keys.
    public let isStrict: Bool
    /// The id of the key that replaced this one in a rotation; nil when this key was not rotated.
    public let rotatedTo: String?
    /// The time from which the key is refused because it was revoked; nil when it was not.
    public let revokedAt: Date?
    /// The latest time that ``KeyStore/recordUse(ofKeys:)`` recorded for the key; nil when no use was recorded.
    public let lastUsedAt: Date?
    /// The id of the device that the key belongs to; nil for any other key.
    public let device: String?
    /// The id of the sign-in code that was exchanged for the key; nil for any other key.
    public let signInCode: String?

    /// Returns the key that replaces this one in a rotation, with the same account, scopes, limits and settings. Its
    /// lifetime is this key's original lifetime, counted from the rotation.
    ///
    /// - Parameters:
    ///   - id: The new key's id, as in ``NewKey``.
    ///   - digest: The new key's digest, as in ``NewKey``.
    ///   - moment: The time of the rotation.
    package func successor(id: String, digest: Data, at moment: Date) -> NewKey {
      NewKey(
        id: id, account: account, digest: digest, scopes: scopes, name: name, locale: locale, pack: pack, group: group,
        rate: rate, expiresAt: expiresAt.map { moment.addingTimeInterval($0.timeIntervalSince(createdAt)) },
        addresses: addresses, isStrict: isStrict, device: device)
    }

    /// Returns the rule that the overlap of a rotation breaks; nil if it breaks no rule.
    package static func brokenRule(ofOverlap overlap: TimeInterval) -> String? {
      overlap.isFinite && overlap >= 0 ? nil : "overlap (0 seconds or more)"
    }

    /// Returns the time at which this key expires after a rotation.
    ///
    /// - Parameter overlap: The time in which both keys are valid, in seconds.
    package func end(withOverlap overlap: TimeInterval, at moment: Date) -> Date {
      min(expiresAt ?? .distantFuture, moment.addingTimeInterval(overlap))
    }

    /// Returns whether the key has expired at a moment.
    public func isExpired(at moment: Date) -> Bool { expiresAt.map { $0 <= moment } ?? false }

    /// Returns whether the key can be used at a moment: it is neither revoked nor expired.
    public func isInForce(at moment: Date) -> Bool { revokedAt == nil && !isExpired(at: moment) }
  }
}

extension Ledger.Key {
  package init(row: some StoredRow) throws {
    let rate = try row.double("rate").map { NewKey.Rate(perSecond: $0, burst: try row.value("burst")) }
    self.init(
      id: try row.value("id"), account: try row.value("account"), digest: try row.value("digest"),
      scopes: try row.words("scopes"), name: try row.optional("name"), locale: try row.optional("locale"),
      pack: try row.optional("pack"), group: try row.optional("group_id"), rate: rate,
      createdAt: try row.value("created_at"), expiresAt: try row.optional("expires_at"),
      addresses: try row.words("addresses"), isStrict: try row.value("strict"),
      rotatedTo: try row.optional("rotated_to"), revokedAt: try row.optional("revoked_at"),
      lastUsedAt: try row.optional("last_used_at"), device: try row.optional("device"),
      signInCode: try row.optional("sign_in_code"))
  }
}
