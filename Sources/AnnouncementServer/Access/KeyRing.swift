// SPDX-License-Identifier: Apache-2.0

import Announcements
import ConcurrencySupport
import Crypto
import Foundation
import HTTPTypes
import HummingbirdCore
import Ledger
import ServiceAccess

/// Who calls: keys as the ledger has them, remembered for a moment, with what each may still send.
final class KeyRing: Sendable {
  /// What is remembered of keys is compared with the ledger's after so long: a revoked key is refused from then on at the
  /// latest. One that is not known is always looked up.
  static let memory: Duration = .milliseconds(100)

  private struct State {
    var version: Int64?
    var checkedAt: Duration?
    /// By the digests of their keys.
    var callers: [Data: Caller] = [:]
    /// By the ids of their keys.
    var signers: [String: Caller] = [:]
    /// What tells a key that is none without a look at the ledger.
    var roster: Roster?
    var buckets: [String: TokenBucket] = [:]
    var used: Set<String> = []
    /// The app groups of all keys.
    var groups: Set<String>?
  }

  /// All keys that are not revoked.
  private struct Roster: Sendable {
    var digests: Set<Data> = []
    var ids: Set<String> = []
  }

  private let ledger: Ledger
  private let versionLooks = SingleFlight<String, Void>()
  /// By the version of the keys.
  private let rosterReads = SingleFlight<Int64?, Roster>()
  private let defaultLimit: RateLimit
  let unproven: UnprovenBodies
  private let time: @Sendable () -> Duration
  private let date: @Sendable () -> Date
  private let state = Locked(State())

  /// - Parameters:
  ///   - defaultLimit: of keys that have none of their own.
  ///   - unproven: for bodies that are read before their signature can be checked.
  ///   - date: the calendar's time, by which keys expire and signed requests are told from old ones.
  ///   - time: since a moment of its own; never runs backwards.
  init(
    ledger: Ledger, defaultLimit: RateLimit, unproven: BodyBudget.Limits = BodyBudget.Limits(),
    date: @escaping @Sendable () -> Date = { Date() }, time: @escaping @Sendable () -> Duration
  ) {
    self.ledger = ledger
    self.unproven = UnprovenBodies(unproven, time: time)
    self.defaultLimit = defaultLimit
    self.date = date
    self.time = time
  }

  convenience init(ledger: Ledger, defaultLimit: RateLimit) {
    let origin = ContinuousClock.now
    self.init(ledger: ledger, defaultLimit: defaultLimit) { ContinuousClock.now - origin }
  }

  private var now: Duration { time() }

  // MARK: Who it is

  /// Who sends a call, by its `Authorization`.
  ///
  /// - Parameters:
  ///   - call: its body is read when it is signed. ``admitOnce(_:_:)`` is to be called too.
  ///   - failures: for whoever has used up what it allows, the ledger is not read to tell that a key is none.
  /// - Throws: ``Problem``, 401; `LedgerError`.
  func caller(of call: inout Call, failures: FailureGate? = nil) async throws -> Caller {
    guard let field = call.header(.authorization) else {
      throw Problem(
        .unauthorized, "key_missing", "This call needs a key: send Authorization: Bearer, and the key after it.")
    }
    // As nearly all send it; the others are taken apart.
    if field.hasPrefix("Bearer crier_"), !field.hasSuffix(" ") {
      return try await caller(key: String(field.dropFirst("Bearer ".count)), from: call, failures)
    }
    let parts = field.split(separator: " ", maxSplits: 1).map(String.init)
    switch (parts.first?.lowercased(), parts.count) {
    case ("bearer", 2):
      return try await caller(key: parts[1].trimmingCharacters(in: .whitespaces), from: call, failures)
    case ("crier", 2): return try await caller(signing: &call, keyID: parts[1], failures)
    default:
      throw Problem(
        .unauthorized, "key_malformed", "The Authorization cannot be read: send Bearer, a space, and the key.")
    }
  }

  /// Who sends a call, if that is remembered and holds at this moment.
  ///
  /// - Parameter authorization: the field's value.
  func remembered(_ authorization: String) -> Caller? {
    guard authorization.hasPrefix("Bearer crier_") else { return nil }
    let digest = Self.digest(of: authorization.utf8.dropFirst("Bearer ".utf8.count))
    let now = now
    let known: Caller? = state.withLock { state in
      guard let checkedAt = state.checkedAt, now - checkedAt < Self.memory else { return nil }
      return state.callers[digest]
    }
    // Where a call comes from is looked at in the usual way, and what has expired is refused there.
    guard let known, known.networks == nil, !known.isExpired(at: date()) else { return nil }
    return known
  }

  private static func digest(of text: some Sequence<UInt8>) -> Data { Data(SHA256.hash(data: Data(text))) }

