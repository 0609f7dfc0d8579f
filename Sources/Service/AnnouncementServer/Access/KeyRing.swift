// SPDX-License-Identifier: Apache-2.0

import Announcements
import ConcurrencySupport
import Crypto
import Foundation
import HTTPTypes
import HostAddresses
import HummingbirdCore
import Ledger
import ServiceAccess

/// The cache of the ledger's keys. It identifies callers and holds the state of each key's rate limit.
final class KeyRing: Sendable {
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
    var buckets: [String: TokenBucket] = [:]
    /// The times of the last uses that are not yet in the ledger, by the id of the key.
    var used: [String: Date] = [:]
    /// The app groups of all keys.
    var groups: Set<String>?
  }

  /// The digests and ids of all keys that are not revoked.
  private struct Roster: Sendable {
    var digests: Set<Data> = []
    var ids: Set<String> = []
  }

  private let ledger: Ledger
  private let versionLooks = SingleFlight<String, Void>()
  /// The reads of the roster, by the version of the ledger's keys.
  private let rosterReads = SingleFlight<Int64?, Roster>()
  private let defaultLimit: RateLimit
  let unproven: UnprovenBodies
  private let time: @Sendable () -> Duration
  private let sleep: @Sendable (Duration) async throws -> Void
  private let date: @Sendable () -> Date
  private let state = Locked(State())

  /// - Parameters:
  ///   - defaultLimit: The rate limit of keys that have no limit of their own.
  ///   - unproven: The limits for bodies that are read before their signature can be checked.
  ///   - date: The calendar time. It decides whether a key has expired and whether a signed request is too old.
  ///   - sleep: Waits for a duration of `time`.
  ///   - time: The time since an arbitrary origin; it never runs backwards.
  init(
    ledger: Ledger, defaultLimit: RateLimit, unproven: BodyBudget.Limits = BodyBudget.Limits(),
    date: @escaping @Sendable () -> Date = { Date() },
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
    time: @escaping @Sendable () -> Duration
  ) {
    self.ledger = ledger
    self.unproven = UnprovenBodies(unproven, time: time)
    self.defaultLimit = defaultLimit
    self.date = date
    self.sleep = sleep
    self.time = time
  }

  private var now: Duration { time() }

  // MARK: Identifying callers

  /// Returns the sender of a call, identified by the field `Authorization`.
  ///
  /// - Parameters:
  ///   - call: The call. It gets the name of its key. If it is signed, its body is read. The caller must also call
  ///     ``admitOnce(_:_:)``.
  ///   - failures: The limit of failures. If the client has used it up, an unknown key is refused without a ledger
  ///     lookup of that key.
  /// - Throws: ``Problem`` with 401, or with 403 if the key may not be used from the client's address; the errors of
  ///   reading a signed body; `LedgerError`.
  func caller(of call: inout Call, failures: FailureGate? = nil) async throws -> Caller {
    guard let field = call.header(.authorization) else {
      throw Problem(
        .unauthorized, "key_missing",
        "This call needs a key. Send the Authorization header with Bearer, a space and the key.")
    }
    // Nearly all clients send this form. Other forms are parsed below.
    if field.hasPrefix(Self.usualStart), !field.hasSuffix(" ") {
      return try await caller(key: String(field.dropFirst("Bearer ".count)), from: &call, failures)
    }
    let parts = field.split(separator: " ", maxSplits: 1).map(String.init)
    switch (parts.first?.lowercased(), parts.count) {
    case ("bearer", 2):
      return try await caller(key: parts[1].trimmingCharacters(in: .whitespaces), from: &call, failures)
    case ("crier", 2): return try await caller(signing: &call, keyID: parts[1], failures)
    default:
      throw Problem(
        .unauthorized, "key_malformed", "The Authorization header is malformed. Send Bearer, a space and the key.")
    }
  }

  /// Returns the sender of a call without waiting, if the key is cached.
  ///
  /// - Parameter call: The call. It gets the name of its key.
  /// - Returns: nil if ``caller(of:failures:)`` must identify the sender.
  /// - Throws: ``Problem`` with 401 if the key has expired, or with 403 if it may not be used from the client's address.
  func remembered(for call: inout Call) throws(Problem) -> Caller? {
    guard let field = call.header(.authorization), field.hasPrefix(Self.usualStart), !field.hasSuffix(" ") else {
      return nil
    }
    let digest = Self.digest(of: field, from: "Bearer ".utf8.count)
    let now = now
    let known: Caller? = state.withLock { state in
      guard let checkedAt = state.checkedAt, now - checkedAt < Self.memory else { return nil }
      return state.callers[digest]
    }
    guard let known else { return nil }
    call.keyName = known.logName
    try admit(known, from: call)
    return known
  }

  /// The start of the field `Authorization` that nearly all clients send.
  private static let usualStart = "Bearer crier_"

  /// Returns the digest of a key.
  ///
  /// - Parameter start: The number of bytes before the key.
  private static func digest(of text: String, from start: Int = 0) -> Data {
    var text = text
    return text.withUTF8 {
      Data(SHA256.hash(data: UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: $0[start...]))))
    }
  }

  private func caller(key text: String, from call: inout Call, _ failures: FailureGate?) async throws -> Caller {
    let caller = try await caller(key: text) { [call] in failures?.isUsedUp(by: call) == true }
    call.keyName = caller.logName
    try admit(caller, from: call)
    return caller
  }

  /// Checks that the caller's key has not expired and may be used from the call's address.
  ///
  /// - Throws: ``Problem`` with 401 `key_expired` or 403 `address_not_allowed`.
  private func admit(_ caller: Caller, from call: Call) throws(Problem) {
    guard !caller.isExpired(at: date()) else {
      throw Problem(
        .unauthorized, "key_expired", "The key has expired. Use the key that replaced it, or create a new one.")
    }
    guard let networks = caller.networks else { return }
    guard let address = call.remoteAddress, networks.contains(where: { $0.contains(address) }) else {
      throw Problem(
        .forbidden, "address_not_allowed",
        "The key is not valid from this address. Use an allowed address, or create a key for this one.")
    }
  }

  /// - Parameter isSuspect: Returns whether the client has failed too often. If so, the ledger is not asked for an
  ///   unknown key.
  private func caller(key text: String, isSuspect: () -> Bool) async throws -> Caller {
    let digest = Self.digest(of: text)
    try await forgetChanged()
    if let known = state.withLock({ $0.callers[digest] }) { return known }
    let key = try APIKey(text)
    if isSuspect() { try await requireKey { $0.digests.contains(digest) } }
    let version = state.withLock { $0.version }
    // The key was found by its digest. The digests are then compared in constant time, so that the duration of the
    // comparison reveals nothing.
    guard let found = try await ledger.key(digest: digest), key.hasDigest(found.digest) else { throw Self.unknown }
    return remember(found, version)
  }

  /// Returns the caller whose key a signed request names.
  private func signer(_ keyID: String, isSuspect: () -> Bool) async throws -> Caller {
    try await forgetChanged()
    if let known = state.withLock({ $0.signers[keyID] }) { return known }
    guard APIKey.isID(keyID) else { throw Self.unknown }
    if isSuspect() { try await requireKey { $0.ids.contains(keyID) } }
    let version = state.withLock { $0.version }
    guard let found = try await ledger.key(id: keyID) else { throw Self.unknown }
    return remember(found, version)
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

  /// Refuses an unknown key without a ledger lookup of that key. Instead, all keys are read whenever the keys have
  /// changed. A key that may be newer than this list is refused only after a wait of at most ``memory`` and another
  /// check, so that no valid key is refused.
  ///
  /// - Throws: ``Problem`` with 401 `key_unknown`.
  private func requireKey(_ isKey: (Roster) -> Bool) async throws {
    if isKey(try await roster()) { return }
    let moment = now
    while let checkedAt = state.withLock({ $0.checkedAt }), checkedAt < moment {
      // Another process may have made the key, and the ledger sends no event about it. This waits until the next check
      // is due.
      try await sleep(Self.memory - (now - checkedAt))
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
    call.keyName = caller.logName
    // This check reveals only whether a key with this id exists, which is not a secret.
    try admit(caller, from: call)
    let now = date()
    // The age is checked before the body is read, so that the bodies of old requests take no memory.
    guard abs(now.timeIntervalSince1970 - Double(signed.timestamp)) <= Double(SignedRequest.window) else {
      throw Problem(
        .unauthorized, "timestamp_outside_window",
        "The timestamp is too far from the service's clock. Set your clock, and sign each attempt anew.")
    }
    // Until the signature is checked, the sender is unproven. The body counts towards the limits of unproven bodies,
    // not towards those of an account.
    let body = try await unproven.read(call, keyID: keyID, upTo: Self.largestBody(of: call.request.uri.path))
    call.readBody = body
    let content = SignedRequest.Content(
      method: call.request.method.rawValue, target: call.request.uri.string,
      idempotencyKey: call.header(.idempotencyKey), contentType: call.header(.contentType), body: body)
    try signed.check(content, keyDigest: caller.digest, at: now)
    call.signed = signed
    // Reading the body may have taken long, so the key is checked again.
    guard let caller = try await current(caller) else { throw Self.unknown }
    return caller
  }

  /// Returns the maximum size of the body of a signed request to a path, in bytes.
  private static func largestBody(of path: String) -> Int {
    switch path {
    case BatchRoutes.path: BatchRoutes.largestBody
    case _ where PlaybackRoutes.isChime(path): PlaybackRoutes.largestChime
    case _ where PackClipRoutes.isClip(path): PackClipRoutes.largestRecording
    default: AnnouncementRoutes.largestBody
    }
  }

  /// Admits a signed request if no service that shares this ledger has admitted it before. A request with GET or HEAD
  /// changes nothing, so it may be repeated and is not recorded.
  ///
  /// A repeated request may come from anybody who saw the first one, so it does not count towards the key's rate limit.
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

  /// Returns whether a caller's key is still valid. Responses that take long use this check.
  ///
  /// - Throws: `LedgerError`.
  func isInForce(_ caller: Caller) async throws -> Bool { try await current(caller) != nil }

  /// Returns the caller with the current state of its key, or nil if the key was revoked or has expired.
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

  /// Checks the caller's key again after the body was read, which may have taken long.
  ///
  /// - Throws: ``Problem`` with 401 `key_unknown` if the key was revoked or expired meanwhile; `LedgerError`.
  func requireInForce(_ caller: Caller) async throws {
    guard try await isInForce(caller) else { throw Self.unknown }
  }

  /// Returns whether a caller's key is cached and valid at this moment. If not, ``requireInForce(_:)`` asks the ledger.
  func isRemembered(_ caller: Caller) -> Bool {
    let (now, date) = (now, date())
    return state.withLock { state in
      guard let checkedAt = state.checkedAt, now - checkedAt < Self.memory else { return false }
      return state.callers[caller.digest].map { !$0.isExpired(at: date) } ?? false
    }
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

  static let unknown = Problem(
    .unauthorized, "key_unknown",
    "The key is unknown, was revoked, or has a typing error. Copy the whole key, or create one with crier keys create.")

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

  /// Clears the cached keys if the ledger's keys have changed. Concurrent callers share one read of the ledger.
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

  // MARK: Limiting rates

  /// Counts one request towards the caller's rate limit.
  func admit(_ caller: Caller) -> RateLimitDecision {
    let (now, date) = (now, date())
    return state.withLock { state in
      var bucket = state.buckets[caller.keyID] ?? TokenBucket(caller.limit)
      if bucket.limit != caller.limit { bucket = TokenBucket(caller.limit) }
      let decision = bucket.take(at: now)
      state.buckets[caller.keyID] = bucket
      state.used[caller.keyID] = date
      return decision
    }
  }

  private func giveBack(_ caller: Caller) {
    let now = now
    state.withLock { $0.buckets[caller.keyID]?.giveBack(at: now) }
  }

  /// Deletes the ledger's records of signed requests that are too old to be accepted.
  func forgetSignedRequests() async throws(LedgerError) {
    let moment = Int64(date().timeIntervalSince1970.rounded(.down)) - SignedRequest.window
    try await ledger.forgetSignedRequests(before: moment)
  }

  /// Writes to the ledger when keys were used since the last call, and drops the rate limit state of idle keys.
  func recordUse() async {
    let now = now
    let used = state.withLock { state in
      defer { state.used = [:] }
      state.buckets = state.buckets.filter { !$0.value.isFull(at: now) }
      return state.used
    }
    // The time of use is only shown in lists of keys, so a failed write is ignored.
    try? await ledger.recordUse(ofKeys: used)
  }
}
