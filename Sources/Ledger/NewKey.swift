// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A key to the service, to be kept. The ledger knows its digest, never the key.
public struct NewKey: Sendable, Hashable {
  /// How many requests it may send.
  public struct Rate: Sendable, Hashable {
    /// Requests a second, more than 0.
    public var perSecond: Double
    /// As many may come at once, at least 1.
    public var burst: Int

    public init(perSecond: Double, burst: Int) {
      self.perSecond = perSecond
      self.burst = burst
    }
  }

  /// What names it in lists: 1 to 64 bytes. No secret.
  public var id: String
  /// Whose announcements it sends and sees, 1 to 255 bytes.
  public var account: String
  /// SHA-256 of the key, 32 bytes.
  public var digest: Data
  /// What it may be used for: 1 to 16 names of 1 to 32 lower-case letters.
  public var scopes: [String]
  /// What people call it, at most 255 bytes.
  public var name: String?
  /// What a request has that names none of its own: locale, pack and group, each 1 to 255 bytes.
  public var locale: String?
  public var pack: String?
  public var group: String?
  /// nil for no limit of its own.
  public var rate: Rate?
  /// From when on it is refused; nil for a key that does not expire.
  public var expiresAt: Date?
  /// The addresses and networks from which it may be used: at most 64 of 1 to 64 bytes without spaces; empty for all.
  public var addresses: [String]
  /// Whether payloads with unknown keys are refused.
  public var isStrict: Bool

  public init(
    id: String, account: String, digest: Data, scopes: [String], name: String? = nil, locale: String? = nil,
    pack: String? = nil, group: String? = nil, rate: Rate? = nil, expiresAt: Date? = nil, addresses: [String] = [],
    isStrict: Bool = false
  ) {
    self.id = id
    self.account = account
    self.digest = digest
    self.scopes = scopes
    self.name = name
    self.locale = locale
    self.pack = pack
    self.group = group
    self.rate = rate
    self.expiresAt = expiresAt
    self.addresses = addresses
    self.isStrict = isStrict
  }

  /// The most addresses of a key.
  public static let mostAddresses = 64

  /// The rule that a value of it breaks; nil when it can be kept.
  var brokenRule: String? {
    func isText(_ text: String?, _ lengths: ClosedRange<Int> = 1...255) -> Bool {
      text.map { lengths.contains($0.utf8.count) && !$0.hasZero } ?? true
    }
    if !isText(id, 1...64) { return "id (1 to 64 bytes, none of them 0)" }
    if !isText(account) { return "account (1 to 255 bytes, none of them 0)" }
    if digest.count != 32 { return "digest (32 bytes)" }
    let areScopes =
      (1...16).contains(scopes.count)
      && scopes.allSatisfy { scope in
        (1...32).contains(scope.utf8.count) && scope.utf8.allSatisfy { (0x61...0x7A).contains($0) }
      }
    if !areScopes { return "scopes (1 to 16 names of 1 to 32 lower-case letters)" }
    if !isText(name, 0...255) { return "name (at most 255 bytes, none of them 0)" }
    for (field, value) in [("locale", locale), ("pack", pack), ("group", group)] where !isText(value) {
      return "\(field) (1 to 255 bytes, none of them 0)"
    }
    if let rate, !(rate.perSecond.isFinite && rate.perSecond > 0 && rate.burst > 0) {
      return "rate (more than 0 a second, and a burst of at least 1)"
    }
    if let expiresAt, expiresAt.wholeMilliseconds == nil { return "expiresAt (a date within the calendar)" }
    if addresses.count > Self.mostAddresses || !addresses.allSatisfy({ isText($0, 1...64) && !$0.contains(" ") }) {
      return "addresses (at most \(Self.mostAddresses) of 1 to 64 bytes, none of them 0 or a space)"
    }
    return nil
  }
}