  private func caller(key text: String, from call: Call, _ failures: FailureGate?) async throws -> Caller {
    let caller = try await caller(key: text) { failures?.isUsedUp(by: call) == true }
    try admit(caller, from: call)
    return caller
  }

  /// Lets a caller in whose key has not expired and may be used where the call comes from.
  ///
  /// - Throws: ``Problem``: 401 `key_expired`, 403 `address_not_allowed`.
  private func admit(_ caller: Caller, from call: Call) throws(Problem) {
    guard !caller.isExpired(at: date()) else {
      throw Problem(
        .unauthorized, "key_expired", "The key has expired: use the one that took its place, or make another one.")
    }
    guard let networks = caller.networks else { return }
    guard let address = call.remoteAddress, networks.contains(where: { $0.contains(address) }) else {
      throw Problem(
        .forbidden, "address_not_allowed",
        "The key may not be used from this address: use it where it belongs, or make one for here.")
    }
  }

  /// - Parameter isSuspect: whether the ledger is not to be read for a key that is none.
  private func caller(key text: String, isSuspect: () -> Bool) async throws -> Caller {
    let digest = Self.digest(of: text.utf8)
    try await forgetChanged()
    if let known = state.withLock({ $0.callers[digest] }) { return known }
    let key = try APIKey(text)
    if isSuspect() { try await requireKey { $0.digests.contains(digest) } }
    let version = state.withLock { $0.version }
    // By its digest it was found, and by its digest, in a time that tells nothing, it is compared.
    guard let found = try await ledger.key(digest: digest), key.hasDigest(found.digest) else { throw Self.unknown }
    return remember(found, version)
  }

  /// The caller that a signed request names.
  private func signer(_ keyID: String, isSuspect: () -> Bool) async throws -> Caller {
    try await forgetChanged()
    if let known = state.withLock({ $0.signers[keyID] }) { return known }
    guard APIKey.isID(keyID) else { throw Self.unknown }
    if isSuspect() { try await requireKey { $0.ids.contains(keyID) } }
    let version = state.withLock { $0.version }
    guard let found = try await ledger.key(id: keyID) else { throw Self.unknown }
    return remember(found, version)
  }

  /// - Parameter version: that of the keys before this one was read.
  private func remember(_ key: Ledger.Key, _ version: Int64?) -> Caller {
    let caller = described(key)
    state.withLock { state in
      // It may have been revoked since it was read, and that have been noticed: then it is not remembered.
      if state.version == version {
        state.callers[caller.digest] = caller
        state.signers[caller.keyID] = caller
      }
      // The key may be newer than what is remembered of all.
      if let group = caller.defaults.group { state.groups?.insert(group) }
    }
    return caller
  }

