// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import HTTPTypes
import HostAddresses
import HummingbirdCore
import Ledger
import ServiceAccess

/// Identifies callers by their keys, and limits how often each key is used.
final class KeyRing: Sendable {
  private let ledger: any Ledger.KeyStore
  private let cache: KeyCache
  private let use = KeyUse()
  let unproven: UnprovenBodies
  private let time: @Sendable () -> Duration
  private let date: @Sendable () -> Date

  /// - Parameters:
  ///   - defaultLimit: The rate limit of keys that have no limit of their own.
  ///   - unproven: The limits for bodies that are read before their signature can be checked.
  ///   - date: The calendar time. It decides whether a key has expired and whether a signed request is too old.
  ///   - sleep: Waits for a duration of `time`.
  ///   - time: The time since an arbitrary origin; it never runs backwards.
  init(
    ledger: any Ledger.KeyStore, defaultLimit: RateLimit, unproven: BodyBudget.Limits = BodyBudget.Limits(),
    date: @escaping @Sendable () -> Date = { Date() },
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
    time: @escaping @Sendable () -> Duration
  ) {
    self.ledger = ledger
    self.unproven = UnprovenBodies(unproven, time: time)
    self.date = date
    self.time = time
    cache = KeyCache(ledger: ledger, defaultLimit: defaultLimit, sleep: sleep, time: time)
  }

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
  /// - Throws: ``Problem`` with 401 if the key has expired, or with 403 if it may not be used from the client's
  ///   address.
  func remembered(for call: inout Call) throws(Problem) -> Caller? {
    guard let field = call.header(.authorization), field.hasPrefix(Self.usualStart), !field.hasSuffix(" ") else {
      return nil
    }
    let digest = Self.digest(of: field, from: "Bearer ".utf8.count)
    guard let known = cache.remembered(digest) else { return nil }
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
    let caller = try await cache.caller(key: text, digest: Self.digest(of: text)) { [call] in
      failures?.isUsedUp(by: call) == true
    }
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

  private func caller(signing call: inout Call, keyID: String, _ failures: FailureGate?) async throws -> Caller {
    let signed = try SignedRequest(
      timestamp: call.header(HTTPField.Name(token: SignedRequest.timestampField)),
      signature: call.header(HTTPField.Name(token: SignedRequest.signatureField)))
    let caller = try await cache.signer(keyID) { [call] in failures?.isUsedUp(by: call) == true }
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
      signed.signature, keyID: caller.keyID, signedAt: signed.timestamp, atMost: Ledger.mostSignedRequests)
    switch outcome {
    case .admitted: return
    case .replayed:
      use.giveBack(caller, at: time())
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
    let current = try await cache.current(caller)
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
    let date = date()
    return cache.remembered(caller.digest).map { !$0.isExpired(at: date) } ?? false
  }

  /// Returns the app groups of all keys, including revoked keys. The operator chose these groups, like those in the
  /// settings.
  ///
  /// - Throws: `LedgerError`.
  func groups() async throws -> Set<String> { try await cache.groups() }

  static let unknown = Problem(
    .unauthorized, "key_unknown",
    "The key is unknown, was revoked, or has a typing error. Copy the whole key, or create one with crier keys create.")

  // MARK: Limiting rates

  /// Counts one request towards the caller's rate limit.
  func admit(_ caller: Caller) -> RateLimitDecision { use.admit(caller, at: time(), date: date()) }

  /// Deletes the ledger's records of signed requests that are too old to be accepted.
  func forgetSignedRequests() async throws(LedgerError) {
    let moment = Int64(date().timeIntervalSince1970.rounded(.down)) - SignedRequest.window
    try await ledger.forgetSignedRequests(before: moment)
  }

  /// Stores in the ledger the times at which keys were used since the last call, and drops the rate limit state of idle
  /// keys.
  func recordUse() async { await use.record(in: ledger, at: time()) }
}
