// SPDX-License-Identifier: Apache-2.0

public import Ledger
public import ServiceAccess

/// The requested properties of a new sign-in code, from the command line or from the service.
public struct SignInRequest: Sendable, Hashable {
  /// The scope of the key that the code is exchanged for.
  public var scope: Scope
  public var account: String
  /// The name of the new key for people.
  public var name: String
  /// The days for which the new key is valid.
  public var days: Int

  /// The number of days for which a key is valid by default.
  public static let standardDays = 365

  public init(scope: Scope, account: String, name: String, days: Int = standardDays) {
    (self.scope, self.account, self.name, self.days) = (scope, account, name, days)
  }

  /// The first rule that a request breaks.
  public enum Fault: Error, Sendable, Hashable {
    /// The scope is not one of ``Scope/ofPeople``.
    case scope
    /// The text of a field is empty, longer than 255 bytes, or has control characters.
    case text(field: String)
    case accountReserved
    case days
  }

  /// Returns the code for the ledger.
  ///
  /// - Parameters:
  ///   - maker: The id of the key that asks for the code; nil for a user of this machine.
  ///   - addresses: The addresses and networks from which the key of the code may be used.
  /// - Throws: ``Fault``.
  public func newCode(
    _ code: SignInCode, maker: String? = nil, addresses: [String] = []
  ) throws(Fault) -> NewSignInCode {
    guard Scope.ofPeople.contains(scope) else { throw .scope }
    for (field, value) in [("account", account), ("name", name)] where !value.isPlain() {
      throw .text(field: field)
    }
    if account.hasPrefix(KeyRequest.reservedAccounts) { throw .accountReserved }
    guard NewSignInCode.dayCounts.contains(days) else { throw .days }
    return NewSignInCode(
      id: SignInCode.makeID(), digest: code.digest, scope: scope.rawValue, account: account, name: name, days: days,
      addresses: addresses, maker: maker)
  }
}
