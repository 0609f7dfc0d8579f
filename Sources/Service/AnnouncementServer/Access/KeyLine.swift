// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Ledger
import ServiceAccess

/// One key as `crier keys list` and the service list it.
public struct KeyLine: Encodable, Sendable {
  public var id: String
  public var account: String
  public var scopes: [String]
  public var name: String?
  public var locale: String?
  public var pack: String?
  public var group: String?
  /// The allowed rate, in requests per second.
  public var rate: Double?
  public var burst: Int?
  public var createdAt: Date
  public var lastUsedAt: Date?
  public var expiresAt: Date?
  public var revokedAt: Date?
  /// The id of the key that replaced this one.
  public var rotatedTo: String?
  /// The addresses and networks from which the key may be used; empty if it may be used from anywhere.
  public var addresses: [String]
  public var strict: Bool
  /// The id of the device that the key belongs to; nil for a key that belongs to no device.
  public var device: String?
  /// The id of the sign-in code that a person exchanged for the key; nil for any other key.
  public var signInCode: String?
  /// The name that identifies the key in the service's log.
  public var logName: String

  public init(_ key: Ledger.Key) {
    (id, account, scopes, name) = (key.id, key.account, key.scopes, key.name)
    (locale, pack, group) = (key.locale, key.pack, key.group)
    (rate, burst) = (key.rate?.perSecond, key.rate?.burst)
    (createdAt, lastUsedAt) = (key.createdAt, key.lastUsedAt)
    (expiresAt, revokedAt, rotatedTo) = (key.expiresAt, key.revokedAt, key.rotatedTo)
    (addresses, strict, device) = (key.addresses, key.isStrict, key.device)
    signInCode = key.signInCode
    logName = APIKey.logName(ofDigest: key.digest)
  }
}
