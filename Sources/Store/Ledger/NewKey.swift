// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A new key to the service. The ledger stores the key's digest and never the key itself.
public struct NewKey: Sendable, Hashable {
  /// The rate at which the key may send requests.
  public struct Rate: Sendable, Hashable {
    /// The allowed requests per second, more than 0.
    public var perSecond: Double
    /// The number of requests that may come at once, at least 1.
    public var burst: Int

    public init(perSecond: Double, burst: Int) {
      self.perSecond = perSecond
      self.burst = burst
    }
  }

  /// The id that names the key in lists: 1 to 64 bytes. It is not secret.
  public var id: String
  /// The account whose announcements the key sends and reads, 1 to 255 bytes.
  public var account: String
  /// The SHA-256 digest of the key, 32 bytes.
  public var digest: Data
  /// The scopes of the key: 1 to 16 names of 1 to 32 lower-case letters.
  public var scopes: [String]
  /// A name for people, at most 255 bytes.
  public var name: String?
  /// The default locale for requests that name no locale, 1 to 255 bytes.
  public var locale: String?
  /// The default pack for requests that name no pack, 1 to 255 bytes.
  public var pack: String?
  /// The default app group for requests that name no group, 1 to 255 bytes.
  public var group: String?
  /// The key's own rate limit; nil when it has none.
  public var rate: Rate?
  /// The time from which the key is refused; nil for a key that does not expire.
  public var expiresAt: Date?
  /// The addresses and networks from which the key may be used: at most 64, each of 1 to 64 bytes without spaces; empty
  /// for all.
  public var addresses: [String]
  /// Whether the service refuses payloads with unknown JSON keys.
  public var isStrict: Bool
  /// The id of the device that the key belongs to, 1 to 128 bytes; nil for any other key.
  public var device: String?
  /// The id of the sign-in code that was exchanged for the key, 1 to 64 bytes; nil for any other key.
  public var signInCode: String?

  public init(
    id: String, account: String, digest: Data, scopes: [String], name: String? = nil, locale: String? = nil,
    pack: String? = nil, group: String? = nil, rate: Rate? = nil, expiresAt: Date? = nil, addresses: [String] = [],
    isStrict: Bool = false, device: String? = nil, signInCode: String? = nil
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
    self.device = device
    self.signInCode = signInCode
  }

  /// The maximum number of addresses of a key.
  public static let mostAddresses = 64

  /// The first rule that a value breaks; nil when the key can be stored.
  package var brokenRule: String? {
    if !isText(id, 1...64) { return "id (1 to 64 bytes without NUL)" }
    if !isText(account, 1...255) { return "account (1 to 255 bytes without NUL)" }
    if digest.count != 32 { return "digest (32 bytes)" }
    let areScopes =
      (1...16).contains(scopes.count)
      && scopes.allSatisfy { scope in
        (1...32).contains(scope.utf8.count) && scope.utf8.allSatisfy { (0x61...0x7A).contains($0) }
      }
    if !areScopes { return "scopes (1 to 16 names of 1 to 32 lower-case letters)" }
    if !isText(signInCode, 1...64) { return "signInCode (1 to 64 bytes without NUL)" }
    if !isText(device, 1...128) { return "device (1 to 128 bytes without NUL)" }
    if !isText(name, 0...255) { return "name (at most 255 bytes without NUL)" }
    for (field, value) in [("locale", locale), ("pack", pack), ("group", group)] where !isText(value, 1...255) {
      return "\(field) (1 to 255 bytes without NUL)"
    }
    if let rate, !(rate.perSecond.isFinite && rate.perSecond > 0 && rate.burst > 0) {
      return "rate (more than 0 requests a second, with a burst of at least 1)"
    }
    if let expiresAt, expiresAt.wholeMilliseconds == nil { return "expiresAt (a date that the calendar can represent)" }
    if addresses.count > Self.mostAddresses || !addresses.allSatisfy({ isText($0, 1...64) && !$0.contains(" ") }) {
      return "addresses (at most \(Self.mostAddresses), each of 1 to 64 bytes without NUL and spaces)"
    }
    return nil
  }
}
