// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import HTTPTypes
import HostAddresses
import Hummingbird
import HummingbirdCore
import Ledger
import ServiceAccess
import TextFormats
import VoicePacks

/// The routes of `/v1/keys`, with which an admin lists, makes, rotates and revokes keys, and `/v1/me`, with which the
/// owner of a key reads the key's properties. A key is in one answer only: the answer to the request that made the key.
struct KeyRoutes: Sendable {
  let ledger: any Ledger.KeyStore
  let keys: KeyRing
  let phraseBooks: PhraseBooks
  let shelf: VoicePackShelf

  var routes: [Route] {
    [
      .get("/v1/keys", .key(.manageKeys), list),
      .post("/v1/keys", .key(.manageKeys), create),
      .delete("/v1/keys/{id}", .key(.manageKeys), revoke),
      .post("/v1/keys/{id}/rotate", .key(.manageKeys), rotate),
      .get("/v1/me", .keyOfAnyScope, me),
    ]
  }

  private func list(_ call: Call) async throws -> Response {
    try ServiceJSON.response(.ok, ["keys": try await ledger.keys().map(KeyLine.init)])
  }

  private func create(_ call: Call) async throws -> Response {
    let sender = try call.sender
    let request = try Self.request(
      try await JSONFields.read(call, keys: Self.fields, keys), account: sender.account)
    let key = APIKey.make()
    let now = Date()
    let checked: KeyRequest.Checked
    do throws(KeyRequest.Fault) { checked = try request.checked(at: now) } catch { throw Self.problem(error) }
    try Self.requireLimits(of: sender, checked)
    try requirePack(request.pack)
    // If the default locale did not exist, every request with the key would fail.
    let locale = try request.locale.map { try phraseBooks.book(for: $0).locale }
    let kept = try await ledger.createKey(request.newKey(key, checked, locale: locale), by: .key(sender.keyID))
    return try ServiceJSON.response(.created, WithMembers(object: KeyLine(kept), members: ["key": key.text]))
  }

  private func revoke(_ call: Call) async throws -> Response {
    let sender = try call.sender
    guard call.parameter != sender.keyID else {
      throw Problem(
        .conflict, "key_in_use", "A key cannot revoke itself. Send the request with another key of the scope admin.")
    }
    guard let key = try await ledger.revokeKey(call.parameter, by: .key(sender.keyID)) else {
      throw Problem.notFound("No key has this id.")
    }
    return try ServiceJSON.response(.ok, KeyLine(key))
  }

  private func rotate(_ call: Call) async throws -> Response {
    let sender = try call.sender
    let overlap = try await overlap(of: call)
    guard let old = try await ledger.key(id: call.parameter) else {
      throw Problem.notFound("No key has this id, or it was revoked.")
    }
    try Self.requireLimits(of: sender, rotating: old, at: Date())
    let key = APIKey.make()
    let rotated: (old: Ledger.Key, new: Ledger.Key)?
    do throws(LedgerError) {
      rotated = try await ledger.rotateKey(
        old.id, to: key.id, digest: key.digest, overlap: overlap, by: .key(sender.keyID))
    } catch  where error.code == .keyNotInForce {
      throw Problem(
        .conflict, error.code.rawValue,
        "The key has expired, was revoked or was already rotated. Rotate the key that replaced it, or make another one."
      )
    }
    guard let rotated else { throw Problem.notFound("No key has this id.") }
    return try ServiceJSON.response(
      .created, WithMembers(object: KeyLine(rotated.new), members: ["key": key.text]))
  }

  /// Returns the time for which both keys are valid, in seconds: 24 hours if the body is empty.
  private func overlap(of call: Call) async throws -> TimeInterval {
    let standard: TimeInterval = 86_400
    let body = try await call.body(upTo: JSONFields.largestBody)
    try await keys.requireInForce(try call.sender)
    if body.isEmpty { return standard }
    try call.requireMediaType("application/json")
    let fields = try JSONFields(body, keys: ["overlap"])
    let remedy = "give a duration such as 12h, 30m or 7d"
    guard let text = try fields.string("overlap", remedy) else { return standard }
    guard let seconds = KeyTimes.seconds(text) else { throw fields.invalid("overlap", remedy) }
    return seconds
  }

  // MARK: Asking about oneself

  private struct Me: Encodable {
    var id: String
    @ExplicitNull var name: String?
    var account: String
    var scopes: [String]
    /// The allowed numbers of requests: per second, and at once.
    var limits: RateLimit
    @ExplicitNull var expiresAt: Date?
  }

  private func me(_ call: Call) async throws -> Response {
    let sender = try call.sender
    let name = try await ledger.key(id: sender.keyID)?.name
    return try ServiceJSON.response(
      .ok,
      Me(
        id: sender.keyID, name: name, account: sender.clientAccount, scopes: sender.scopes.names,
        limits: sender.limit, expiresAt: sender.expiresAt))
  }

  // MARK: Checking requests

  private static let fields = [
    "scopes", "account", "name", "locale", "pack", "group", "rate", "burst", "expires", "addresses", "strict",
  ]

