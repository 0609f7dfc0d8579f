// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A new code with which a person signs in. The ledger stores the code's digest and never the code itself.
public struct NewSignInCode: Sendable, Hashable {
  /// The id that names the code in lists: 1 to 64 bytes. It is not secret.
  public var id: String
  /// The SHA-256 digest of the code, 32 bytes.
  public var digest: Data
  /// The scope of the key that the code is exchanged for, 1 to 32 lower-case letters.
  public var scope: String
  /// The account of the new key, 1 to 255 bytes.
  public var account: String
  /// The name of the new key for people, 1 to 255 bytes.
  public var name: String
  /// The days for which the new key is valid, counted from the exchange.
  public var days: Int
  /// The addresses and networks from which the new key may be used, as in ``NewKey/addresses``.
  public var addresses: [String]
  /// The id of the key that makes the code; nil if a user of this machine does. The code ends with this key.
  public var maker: String?

  public init(
    id: String, digest: Data, scope: String, account: String, name: String, days: Int, addresses: [String] = [],
    maker: String? = nil
  ) {
    (self.id, self.digest, self.scope, self.account) = (id, digest, scope, account)
    (self.name, self.days, self.addresses, self.maker) = (name, days, addresses, maker)
  }

  /// The days for which the key of a code can be valid.
  public static let dayCounts = 1...3_650

  /// The first rule that a value breaks; nil when the code can be stored.
  package var brokenRule: String? {
    if !Self.dayCounts.contains(days) {
      return "days (\(Self.dayCounts.lowerBound) to \(Self.dayCounts.upperBound))"
    }
    if name.isEmpty { return "name (1 to 255 bytes without NUL)" }
    // The other rules are those of the key.
    return NewKey(id: id, account: account, digest: digest, scopes: [scope], name: name, addresses: addresses)
      .brokenRule
  }
}
