// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Ledger
import PlaybackOrder
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("Searching the list of announcements", .timeLimit(.minutes(5)))
struct AnnouncementSearchTests {
  private let service: TestService
  private let client: TestClient

  init() async throws {
    service = try TestService { $0.hasPlayer = true }
    client = try await service.client()
  }

  private func ids(_ query: String, of client: TestClient? = nil) async throws -> [String] {
    let answer = try await (client ?? self.client).get("/v1/announcements\(query)")
    #expect(answer.status == 200, "\(answer.text)")
    return try #require(try answer.object["announcements"] as? [[String: Any]]).compactMap { $0["id"] as? String }
  }

  /// Stores an announcement as an answered request does, without making its clip.
  private func store(_ id: String, _ text: String, isPlayed: Bool = false) async throws -> Int64? {
    let played = StoredAnnouncement(
      account: "shop", id: id, lane: TestService.lane, category: .information, payload: Data("{}".utf8))
    return try await service.ledger.accept(
      answer: NewAnswer(
        account: "shop", key: "id:\(id)", bodyDigest: Data(repeating: 1, count: 32), id: id, status: 201,
        report: Data(#"{"id":"\#(id)","text":"\#(text)"}"#.utf8)), playing: isPlayed ? played : nil
    ).acceptance?.number
  }

  @Test("the pages of a list have no gap and no repetition, even if announcements arrive between two pages")
  func pages() async throws {
    for number in 1...23 { _ = try await store("a\(number)", "x", isPlayed: number.isMultiple(of: 3)) }
    var (all, query): ([String], String) = ([], "?limit=5")
    while true {
      let page = try await client.get("/v1/announcements\(query)")
      all += try #require(try page.object["announcements"] as? [[String: Any]]).compactMap { $0["id"] as? String }
      guard let next = try page.string("next") else { break }
      query = "?limit=5&before=\(next)"
      _ = try await store("later-\(all.count)", "x")
    }
    #expect(Set(all).count == 23 && all.count == 23)
    #expect(Set(all) == Set((1...23).map { "a\($0)" }))
    #expect(try await client.get("/v1/announcements?limit=200").value("next") == nil)
  }

  @Test("a search filters by the state of playback, which is 'rendered' for announcements without playback")
  func states() async throws {
    for id in ["clip", "waiting", "gone"] { _ = try await store(id, "x", isPlayed: id != "clip") }
    _ = try await service.ledger.set(2, .cancelled)
    #expect(try await ids("?state=rendered") == ["clip"])
    #expect(try await ids("?state=accepted") == ["waiting"])
    #expect(try await ids("?state=cancelled,rendered") == ["gone", "clip"])
    #expect(try await ids("?state=played").isEmpty)
    #expect(try await ids("") == ["gone", "waiting", "clip"])
    #expect(try await ids("", of: try await service.client(account: "other")).isEmpty)
  }

  @Test(
    "a search finds ids and words in any letter case, and also parts of words and of syllables",
    arguments: [
      ("INVOICE", ["Invoice-7"]), ("twelve", ["b"]), ("ÉCOLE", ["c"]), ("e\u{301}cole", ["c"]), ("प्राप", ["d"]),
      ("क", ["d"]),
      ("到账", ["f"]), ("nothing", []), ("100%", ["b"]),
    ])
  func search(text: String, found: [String]) async throws {
    for (id, words) in [
      ("Invoice-7", "One dollar"), ("b", "Twelve dollars, 100%"), ("c", "École de musique"), ("d", "एक रुपया की प्राप्ति"),
      ("f", "支付宝到账"),
    ] { _ = try await store(id, words) }
    let query = text.addingPercentEncoding(
      withAllowedCharacters: CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyz"))
    #expect(try await ids("?search=\(query ?? "")") == found)
  }

  @Test("a list includes announcements at the time in 'from', and excludes announcements at the time in 'to'")
  func times() async throws {
    let service = try TestService { $0.now = { Date(timeIntervalSince1970: 1_800_000_000.25) } }
    let client = try await service.client()
    #expect(try await client.post(payment("p1")).status == 201)
    for (query, isListed) in [
      ("?from=2027-01-15T08:00:00.25Z", true), ("?from=2027-01-15T08:00:00.251Z", false),
      ("?to=2027-01-15T08:00:00.251Z", true), ("?to=2027-01-15T08:00:00.25Z", false),
      ("?from=2027-01-15T13:30:00%2B05:30&to=2027-01-15T08:00:01Z", true),
      ("?from=2027-01-16T00:00:00Z&to=2027-01-15T00:00:00Z", false),
    ] {
      #expect(try await ids(query, of: client) == (isListed ? ["p1"] : []), "\(query)")
    }
  }

  @Test(
    "an invalid value of a query item is refused with the name of the item",
    arguments: [
      "state=heard", "state=", "state=played,", "state=Played", "from=yesterday", "to=2026-13-01T00:00:00Z", "from=",
      "before=", "before=1.e", "before=1.x.2", "before=+1.e.2", "before=01.e.2", "before=1.e.99999999999999999999",
      "search=\(String(repeating: "a", count: 101))",
    ])
  func invalid(item: String) async throws {
    let answer = try await client.get("/v1/announcements?\(item)")
    #expect(answer.status == 422 && answer.code == "field_invalid", "\(answer.text)")
    #expect(try answer.string("detail")?.hasPrefix(item.prefix { $0 != "=" } + ":") == true)
  }

  @Test("a search reads a limited number of announcements in each call, and the next call continues at the cursor")
  func longSearch() async throws {
    let count = AnnouncementSearch.mostRows + 300
    try await withThrowingTaskGroup(of: Void.self) { group in
      _ = try await store("first", "needle")
      for number in 0..<count { group.addTask { _ = try await store("\(number)", "straw") } }
      try await group.waitForAll()
    }
    let page = try await client.get("/v1/announcements?search=needle")
    #expect(try page.value("announcements.0") == nil)
    let next = try page.string("next").orThrow("a cursor")
    let last = try await client.get("/v1/announcements?search=needle&before=\(next)")
    #expect(try last.string("announcements.0.id") == "first" && last.value("next") == nil)
  }
}
