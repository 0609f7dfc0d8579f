// SPDX-License-Identifier: Apache-2.0

import Announcements
import ConcurrencySupport
import Foundation
import HostAddresses
import Ledger
import ServiceAccess

/// A cache of the ledger's keys. It holds each key as the caller that the key identifies.
final class KeyCache: Sendable {
  /// The time for which cached keys are used before the ledger is asked whether its keys have changed. A revoked key is
  /// refused after this time at the latest. A key that is not cached is always looked up.
  static let memory: Duration = .milliseconds(100)

  private struct State {
    var version: Int64?
    var checkedAt: Duration?
    /// The callers by the digest of their key.
    var callers: [Data: Caller] = [:]
    /// The callers by the id of their key.
    var signers: [String: Caller] = [:]
    /// The existing keys, to recognise an unknown key without reading the ledger.
    var roster: Roster?
    /// The app groups of all keys.
    var groups: Set<String>?
  }

  /// The digests and ids of all keys that are not revoked.
  private struct Roster: Sendable {
    var digests: Set<Data> = []
    var ids: Set<String> = []
  }

  private let ledger: any Ledger.KeyStore
  private let defaultLimit: RateLimit
  private let versionLooks = SingleFlight<String, Void>()
  /// The reads of the roster that are in progress, by the version of the ledger's keys.
  private let rosterReads = SingleFlight<Int64?, Roster>()
  private let sleep: @Sendable (Duration) async throws -> Void
  private let time: @Sendable () -> Duration
  private let state = Locked(State())

  /// - Parameters:
  ///   - defaultLimit: The rate limit of keys that have no limit of their own.
  ///   - sleep: Waits for a duration of `time`.
  ///   - time: The time since an arbitrary origin; it never runs backwards.
  init(
    ledger: any Ledger.KeyStore, defaultLimit: RateLimit, sleep: @escaping @Sendable (Duration) async throws -> Void,
    time: @escaping @Sendable () -> Duration
  ) {
    self.ledger = ledger
    self.defaultLimit = defaultLimit
    self.sleep = sleep
    self.time = time
  }

  /// Returns the caller with a key's digest if it is cached and the cache is up to date.
  func remembered(_ digest: Data) -> Caller? {
    let now = time()
    return state.withLock { state in
      guard let checkedAt = state.checkedAt, now - checkedAt < Self.memory else { return nil }
      return state.callers[digest]
    }
  }

  /// Returns the caller whose key a request has.
  ///
  /// - Parameter isSuspect: Returns whether the client has failed too often. If so, the ledger is not asked for an
  ///   unknown key.
  /// - Throws: ``Problem`` with 401 `key_unknown`; `AccessError` for a text that is not a key; `LedgerError`.
  func caller(key text: String, digest: Data, isSuspect: () -> Bool) async throws -> Caller {
    try await forgetChanged()
    if let known = state.withLock({ $0.callers[digest] }) { return known }
    let key = try APIKey(text)
    if isSuspect() { try await requireKey { $0.digests.contains(digest) } }
    let version = state.withLock { $0.version }
    // The key was found by its digest. The digests are then compared in constant time, so that the duration of the
    // comparison reveals nothing.
    guard let found = try await ledger.key(digest: digest), key.hasDigest(found.digest) else { throw KeyRing.unknown }
    return remember(found, version)
  }

  /// Returns the caller whose key a signed request names.
  ///
  /// - Throws: As ``caller(key:digest:isSuspect:)``.
  func signer(_ keyID: String, isSuspect: () -> Bool) async throws -> Caller {
    try await forgetChanged()
    if let known = state.withLock({ $0.signers[keyID] }) { return known }
    guard APIKey.isID(keyID) else { throw KeyRing.unknown }
    if isSuspect() { try await requireKey { $0.ids.contains(keyID) } }
    let version = state.withLock { $0.version }
    guard let found = try await ledger.key(id: keyID) else { throw KeyRing.unknown }
    return remember(found, version)
  }

