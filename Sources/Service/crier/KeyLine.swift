// SPDX-License-Identifier: Apache-2.0

import AnnouncementServer
import Foundation

extension KeyLine {
  /// The headings of the columns of ``text(at:)``.
  static let headings = [
    "ID", "ACCOUNT", "SCOPES", "NAME", "LIMIT", "CREATED", "USED", "STATE", "ADDRESSES", "STRICT", "LOG NAME", "ORIGIN",
  ].joined(separator: "\t")

  /// Returns the key as a line of `crier keys list`.
  func text(at now: Date) -> String {
    let limit = rate.map { "\($0.formatted(.number.locale(Locale(identifier: "en_US_POSIX")))) a second" }
    return [
      id, Terminal.printable(account), scopes.joined(separator: ","), Terminal.printable(name ?? "-"),
      limit ?? "no limit", "created \(Self.time(createdAt))",
      lastUsedAt.map { "used \(Self.time($0))" } ?? "never used",
      state(at: now), addresses.isEmpty ? "from anywhere" : "from \(addresses.joined(separator: ","))",
      strict ? "strict" : "-", "logged as \(logName)",
      signInCode.map { "by link \($0)" } ?? "-",
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
