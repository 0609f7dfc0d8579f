// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension Ledger {
  /// A stored code with which a person signs in.
  public struct SignInCode: Sendable, Hashable {
    public let id: String
    public let scope: String
    public let account: String
    /// The name of the key that the code is exchanged for.
    public let name: String
    /// The days for which the new key is valid, counted from the exchange.
    public let days: Int
    /// The addresses and networks from which the new key may be used; empty for all.
    public let addresses: [String]
    public let createdAt: Date
    public let expiresAt: Date
    /// The id of the key that made the code; nil if a user of this machine did.
    package let maker: String?
    package let usedAt: Date?

    /// Returns the reason why the code cannot be exchanged at a moment; nil if it can be exchanged.
    package func refusal(at moment: Date) -> SignIn? {
      if usedAt != nil { return .used }
      return expiresAt <= moment ? .expired : nil
    }

    /// Returns the key that the code is exchanged for.
    ///
    /// - Parameters:
    ///   - id: The key's id, as in ``NewKey``.
    ///   - digest: The key's digest, as in ``NewKey``.
    ///   - moment: The time of the exchange.
    package func key(id: String, digest: Data, at moment: Date) -> NewKey {
      NewKey(
        id: id, account: account, digest: digest, scopes: [scope], name: name,
        expiresAt: moment.addingTimeInterval(Double(days) * 86_400), addresses: addresses, signInCode: self.id)
    }
  }

  /// The result of signing in with a code.
  public enum SignIn: Sendable, Hashable {
    /// The code was exchanged for this new key.
    case signedIn(Key)
    /// The code never existed, was removed, or was forgotten a day after it expired.
    case unknown
    /// The code was exchanged before.
    case used
    case expired
  }
}

extension Ledger.SignInCode {
  package init(row: some StoredRow) throws {
    self.init(
      id: try row.value("id"), scope: try row.value("scope"), account: try row.value("account"),
      name: try row.value("name"), days: try row.value("days"), addresses: try row.words("addresses"),
      createdAt: try row.value("created_at"), expiresAt: try row.value("expires_at"),
      maker: try row.optional("maker"), usedAt: try row.optional("used_at"))
  }
}
