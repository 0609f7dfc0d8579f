// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Ledger
import PostgreSQL
public import WebhookMessages

extension PostgreSQLLedger {
  public func activeAlarms(lane: String) async throws(LedgerError) -> [WebhookEvent.Kind: Date] {
    if lane.hasZero { return [:] }
    return try await read { session in
      var alarms: [WebhookEvent.Kind: Date] = [:]
      for row in try session.rows("SELECT alarm, began_at FROM alarms WHERE lane = $1", [.string(lane)]) {
        if let kind = WebhookEvent.Kind(rawValue: try row.read("alarm")) {
          alarms[kind] = try row.value("began_at") as Date
        }
      }
      return alarms
    }
  }

  @discardableResult
  public func tellAlarm(
    _ alarm: WebhookEvent.Kind, lane: String, hasBegun: Bool, detail: [String: String]
  ) async throws(LedgerError) -> Bool {
    if lane.hasZero { return false }
    return try await write(while: .changingWebhooks, cost: 4096) { [self] session in
      let at = timeStamp
      // Two nodes that report the same alarm at once wait for each other here, and the second one changes nothing.
      let changed =
        hasBegun
        ? try session.execute(Self.beginningAlarm, [.string(lane), .string(alarm.rawValue), .int64(at)])
        : try session.execute(Self.endingAlarm, [.string(lane), .string(alarm.rawValue)])
      guard changed > 0 else { return false }
      let event = WebhookEvent(alarm, hasBegun: hasBegun, detail, at: at)
      let accounts = try session.all(Self.accountsWithEndpoints) { try $0.read("account", as: String.self) }
      try tell(accounts.map { ($0, event) }, in: session)
      return true
    }
  }

  static let beginningAlarm = """
    INSERT INTO alarms (lane, alarm, began_at) VALUES ($1, $2, $3) ON CONFLICT (lane, alarm) DO NOTHING
    """
  static let endingAlarm = "DELETE FROM alarms WHERE lane = $1 AND alarm = $2"
  static let accountsWithEndpoints = """
    SELECT DISTINCT account FROM webhook_endpoints WHERE disabled_at IS NULL ORDER BY account
    """

  public func latestPayment() async throws(LedgerError) -> Date? {
    try await read(isLong: true) { session in
      let at: Int64? = try session.value(Self.latestReceived, [.string(TestAccount.prefix)])
      return at.map(Date.init(wholeMilliseconds:))
    }
  }

  static let latestReceived = """
    SELECT accepted_at AS value FROM decisions WHERE kind = 'received' AND NOT starts_with(account, $1)
    ORDER BY accepted_at DESC LIMIT 1
    """
}