  /// Refuses a key that is none, without a look at the ledger for it: all keys are read when they have changed. A key
  /// that is newer than what was read is waited for, for as long as ``memory``, so that no good key is refused.
  ///
  /// - Throws: ``Problem``, 401 `key_unknown`.
  private func requireKey(_ isKey: (Roster) -> Bool) async throws {
    if isKey(try await roster()) { return }
    let moment = now
    while let checkedAt = state.withLock({ $0.checkedAt }), checkedAt < moment {
      try await Task.sleep(for: Self.memory - (now - checkedAt))
      try await forgetChanged()
    }
    guard isKey(try await roster()) else { throw Self.unknown }
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

  private func caller(signing call: inout Call, keyID: String, _ failures: FailureGate?) async throws -> Caller {
    let signed = try SignedRequest(
      timestamp: call.header(HTTPField.Name(token: SignedRequest.timestampField)),
      signature: call.header(HTTPField.Name(token: SignedRequest.signatureField)))
    let caller = try await signer(keyID) { [call] in failures?.isUsedUp(by: call) == true }
    // A stranger who names a key's id learns no more than that it is one, which is no secret.
    try admit(caller, from: call)
    let now = date()
    // Before the body is read: what is old is nobody's to hold memory with.
    guard abs(now.timeIntervalSince1970 - Double(signed.timestamp)) <= Double(SignedRequest.window) else {
      throw Problem(
        .unauthorized, "timestamp_outside_window",
        "The signed request's time is too far from the service's: set the clock, and sign each attempt anew.")
    }
    // Until the signature is checked the sender is nobody: the body takes of what there is for those, and of no account's.
    let isBatch = call.request.uri.path == BatchCalls.path
    let body = try await unproven.read(
      call, keyID: keyID, upTo: isBatch ? BatchCalls.largestBody : AnnouncementCalls.largestBody)
    call.readBody = body
    let content = SignedRequest.Content(
      method: call.request.method.rawValue, target: call.request.uri.string,
      idempotencyKey: call.header(.idempotencyKey), contentType: call.header(.contentType), body: body)
    try signed.check(content, keyDigest: caller.digest, at: now)
    call.signed = signed
    // The body may have taken long.
    guard let caller = try await current(caller) else { throw Self.unknown }
    return caller
  }

  /// Lets a signed request in that did not come before, to any service of this ledger. What changes nothing may come
  /// again, and is not remembered.
  ///
  /// One that came before may be anybody's: it costs its key nothing of its limit.
  ///
  /// - Throws: `AccessError`, `LedgerError`.
  func admitOnce(_ call: Call, _ caller: Caller) async throws {
    guard let signed = call.signed, call.request.method != .get, call.request.method != .head else { return }
    let outcome = try await ledger.admitSignedRequest(
      signed.signature, keyID: caller.keyID, signedAt: signed.timestamp)
    switch outcome {
    case .admitted: return
    case .replayed:
      giveBack(caller)
      throw AccessError(.replayed)
    case .forgotten: throw AccessError(.timestampOutsideWindow)
    case .tooMany: throw AccessError(.tooManyRemembered)
    }
  }

  /// Whether a caller's key is in force still, for answers that take long.
  ///
  /// - Throws: `LedgerError`.
  func isInForce(_ caller: Caller) async throws -> Bool { try await current(caller) != nil }

  /// A caller as its key is now; nil when it was revoked or has expired.
  private func current(_ caller: Caller) async throws -> Caller? {
    try await forgetChanged()
    let (known, version) = state.withLock { ($0.callers[caller.digest], $0.version) }
    var current = known
    if current == nil, let key = try await ledger.key(id: caller.keyID), key.digest == caller.digest {
      current = remember(key, version)
    }
    let now = date()
    return current.flatMap { $0.isExpired(at: now) ? nil : $0 }
  }

  /// Checks a caller again when its body has come, which may have taken long.
  ///
  /// - Throws: ``Problem``, 401 `key_unknown`, for a key that was revoked or expired meanwhile; `LedgerError`.
  func requireInForce(_ caller: Caller) async throws {
    guard try await isInForce(caller) else { throw Self.unknown }
  }

  /// The app groups that keys have, revoked ones among them: they are the operator's, as those of the settings are.
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

  private static let unknown = Problem(
    .unauthorized, "key_unknown", "The key is not known, or was revoked: make one with crier keys create.")

  private func described(_ key: Ledger.Key) -> Caller {
    let limit = key.rate.flatMap { try? RateLimit(rate: $0.perSecond, burst: $0.burst) } ?? defaultLimit
    return Caller(
      keyID: key.id, account: key.account, digest: key.digest, scopes: Set(names: key.scopes),
      defaults: AnnouncementRequest.Defaults(locale: key.locale, pack: key.pack, group: key.group), limit: limit,
      expiresAt: key.expiresAt,
      // One that cannot be read allows nothing.
      networks: key.addresses.isEmpty ? nil : key.addresses.compactMap { try? IPNetwork($0) }, isStrict: key.isStrict)
  }

  /// Forgets what is remembered of keys when the ledger's have changed. One look is for all who come meanwhile.
  private func forgetChanged() async throws {
    let moment = now
    let isFresh = state.withLock { state in state.checkedAt.map { moment - $0 < Self.memory } ?? false }
    if isFresh { return }
    _ = try await versionLooks.value(for: "keys") { [self] in
      let now = now
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

  // MARK: How often

  /// Takes one request from what a caller may send.
  func admit(_ caller: Caller) -> TokenBucket.Answer {
    let now = now
    return state.withLock { state in
      var bucket = state.buckets[caller.keyID] ?? TokenBucket(caller.limit)
      if bucket.limit != caller.limit { bucket = TokenBucket(caller.limit) }
      let answer = bucket.take(at: now)
      state.buckets[caller.keyID] = bucket
      state.used.insert(caller.keyID)
      return answer
    }
  }

  private func giveBack(_ caller: Caller) {
    let now = now
    state.withLock { $0.buckets[caller.keyID]?.giveBack(at: now) }
  }

  /// Has the ledger forget signed requests that are too old to be accepted.
  func forgetSignedRequests() async throws(LedgerError) {
    let moment = Int64(date().timeIntervalSince1970.rounded(.down)) - SignedRequest.window
    try await ledger.forgetSignedRequests(before: moment)
  }

  /// Tells the ledger which keys were used since it was told last, and forgets who sends nothing any more.
  func recordUse() async {
    let now = now
    let used = state.withLock { state in
      defer { state.used = [] }
      state.buckets = state.buckets.filter { !$0.value.isFull(at: now) }
      return state.used
    }
    // For people who look at a list; another time will do.
    try? await ledger.recordUse(ofKeys: used)
  }
}