  /// Returns the caller with the current state of its key, or nil if the key was revoked.
  ///
  /// - Throws: `LedgerError`.
  func current(_ caller: Caller) async throws -> Caller? {
    try await forgetChanged()
    let (known, version) = state.withLock { ($0.callers[caller.digest], $0.version) }
    if let known { return known }
    guard let key = try await ledger.key(id: caller.keyID), key.digest == caller.digest else { return nil }
    return remember(key, version)
  }

  /// Returns the app groups of all keys, including revoked keys. The operator chose these groups, like those in the
  /// settings.
  ///
  /// - Throws: `LedgerError`.
  func groups() async throws -> Set<String> {
    try await forgetChanged()
    let (known, version) = state.withLock { ($0.groups, $0.version) }
    if let known { return known }
    let groups = try await ledger.keyGroups()
    state.withLock { state in
      if state.version == version { state.groups = groups }
    }
    return groups
  }

  /// - Parameter version: The version of the ledger's keys before this key was read.
  private func remember(_ key: Ledger.Key, _ version: Int64?) -> Caller {
    let caller = described(key)
    state.withLock { state in
      // If the version has changed since the key was read, the key may have been revoked, so it is not cached.
      if state.version == version {
        state.callers[caller.digest] = caller
        state.signers[caller.keyID] = caller
      }
      // The key may be newer than the cached groups of all keys.
      if let group = caller.defaults.group { state.groups?.insert(group) }
    }
    return caller
  }

  /// Refuses an unknown key without a ledger lookup of that key. Instead, the list of all keys is read again whenever
  /// the keys have changed. A key that may be newer than this list is refused only after a wait of at most ``memory``
  /// and another check, so that no valid key is refused.
  ///
  /// - Throws: ``Problem`` with 401 `key_unknown`.
  private func requireKey(_ isKey: (Roster) -> Bool) async throws {
    if isKey(try await roster()) { return }
    let moment = time()
    while let checkedAt = state.withLock({ $0.checkedAt }), checkedAt < moment {
      // Another process may have made the key, and the ledger sends no event about it. This waits until the next check
      // is due.
      try await sleep(Self.memory - (time() - checkedAt))
      try await forgetChanged()
    }
    guard isKey(try await roster()) else { throw KeyRing.unknown }
  }

  private func roster() async throws -> Roster {
    let (known, version) = state.withLock { ($0.roster, $0.version) }
    if let known { return known }
    let (roster, _) = try await rosterReads.value(for: version) { [ledger] in
      let keys = try await ledger.keys().filter { $0.revokedAt == nil }
      return Roster(digests: Set(keys.map(\.digest)), ids: Set(keys.map(\.id)))
    }
    state.withLock { state in
      if state.version == version { state.roster = roster }
    }
    return roster
  }

  /// Clears the cached keys if the ledger's keys have changed. Concurrent callers share one read of the ledger.
  private func forgetChanged() async throws {
    let moment = time()
    let isFresh = state.withLock { state in state.checkedAt.map { moment - $0 < Self.memory } ?? false }
    if isFresh { return }
    _ = try await versionLooks.value(for: "keys") { [self] in
      let now = time()
      let version = try await ledger.keysVersion()
      state.withLock { state in
        if state.version != version {
          (state.callers, state.signers, state.roster, state.groups) = ([:], [:], nil, nil)
        }
        state.version = version
        state.checkedAt = now
      }
    }
  }

  private func described(_ key: Ledger.Key) -> Caller {
    let limit = key.rate.flatMap { try? RateLimit(rate: $0.perSecond, burst: $0.burst) } ?? defaultLimit
    // The key of a device has the scope `device` and no other. No other key has this scope.
    let scopes = Set(names: key.scopes)
    return Caller(
      keyID: key.id, account: scopes.contains(.test) ? TestAccount.name(of: key.account) : key.account,
      digest: key.digest,
      scopes: key.device == nil ? scopes.subtracting([.device]) : scopes.intersection([.device]),
      defaults: AnnouncementRequest.Defaults(locale: key.locale, pack: key.pack, group: key.group), limit: limit,
      device: key.device, expiresAt: key.expiresAt,
      // A network that cannot be parsed is dropped. If no network is left, the key may not be used from anywhere.
      networks: key.addresses.isEmpty ? nil : key.addresses.compactMap { try? IPNetwork($0) }, isStrict: key.isStrict)
  }
}
