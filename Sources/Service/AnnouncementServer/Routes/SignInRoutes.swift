// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import HostAddresses
import HummingbirdCore
import Ledger
import QRCodes
import ServiceAccess
import TextFormats

/// The routes of `/v1/sign-in-codes`, with which an admin makes the codes that people sign in with, and `/v1/sign-ins`,
/// which exchanges a code for a key. A code is only in the answer to the request that made it. Its key is only in the
/// answer to the request that exchanged the code.
struct SignInRoutes: Sendable {
  let ledger: any Ledger.KeyStore
  let keys: KeyRing
  let failures: FailureGate
  let settings: ServiceSettings

  var routes: [Route] {
    [
      .post("/v1/sign-in-codes", .key(.manageKeys), create),
      .get("/v1/sign-in-codes", .key(.manageKeys), list),
      .delete("/v1/sign-in-codes/{id}", .key(.manageKeys), remove),
      .post("/v1/sign-ins", .open, signIn),
    ]
  }

  // MARK: Codes

  private struct Line: Encodable {
    var id: String
    var scope: String
    var account: String
    var name: String
    var days: Int
    var createdAt: Date
    var expiresAt: Date

    init(_ code: Ledger.SignInCode) {
      (id, scope, account, name, days) = (code.id, code.scope, code.account, code.name, code.days)
      (createdAt, expiresAt) = (code.createdAt, code.expiresAt)
    }
  }

  private struct Created: Encodable {
    struct Drawing: Encodable {
      var size: Int
      var rows: [String]
    }

    var code: String
    var url: String
    /// The QR code of the address; nil if the address is too long for one.
    @ExplicitNull var qr: Drawing?
  }

  private func list(_ call: Call) async throws -> Response {
    try ServiceJSON.response(.ok, ["sign_in_codes": try await ledger.signInCodes().map(Line.init)])
  }

  private func create(_ call: Call) async throws -> Response {
    let sender = try call.sender
    let request = try Self.request(
      try await JSONFields.read(call, keys: ["scope", "name", "account", "days"], keys), account: sender.account)
    try Self.requireLimits(of: sender, request)
    let code = SignInCode.make()
    let new: NewSignInCode
    do throws(SignInRequest.Fault) {
      // A key from the new code may be used only from the addresses from which the sender's key may be used.
      new = try request.newCode(
        code, maker: sender.keyID, addresses: sender.networks?.map(\.description) ?? [])
    } catch {
      throw Self.problem(error)
    }
    let kept = try await ledger.createSignInCode(new, lifetime: SignInCode.lifetime, by: .key(sender.keyID))
    let url = code.link(base: settings.publicURL ?? "http://\(call.authority ?? settings.authority)")
    let drawing = (try? QRCode(url)).map { Created.Drawing(size: $0.size, rows: $0.digits) }
    return try ServiceJSON.response(
      .created, WithMembers(object: Line(kept), members: Created(code: code.text, url: url, qr: drawing)))
  }

  private func remove(_ call: Call) async throws -> Response {
    guard let code = try await ledger.removeSignInCode(call.parameter, by: .key(try call.sender.keyID)) else {
      throw Problem.notFound(
        "No unused code has this id. If somebody signed in with it, revoke the key that was made with it.")
    }
    return try ServiceJSON.response(.ok, Line(code))
  }

  private static func request(_ fields: JSONFields, account: String) throws(Problem) -> SignInRequest {
    let scopes = "give \(Scope.ofPeople.map(\.rawValue).joined(separator: " or "))"
    let scope = try fields.required("scope", try fields.string("scope", scopes), scopes)
    guard let scope = Scope(rawValue: scope), Scope.ofPeople.contains(scope) else {
      throw fields.invalid("scope", scopes)
    }
    let name = "give a name by which people know the key, such as Till 1"
    let days = NewSignInCode.dayCounts
    return SignInRequest(
      scope: scope, account: try fields.string("account", "give a text") ?? account,
      name: try fields.required("name", try fields.string("name", name), name),
      days: try fields.integer("days", in: days, "give a whole number from \(days.lowerBound) to \(days.upperBound)")
        ?? SignInRequest.standardDays)
  }

  /// Checks that the key from a code cannot outlive the key that makes the code, even if somebody signs in at the last
  /// moment.
  private static func requireLimits(of sender: Caller, _ request: SignInRequest) throws(Problem) {
    guard let end = sender.expiresAt else { return }
    let last = Date(timeIntervalSinceNow: SignInCode.lifetime + Double(request.days) * 86_400)
    guard last <= end else {
      throw Problem.fieldInvalid(
        "days: is missing or reaches beyond the expiry of the key that sends the request; give fewer days.")
    }
  }

  private static func problem(_ fault: SignInRequest.Fault) -> Problem {
    let detail =
      switch fault {
      case .scope: "scope: is not valid; give till or operator."
      case .text(let field): KeyRoutes.textRule(field)
      case .accountReserved: KeyRoutes.accountRule
      case .days: "days: is not valid; give 1 to \(NewSignInCode.dayCounts.upperBound)."
      }
    return Problem.fieldInvalid(detail)
  }

  // MARK: Signing in

  private struct SignedIn: Encodable {
    var id: String
    var scopes: [String]
    var account: String
    @ExplicitNull var name: String?
    @ExplicitNull var expiresAt: Date?
  }

  /// Exchanges a code for a key. A refused code counts towards the address's limit of failures like a wrong key, and an
  /// address above this limit is refused before its code is checked.
  private func signIn(_ call: Call) async throws -> Response {
    try call.requireMediaType("application/json")
    let fields = try JSONFields(try await call.body(upTo: JSONFields.largestBody), keys: ["code"])
    let remedy = "give the code of the link"
    let typed = try fields.required("code", try fields.string("code", remedy), remedy)
    guard !failures.isUsedUp(by: call), let code = SignInCode(typed) else { throw Self.unknown }
    let key = APIKey.make()
    let outcome = try await ledger.signIn(withCode: code.digest, keyID: key.id, keyDigest: key.digest)
    switch outcome {
    case .signedIn(let kept):
      return try ServiceJSON.response(
        .created,
        WithMembers(
          object: SignedIn(
            id: kept.id, scopes: kept.scopes, account: kept.account, name: kept.name, expiresAt: kept.expiresAt),
          members: ["key": key.text]))
    case .unknown: throw Self.unknown
    case .used:
      throw Problem(
        .unauthorized, "sign_in_code_used",
        "Somebody has signed in with this code already. If it was not you, have the key that was made with it revoked, "
          + "and ask for another link.")
    case .expired:
      throw Problem(.unauthorized, "sign_in_code_expired", "The code has expired. Ask for another link.")
    }
  }

  private static let unknown = Problem(
    .unauthorized, "sign_in_code_unknown",
    "The code is unknown, was taken back, or has a typing error. Copy the whole code, or ask for another link.")
}
