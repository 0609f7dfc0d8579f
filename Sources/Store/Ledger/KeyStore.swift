// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension Ledger {
  /// Keys, sign-in codes, signed requests, and the log of administration. Each call is one whole transaction.
  public protocol KeyStore: Sendable {
    /// Adds an entry to the log of administration. The entry is durable when the call returns and is never changed.
    ///
    /// - Parameter subject: The value of ``AdministrativeAct/subject``, at most 255 bytes.
    func record(_ action: AdministrativeAct.Action, by actor: Administrator, subject: String?) async throws(LedgerError)

    /// Returns the log's entries after an entry, oldest first.
    ///
    /// - Parameters:
    ///   - number: The number of the last entry that the caller has seen; 0 for none.
    ///   - limit: The maximum number of entries, 1 to 1,000.
    func administrativeActs(after number: Int64, limit: Int) async throws(LedgerError) -> [AdministrativeAct]

    /// Stores a key and logs its creation. Both are durable when the call returns.
    ///
    /// - Parameter actor: The administrator who creates the key.
    /// - Throws: ``LedgerError`` with `keyExists` when another key, even a revoked one, has the same id or digest;
    ///   `invalidValue`, `diskFull`, `busy` or a file error. Nothing was stored then.
    @discardableResult
    func createKey(_ new: NewKey, by actor: Administrator) async throws(LedgerError) -> Key

    /// Creates a key that replaces another one, with the same account, scopes, limits and settings. The old key expires
    /// after an overlap in which both are valid. The change is durable when the call returns.
    ///
    /// The new key's lifetime is the old key's original lifetime, counted from now.
    ///
    /// - Parameters:
    ///   - overlap: The time in which both keys are valid, in seconds; 0 ends the old key now. An old key that expires
    ///     earlier keeps its time of expiry.
    ///   - newID: The new key's id, as in ``NewKey``.
    ///   - digest: The new key's digest, as in ``NewKey``.
    /// - Returns: The old key as changed, and the new key; nil when no key has the id.
    /// - Throws: ``LedgerError`` with `keyNotInForce` when the old key is revoked, has expired or was rotated before;
    ///   `keyExists`, `invalidValue`, or a file error. Nothing was changed then.
    @discardableResult
    func rotateKey(
      _ id: String, to newID: String, digest: Data, overlap: TimeInterval, by actor: Administrator
    ) async throws(LedgerError) -> (old: Key, new: Key)?

    /// Returns all keys, including revoked ones, in the order of their creation.
    func keys() async throws(LedgerError) -> [Key]

    /// Returns the app groups of all keys, including revoked ones.
    func keyGroups() async throws(LedgerError) -> Set<String>

    /// Returns the key with a digest; nil when there is none or it is revoked. The key may have expired.
    func key(digest: Data) async throws(LedgerError) -> Key?

    /// Returns the key with an id; nil when there is none or it is revoked. The key may have expired.
    func key(id: String) async throws(LedgerError) -> Key?

    /// Revokes a key permanently. The change is durable when the call returns. A key that is already revoked keeps its
    /// time of revocation.
    ///
    /// - Parameter actor: The administrator who revokes the key.
    /// - Returns: The key; nil when no key has the id, and then nothing was changed.
    @discardableResult
    func revokeKey(_ id: String, by actor: Administrator) async throws(LedgerError) -> Key?

    /// Returns a number that changes whenever any process creates, changes or revokes a key. A cache of keys is valid
    /// while the number stays the same. The call reads one row.
    func keysVersion() async throws(LedgerError) -> Int64

    /// Records when keys were last used. The record helps people decide whether a key is still needed. Each call is a
    /// write, so call it every few minutes and not for every request. ``keysVersion()`` does not change.
    ///
    /// - Parameter uses: The time of the last use, by the id of the key. A time that is earlier than the recorded one
    ///   changes nothing, because another process may have recorded a later use first.
    func recordUse(ofKeys uses: [String: Date]) async throws(LedgerError)

    /// Stores a code, logs its creation, and forgets codes that expired more than a day ago. The code is durable when
    /// the call returns.
    ///
    /// - Parameters:
    ///   - lifetime: The time for which the code is valid, in seconds.
    ///   - actor: The administrator who makes the code.
    /// - Throws: ``LedgerError`` with `keyExists` when another code has the same id or digest; `invalidValue`,
    ///   `diskFull`, `busy` or a file error. Nothing was stored then.
    @discardableResult
    func createSignInCode(
      _ new: NewSignInCode, lifetime: TimeInterval, by actor: Administrator
    ) async throws(LedgerError) -> SignInCode

    /// Returns the codes that can still be exchanged, in the order of their creation.
    func signInCodes() async throws(LedgerError) -> [SignInCode]

    /// Removes a code that was not exchanged, and logs it. The change is durable when the call returns.
    ///
    /// - Parameter actor: The administrator who removes the code.
    /// - Returns: The code; nil when no such code has the id, and then nothing was changed.
    @discardableResult
    func removeSignInCode(_ id: String, by actor: Administrator) async throws(LedgerError) -> SignInCode?

    /// Exchanges a code for a new key, once. The key is durable when the call returns. For an unknown code, nothing is
    /// written.
    ///
    /// - Parameters:
    ///   - digest: The digest of the code.
    ///   - keyID: The new key's id, as in ``NewKey``.
    ///   - keyDigest: The new key's digest, as in ``NewKey``.
    /// - Throws: ``LedgerError`` with `keyExists`, `diskFull`, `busy` or a file error. The code is not used up then.
    func signIn(withCode digest: Data, keyID: String, keyDigest: Data) async throws(LedgerError) -> SignIn

    /// Remembers a signed request whose signature is valid, so that it is admitted only once: by this process, by any
    /// other process that has the file open, and after a restart. The record is durable when the call returns.
    ///
    /// - Parameters:
    ///   - signature: The signature, 32 bytes; no two requests have the same signature.
    ///   - keyID: The id of the key that signed the request.
    ///   - signedAt: The time of signing in seconds since 1970, by the sender's clock.
    ///   - most: The maximum number of requests to remember for the key.
    /// - Throws: ``LedgerError`` with `waitingListFull`, `diskFull`, `busy` or a file error. Nothing was stored then.
    func admitSignedRequest(
      _ signature: Data, keyID: String, signedAt: Int64, atMost most: Int64
    ) async throws(LedgerError) -> SignedRequestOutcome

    /// Forgets signed requests that are too old to be accepted. Requests signed at or before the newest forgotten time
    /// are refused from then on, even if a clock is set back.
    ///
    /// - Parameter moment: A time in seconds since 1970, by the senders' clocks. Requests signed earlier are forgotten.
    /// - Returns: The number of forgotten requests.
    @discardableResult
    func forgetSignedRequests(before moment: Int64) async throws(LedgerError) -> Int
  }
}

