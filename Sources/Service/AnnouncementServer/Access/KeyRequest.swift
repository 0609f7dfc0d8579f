// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import HostAddresses
public import Ledger
public import ServiceAccess
import SoundLibrary

/// The requested properties of a new key, from the command line or from the service.
public struct KeyRequest: Sendable, Hashable {
  public var scopes: Set<Scope>
  public var account: String
  public var name: String?
  public var locale: String?
  public var pack: String?
  public var group: String?
  /// The allowed requests per second.
  public var rate: Double?
  public var burst: Int?
  /// The expiry as a text that ``KeyTimes`` reads.
  public var expires: String?
  public var addresses: [String]
  public var isStrict: Bool

  public init(
    scopes: Set<Scope>, account: String, name: String? = nil, locale: String? = nil, pack: String? = nil,
    group: String? = nil, rate: Double? = nil, burst: Int? = nil, expires: String? = nil, addresses: [String] = [],
    isStrict: Bool = false
  ) {
    self.scopes = scopes
    self.account = account
    self.name = name
    self.locale = locale
    self.pack = pack
    self.group = group
    self.rate = rate
    self.burst = burst
    self.expires = expires
    self.addresses = addresses
    self.isStrict = isStrict
  }

  /// The first rule that a request breaks.
  public enum Fault: Error, Sendable, Hashable {
    case noScopes
    /// The request names the scope `device`. Only the registration of a device gives this scope.
    case deviceScope
    /// The request names the scope `test` together with other scopes.
    case testAndOthers
    /// The account's name is too long for test keys.
    case testAccountTooLong
    /// The text of a field is empty, longer than 255 bytes, or has control characters.
    case text(field: String)
    case accountReserved
    case groupInvalid
    case burstWithoutRate
    /// The rate or the burst is out of range; with the reason.
    case rateInvalid(String)
    case expiryUnreadable(String)
    case expiryPast(String)
    case tooManyAddresses(Int)
    /// An address is not valid; with the address and the reason.
    case addressInvalid(String, reason: String)
  }

  /// The values that are read from texts.
  public struct Checked: Sendable, Hashable {
    public var limit: RateLimit?
    public var expiresAt: Date?
    public var networks: [IPNetwork]
  }

  /// Checks the request, except whether its locale and its pack exist.
  ///
  /// - Throws: ``Fault``.
  public func checked(at now: Date) throws(Fault) -> Checked {
    if scopes.isEmpty { throw .noScopes }
    if scopes.contains(.device) { throw .deviceScope }
    if scopes.contains(.test), scopes.count > 1 { throw .testAndOthers }
    for (field, value) in [("account", account), ("name", name), ("locale", locale), ("pack", pack)] {
      if let value, !value.isPlain() { throw .text(field: field) }
    }
    if account.hasPrefix(Self.reservedAccounts) { throw .accountReserved }
    if scopes.contains(.test), account.utf8.count > TestAccount.longestAccount { throw .testAccountTooLong }
    if let group, !GroupContainer.isGroupName(group) { throw .groupInvalid }
    if rate == nil, burst != nil { throw .burstWithoutRate }
    return Checked(limit: try limit, expiresAt: try expiry(at: now), networks: try networks)
  }

  /// The prefix of account names that no client may use.
  static let reservedAccounts = "crier:"

  private var limit: RateLimit? {
    get throws(Fault) {
      guard let rate else { return nil }
      do {
        return try RateLimit(rate: rate, burst: burst)
      } catch {
        throw .rateInvalid("\(error)")
      }
    }
  }

  private func expiry(at now: Date) throws(Fault) -> Date? {
    guard let expires else { return nil }
    guard let expiry = KeyTimes.moment(expires, now: now) else { throw .expiryUnreadable(expires) }
    guard expiry > now else { throw .expiryPast(expires) }
    return expiry
  }

  private var networks: [IPNetwork] {
    get throws(Fault) {
      guard addresses.count <= NewKey.mostAddresses else { throw .tooManyAddresses(addresses.count) }
      var networks: [IPNetwork] = []
      for text in addresses {
        do throws(IPNetwork.Fault) {
          networks.append(try IPNetwork(text))
        } catch {
          throw .addressInvalid(text, reason: error.description)
        }
      }
      return networks
    }
  }

  /// Returns the key for the ledger.
  ///
  /// - Parameters:
  ///   - checked: The result of ``checked(at:)``.
  ///   - locale: The locale as the phrase books spell it.
  public func newKey(_ key: APIKey, _ checked: Checked, locale: String?) -> NewKey {
    NewKey(
      id: key.id, account: account, digest: key.digest, scopes: scopes.names, name: name, locale: locale, pack: pack,
      group: group, rate: checked.limit.map { NewKey.Rate(perSecond: $0.rate, burst: $0.burst) },
      expiresAt: checked.expiresAt, addresses: checked.networks.map(\.description), isStrict: isStrict)
  }
}

extension String {
  /// Returns whether the text has at least one byte, not too many bytes, and no control characters.
  func isPlain(upTo longest: Int = 255) -> Bool {
    (1...longest).contains(utf8.count) && unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
  }
}
