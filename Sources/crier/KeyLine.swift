// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import ServiceAccess

/// One key as a line of `crier keys list`.
struct KeyLine: Encodable {
  var id: String
  var account: String
  var scopes: [String]
  var name: String?
  var locale: String?
  var pack: String?
  var group: String?
  /// The allowed rate, in requests per second.
  var rate: Double?
  var burst: Int?
  var createdAt: Date
  var lastUsedAt: Date?
  var expiresAt: Date?
  var revokedAt: Date?
  /// The id of the key that replaced this one.
  var rotatedTo: String?
  /// The addresses and networks from which the key may be used; empty if it may be used from anywhere.
  var addresses: [String]
  var strict: Bool
  /// The name that identifies the key in the service's log.
  var logName: String

  enum CodingKeys: String, CodingKey {
    case id, account, scopes, name, locale, pack, group, rate, burst, addresses, strict
    case createdAt = "created_at"
    case lastUsedAt = "last_used_at"
    case expiresAt = "expires_at"
    case revokedAt = "revoked_at"
    case rotatedTo = "rotated_to"
    case logName = "log_name"
  }

  init(_ key: Ledger.Key) {
    (id, account, scopes, name) = (key.id, key.account, key.scopes, key.name)
    (locale, pack, group) = (key.locale, key.pack, key.group)
    (rate, burst) = (key.rate?.perSecond, key.rate?.burst)
    (createdAt, lastUsedAt) = (key.createdAt, key.lastUsedAt)
    (expiresAt, revokedAt, rotatedTo) = (key.expiresAt, key.revokedAt, key.rotatedTo)
    (addresses, strict) = (key.addresses, key.isStrict)
    logName = APIKey.logName(ofDigest: key.digest)
  }

  func text(at now: Date) -> String {
    let limit = rate.map { "\($0.formatted(.number.locale(Locale(identifier: "en_US_POSIX")))) a second" }
    return [
      id, Terminal.printable(account), scopes.joined(separator: ","), Terminal.printable(name ?? "-"),
      limit ?? "no limit", "created \(Self.time(createdAt))",
      lastUsedAt.map { "used \(Self.time($0))" } ?? "never used",
      state(at: now), addresses.isEmpty ? "from anywhere" : "from \(addresses.joined(separator: ","))",
      strict ? "strict" : "-", "logged as \(logName)",
    ].joined(separator: "\t")
  }

  private func state(at now: Date) -> String {
    if let revokedAt { return "revoked \(Self.time(revokedAt))" }
    let successor = rotatedTo.map { ", rotated to \($0)" } ?? ""
    guard let expiresAt else { return "active" + successor }
    return "\(expiresAt <= now ? "expired" : "expires") \(Self.time(expiresAt))" + successor
  }

  private static func time(_ date: Date) -> String { date.formatted(.iso8601) }
}