  /// - Parameter account: The account that the key gets if the request names no account.
  private static func request(_ fields: JSONFields, account: String) throws(Problem) -> KeyRequest {
    let names = Scope.ofNewKeys.map(\.rawValue).joined(separator: ", ")
    let text = "give a text"
    var scopes: Set<Scope> = [.announce, .read]
    if let given = try fields.strings("scopes", "give an array with one or more of \(names)") {
      scopes = Set(names: given)
      guard given.allSatisfy({ Scope(rawValue: $0) != nil }) else {
        throw fields.invalid("scopes", "give an array with one or more of \(names)")
      }
    }
    return KeyRequest(
      scopes: scopes, account: try fields.string("account", text) ?? account, name: try fields.string("name", text),
      locale: try fields.string("locale", text), pack: try fields.string("pack", text),
      group: try fields.string("group", text), rate: try fields.number("rate", "give the requests per second"),
      burst: try fields.integer("burst", in: 1...Int(Int32.max), "give a whole number of requests"),
      expires: try fields.string("expires", "give a date, or a duration such as 90d"),
      addresses: try fields.strings("addresses", "give an array of addresses and networks") ?? [],
      isStrict: try fields.boolean("strict", "give true or false") ?? false)
  }

  /// Checks that a new key neither lives longer nor has more addresses than the key that makes it. Otherwise, somebody
  /// with a stolen key could keep access after its expiry, or use it from elsewhere. The rate and `strict` are not
  /// checked, because they protect against mistakes of the key's owner.
  private static func requireLimits(of sender: Caller, _ new: KeyRequest.Checked) throws(Problem) {
    if let end = sender.expiresAt, new.expiresAt.map({ $0 > end }) ?? true {
      throw Problem.fieldInvalid(
        "expires: is missing or later than the expiry of the key that sends the request; give an earlier time.")
    }
    guard let networks = sender.networks else { return }
    let isWithin = !new.networks.isEmpty && new.networks.allSatisfy { new in networks.contains { $0.contains(new) } }
    guard isWithin else {
      throw Problem.fieldInvalid(
        "addresses: go beyond the addresses of the key that sends the request; give only addresses from which that key "
          + "may be used.")
    }
  }

  /// Checks that a replacement key neither lives longer nor has more addresses than the key that requests it.
  private static func requireLimits(of sender: Caller, rotating old: Ledger.Key, at now: Date) throws(Problem) {
    let end = old.expiresAt.map { now.addingTimeInterval($0.timeIntervalSince(old.createdAt)) }
    let isShorter = sender.expiresAt.map { last in end.map { $0 <= last } ?? false } ?? true
    let isWithin =
      sender.networks.map { networks in
        !old.addresses.isEmpty
          && old.addresses.allSatisfy { address in
            guard let address = try? IPNetwork(address) else { return false }
            return networks.contains { $0.contains(address) }
          }
      } ?? true
    guard isShorter, isWithin else {
      throw Problem(
        .conflict, "key_limited",
        "The new key would be valid for longer, or from more addresses, than the key that sends the request. Use a key "
          + "without these limits, or crier keys rotate.")
    }
  }

  private func requirePack(_ id: String?) throws(Problem) {
    guard let id else { return }
    do throws(VoicePackError) {
      _ = try shelf.manifest(id: id)
    } catch {
      throw Problem.fieldInvalid(
        "pack: no pack that can be used has this id; give one of those that GET /v1/packs lists.")
    }
  }

  static func textRule(_ field: String) -> String {
    "\(field): must be 1 to 255 bytes long, without control characters."
  }

  static let accountRule = "account: must not begin with crier:, which is reserved; give another name."

  private static func problem(_ fault: KeyRequest.Fault) -> Problem {
    let detail =
      switch fault {
      case .noScopes: "scopes: is empty; give one or more scopes."
      case .deviceScope:
        "scopes: 'device' is only for keys of devices; register the device with PUT /v1/devices/{id}, which makes its "
          + "key."
      case .testAndOthers: "scopes: 'test' cannot be combined with other scopes; leave it out, or leave the others out."
      case .testAccountTooLong:
        "account: is longer than \(TestAccount.longestAccount) bytes, so it has no test keys; give a shorter one."
      case .text(let field): textRule(field)
      case .accountReserved: accountRule
      case .groupInvalid: "group: is not a valid app group; use letters, digits, . and -, such as group.crier."
      case .burstWithoutRate: "burst: needs rate; give both, or leave out burst."
      case .rateInvalid(let reason): "rate or burst: \(reason)"
      case .expiryUnreadable:
        "expires: is not a date or a duration; give 2027-01-31, 2027-01-31T12:00:00Z, or a duration such as 90d, 12h or "
          + "30m."
      case .expiryPast: "expires: is in the past; give a later time."
      case .tooManyAddresses: "addresses: has more than \(NewKey.mostAddresses) elements; give fewer."
      case .addressInvalid(_, let reason): "addresses: one element \(reason)."
      }
    return Problem.fieldInvalid(detail)
  }
}
