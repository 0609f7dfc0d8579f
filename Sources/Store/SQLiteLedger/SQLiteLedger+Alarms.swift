// SPDX-License-Identifier: Apache-2.0

public import Foundation
import GRDB
public import Ledger
public import WebhookMessages

extension SQLiteLedger {
  public func activeAlarms(lane: String) async throws(LedgerError) -> [WebhookEvent.Kind: Date] {
    if lane.hasZero { return [:] }
    return try await read { database in
      let rows = try database.cachedStatement(sql: "SELECT alarm, began_at FROM alarms WHERE lane = ?").all([lane]) {
        (
          kind: WebhookEvent.Kind(rawValue: try $0.value("alarm")),
          at: try $0.value("began_at") as Date
        )
      }
      return rows.reduce(into: [:]) { alarms, row in if let kind = row.kind { alarms[kind] = row.at } }
    }
  }

  @discardableResult
  public func tellAlarm(
    _ alarm: WebhookEvent.Kind, lane: String, hasBegun: Bool, detail: [String: String]
  ) async throws(LedgerError) -> Bool {
    if lane.hasZero { return false }
    return try await write(while: .changingWebhooks, cost: 4096) { [self] database in
      let at = timeStamp
      if hasBegun {
        try database.execute(
          sql: "INSERT OR IGNORE INTO alarms (lane, alarm, began_at) VALUES (?, ?, ?)",
          arguments: [lane, alarm.rawValue, at])
      } else {
        try database.execute(
          sql: "DELETE FROM alarms WHERE lane = ? AND alarm = ?", arguments: [lane, alarm.rawValue])
      }
      guard database.changesCount > 0 else { return false }
      let event = WebhookEvent(alarm, hasBegun: hasBegun, detail, at: at)
      let accounts = try String.fetchAll(
        database, sql: "SELECT DISTINCT account FROM webhook_endpoints WHERE disabled_at IS NULL ORDER BY account")
      for account in accounts { try tell(event, of: account, in: database) }
      return true
    }
  }

  public func latestPayment() async throws(LedgerError) -> Date? {
    try await read(isLong: true) { database in
      let at = try Int64.fetchOne(
        database,
        sql: "SELECT max(accepted_at) FROM decisions WHERE kind = 'received' AND substr(account, 1, ?) != ?",
        arguments: [TestAccount.prefix.count, TestAccount.prefix])
      return at.map(Date.init(wholeMilliseconds:))
    }
  }
}
