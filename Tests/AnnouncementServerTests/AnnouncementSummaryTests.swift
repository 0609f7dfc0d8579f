// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import HTTPTypes
import Ledger
import ServiceAccess
import TestSupport
import Testing
import WeeklyTimes

@testable import AnnouncementServer

@Suite("The summary of announcements", .timeLimit(.minutes(5)))
struct AnnouncementSummaryTests {
  private let service: TestService
  private let client: TestClient

  init() async throws {
    let zone = try #require(TimeZone.named("Asia/Kolkata"))
    service = try TestService {
      $0.hasPlayer = true
      $0.settings.timeZone = zone
    }
    client = try await service.client()
  }

  private func groups(_ query: String, of client: TestClient? = nil) async throws -> [[String: Any]] {
    let answer = try await (client ?? self.client).get("/v1/announcements/summary\(query)")
    #expect(answer.status == 200, "\(answer.text)")
    return try #require(try answer.object["groups"] as? [[String: Any]])
  }

  @Test("the announcements of today are counted and added up by currency, kind and hour")
  func today() async throws {
    for (id, amount) in [("a", "0.10"), ("b", "0.20"), ("c", "12.50")] {
      #expect(try await client.post(payment(id, amount, id == "c" ? #""kind":"refunded""# : "")).status == 201)
    }
    #expect(try await client.post(#"{"text":"hello","locale":"en-US"}"#).status == 201)
    let answer = try await client.get("/v1/announcements/summary?by=currency,kind,hour")
    #expect(try answer.string("time_zone") == "Asia/Kolkata")
    #expect(try answer.string("from")?.hasSuffix("T00:00:00+05:30") == true)
    let sums = try await groups("?by=currency,kind").map {
      "\($0["kind"] ?? "") \($0["sum"] ?? "") \($0["count"] ?? "")"
    }
    #expect(sums == ["received 0.30 2", "refunded 12.50 1"])
    let hours = try await groups("?by=hour")
    #expect(hours.allSatisfy { ($0["hour"] as? String)?.hasSuffix(":00:00+05:30") == true && $0["sum"] == nil })
    let all = try await groups("")
    #expect(all.count == 1 && Set(all[0].keys) == ["count", "last_at"] && all[0]["count"] as? Int == 3)
    // Neither a removed announcement nor an announcement of another account counts.
    #expect(try await client.send(.delete, "/v1/announcements/c").status == 200)
    #expect(try await groups("?by=kind").map { $0["kind"] as? String } == ["received"])
    #expect(try await groups("", of: try await service.client(account: "other")).isEmpty)
    #expect(try await groups("?to=2026-01-01T00:00:00Z").isEmpty)
  }

  @Test(
    "an invalid query for a summary is refused with the name of the item",
    arguments: [
      ("from=yesterday", "from: is not a time"), ("to=2026-11-20", "to: is not a time"),
      ("from=9999-01-01T00:00:00Z", "from: is not before the end of today"),
      ("from=2026-11-20T00:00:00Z&to=2026-11-20T00:00:00Z", "from: is not before the time in 'to'"),
      ("from=2025-11-20T00:00:00Z&to=2026-11-22T00:00:00Z", "from: is more than 366 days"),
      ("from=1971-01-01T00:00:00Z", "from: is more than 366 days"),
      ("from=0000-01-01T00:00:00Z", "from: is not in the years 1971 to 9998"),
      ("to=9999-12-31T23:59:59-23:59", "to: is not in the years 1971 to 9998"),
      ("by=", "by: has an unknown key"), ("by=currency,", "by: has an unknown key"),
      ("by=day", "by: has an unknown key"),
    ])
  func refused(query: String, detail: String) async throws {
    let answer = try await client.get("/v1/announcements/summary?\(query)")
    #expect(try answer.status == 422 && answer.string("code") == "field_invalid")
    #expect(try answer.string("detail")?.hasPrefix(detail) == true, "\(answer.text)")
  }

  @Test("a summary is refused for a key without the scope 'read', and for an unknown query item")
  func access() async throws {
    #expect(try await service.client([.play]).get("/v1/announcements/summary").status == 403)
    #expect(try await client.get("/v1/announcements/summary?per=hour").status == 400)
  }

  @Test("a summary with times at the edges of the calendar is answered")
  func edges() async throws {
    for query in [
      "?to=1971-01-01T00:00:00Z&by=hour", "?from=9998-06-01T00:00:00Z&to=9999-01-01T00:00:00Z", "?by=hour,hour",
    ] {
      #expect(try await groups(query).isEmpty, "\(query)")
    }
  }

  @Test("without 'from', a summary begins at the last midnight before 'to'; without 'to', it ends at the next midnight")
  func days() throws {
    let clock = LocalClock(zone: try #require(TimeZone.named("Europe/Berlin")))
    let now = try Date("2026-11-20T23:30:00Z", strategy: .iso8601)
    func range(_ items: [String: String]) throws -> [String] {
      let query = try SummaryQuery({ items[$0] }, clock: clock, now: now)
      return [clock.text(query.from), clock.text(query.to)]
    }
    #expect(try range([:]) == ["2026-11-21T00:00:00+01:00", "2026-11-22T00:00:00+01:00"])
    #expect(
      try range(["to": "2026-10-26T00:00:00+01:00"]) == ["2026-10-25T00:00:00+02:00", "2026-10-26T00:00:00+01:00"])
    #expect(
      try range(["from": "2026-11-01T00:00:00Z"]) == ["2026-11-01T01:00:00+01:00", "2026-11-22T00:00:00+01:00"])
  }

  @Test("the sums by hour of 10,000 payments of a day are calculated within ten seconds")
  func many() async throws {
    let start = try Date("2026-11-20T00:00:00Z", strategy: .iso8601)
    let clock = Locked(start)
    let service = try TestService { $0.now = { clock.withLock { $0 } } }
    let client = try await service.client()
    let ledger = service.ledger
    // Payments of the same moment share a write.
    for part in 0..<100 {
      clock.withLock { $0 = start + Double(part) * 864 }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for id in part * 100..<part * 100 + 100 {
          group.addTask { _ = try await ledger.accept(answer: Self.answer(id)) }
        }
        try await group.waitForAll()
      }
    }
    let begin = ContinuousClock.now
    let query = "?by=currency,kind,hour&from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z"
    let found = try await groups(query, of: client)
    let time = begin.duration(to: .now)
    #expect(found.count == 48 && found.reduce(0) { $0 + ($1["count"] as? Int ?? 0) } == 10_000)
    print("Adding up 10,000 payments by hour took \(time).")
    #expect(time < .seconds(10))
  }

  private static func answer(_ id: Int) -> NewAnswer {
    NewAnswer(
      account: "shop", key: "id:\(id)", bodyDigest: Data(repeating: 1, count: 32), id: "\(id)", status: 201,
      report: Data("{}".utf8),
      decision: Decision(
        kind: "received", text: "words", locale: "en-US",
        amount: Decision.Amount(value: "\(id % 100).05", currency: id.isMultiple(of: 2) ? "EUR" : "USD"),
        method: "speech", voice: "en-us", clip: PublishedClip(name: "a.wav", group: "group.crier"),
        durationMilliseconds: 900, loudnessLUFS: -16))
  }
}
