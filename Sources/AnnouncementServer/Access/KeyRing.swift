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
    var callers: [Data: Caller] = [:]
    var buckets: [String: TokenBucket] = [:]
    var used: Set<String> = []
    /// The app groups of all keys.
    var groups: Set<String>?
  }

  private let ledger: Ledger
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
  /// - Parameter call: its body is read when it is signed.
  /// - Throws: ``Problem``, 401; `LedgerError`.
  func caller(of call: inout Call) async throws -> Caller {
    guard let field = call.header(.authorization) else {
      throw Problem(
        .unauthorized, "key_missing", "This call needs a key: send Authorization: Bearer, and the key after it.")
    }
    // As nearly all send it; the others are taken apart.
    if field.hasPrefix("Bearer crier_"), !field.hasSuffix(" ") {
      return try await caller(key: String(field.dropFirst("Bearer ".count)), from: call)
    }
    let parts = field.split(separator: " ", maxSplits: 1).map(String.init)
    switch (parts.first?.lowercased(), parts.count) {
    case ("bearer", 2):
      return try await caller(key: parts[1].trimmingCharacters(in: .whitespaces), from: call)
    case ("crier", 2): return try await caller(signing: &call, keyID: parts[1])
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

  private func caller(key text: String, from call: Call) async throws -> Caller {
    let caller = try await caller(key: text)
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

  private func caller(key text: String) async throws -> Caller {
    let digest = Self.digest(of: text.utf8)
    try await forgetChanged()
    let (known, version) = state.withLock { ($0.callers[digest], $0.version) }
    if let known { return known }
    let key = try APIKey(text)
    // By its digest it was found, and by its digest, in a time that tells nothing, it is compared.
    guard let found = try await ledger.key(digest: digest), key.hasDigest(found.digest) else { throw Self.unknown }
    let caller = described(found)
    state.withLock { state in
      // It may have been revoked since it was read, and that have been noticed: then it is not remembered.
      if state.version == version { state.callers[digest] = caller }
      // The key may be newer than what is remembered of all.
      if let group = caller.defaults.group { state.groups?.insert(group) }
    }
    return caller
  }

  private func caller(signing call: inout Call, keyID: String) async throws -> Caller {
    let signed = try SignedRequest(
      timestamp: call.header(HTTPField.Name(token: SignedRequest.timestampField)),
      signature: call.header(HTTPField.Name(token: SignedRequest.signatureField)))
    guard APIKey.isID(keyID), let found = try await ledger.key(id: keyID) else { throw Self.unknown }
    // A stranger who names a key's id learns no more than that it is one, which is no secret.
    try admit(described(found), from: call)
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
    try signed.check(content, keyDigest: found.digest, at: now)
    try await admitOnce(signed, keyID)
    return described(found)
  }

  /// Lets a signed request in that did not come before, to any service of this ledger.
  private func admitOnce(_ signed: SignedRequest, _ keyID: String) async throws {
    let outcome = try await ledger.admitSignedRequest(signed.signature, keyID: keyID, signedAt: signed.timestamp)
    switch outcome {
    case .admitted: return
    case .replayed: throw AccessError(.replayed)
    case .forgotten: throw AccessError(.timestampOutsideWindow)
    case .tooMany: throw AccessError(.tooManyRemembered)
    }
  }

  /// Whether a caller's key is in force still, for answers that take long.
  ///
  /// - Throws: `LedgerError`.
  func isInForce(_ caller: Caller) async throws(LedgerError) -> Bool {
    try await forgetChanged()
    let now = date()
    if let known = state.withLock({ $0.callers[caller.digest] }) { return !known.isExpired(at: now) }
    guard let key = try await ledger.key(id: caller.keyID) else { return false }
    return key.digest == caller.digest && !key.isExpired(at: now)
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
  func groups() async throws(LedgerError) -> Set<String> {
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

  private func forgetChanged() async throws(LedgerError) {
    let now = now
    let isFresh = state.withLock { state in state.checkedAt.map { now - $0 < Self.memory } ?? false }
    if isFresh { return }
    let version = try await ledger.keysVersion()
    state.withLock { state in
      if state.version != version { (state.callers, state.groups) = ([:], nil) }
      state.version = version
      state.checkedAt = now
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