extension Ledger.KeyStore {
  /// Calls ``administrativeActs(after:limit:)`` with `1000` for `limit`.
  public func administrativeActs(after number: Int64 = 0) async throws(LedgerError) -> [Ledger.AdministrativeAct] {
    try await administrativeActs(after: number, limit: 1000)
  }

  /// Calls ``createKey(_:by:)`` with `.currentUser` for `by`.
  @discardableResult
  public func createKey(_ new: NewKey) async throws(LedgerError) -> Ledger.Key {
    try await createKey(new, by: .currentUser)
  }

  /// Calls ``rotateKey(_:to:digest:overlap:by:)`` with `.currentUser` for `by`.
  @discardableResult
  public func rotateKey(
    _ id: String, to newID: String, digest: Data, overlap: TimeInterval
  ) async throws(LedgerError) -> (old: Ledger.Key, new: Ledger.Key)? {
    try await rotateKey(id, to: newID, digest: digest, overlap: overlap, by: .currentUser)
  }

  /// Calls ``revokeKey(_:by:)`` with `.currentUser` for `by`.
  @discardableResult
  public func revokeKey(_ id: String) async throws(LedgerError) -> Ledger.Key? {
    try await revokeKey(id, by: .currentUser)
  }

  /// Calls ``createSignInCode(_:lifetime:by:)`` with `.currentUser` for `by`.
  @discardableResult
  public func createSignInCode(
    _ new: NewSignInCode, lifetime: TimeInterval
  ) async throws(LedgerError) -> Ledger.SignInCode {
    try await createSignInCode(new, lifetime: lifetime, by: .currentUser)
  }

  /// Calls ``removeSignInCode(_:by:)`` with `.currentUser` for `by`.
  @discardableResult
  public func removeSignInCode(_ id: String) async throws(LedgerError) -> Ledger.SignInCode? {
    try await removeSignInCode(id, by: .currentUser)
  }
}
