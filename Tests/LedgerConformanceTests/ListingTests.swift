// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import Testing

@Suite("Listing the announcements of an account", .removesLedgers)
struct ListingTests {
  private func answer(_ id: String, key: String? = nil) -> NewAnswer {
    NewAnswer(
      account: "shop", key: key ?? "id:\(id)", bodyDigest: digestOf(id), id: id, status: 201, report: Data("{}".utf8))
  }

  /// Lists all announcements page by page.
  private func all(
    _ ledger: any Ledger.Store, _ filter: Ledger.AnnouncementFilter = Ledger.AnnouncementFilter(), limit: Int
  ) async throws -> [String] {
    var (ids, cursor): ([String], Ledger.AnnouncementCursor?) = ([], nil)
    repeat {
      let page = try await ledger.announcements(account: "shop", matching: filter, before: cursor, limit: limit)
      #expect(page.announcements.count <= limit)
      ids += page.announcements.map(\.id)
      // A cursor survives being written and read.
      cursor = try page.next.map { try #require(Ledger.AnnouncementCursor($0.description)) }
    } while cursor != nil
    return ids
  }

  @Test(
    "pages of any size give every announcement of an account once, newest first", arguments: LedgerUnderTest.all,
    [1, 2, 3, 7, 50])
  func pages(kind: LedgerUnderTest, limit: Int) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    var expected: [String] = []
    for number in 0..<40 {
      // Several have the same time.
      if number.isMultiple(of: 4) { place.clock.advance(by: 1) }
      let id = "\(number)"
      switch number % 3 {
      case 0: _ = try await ledger.accept(answer: answer(id), playing: payment(id, account: "shop"))
      case 1: _ = try await ledger.accept(answer: answer(id))
      default: _ = try await ledger.accept(payment(id, account: "shop"))
      }
      expected.append(id)
    }
    place.clock.advance(by: 1)
    // Further answers for the same ids are not listed.
    for number in 0..<40 { _ = try await ledger.accept(answer: answer("\(number)", key: "again:\(number)")) }
    let ids = try await all(ledger, limit: limit)
    #expect(ids.count == 40 && Set(ids) == Set(expected))
    // Of one time, entries come first; otherwise the latest comes first.
    let times: [Int] = ids.map { (Int($0) ?? 0) / 4 }
    #expect(times == times.sorted(by: >))
    for state in Ledger.AnnouncementFilter.State.allCases {
      var filter = Ledger.AnnouncementFilter()
      filter.states = [state]
      let count = state == .accepted ? 27 : state == .rendered ? 13 : 0
      #expect(try await all(ledger, filter, limit: limit).count == count, "\(state)")
    }
  }

  @Test(
    "a search reads a limited number of rows in each call, and the next call continues at the cursor",
    arguments: LedgerUnderTest.all)
  func search(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let states: [Ledger.State] = [.played, .failed, .cancelled, .expired]
    // They are accepted together, because each commit alone would be synchronised to the disk.
    for batch in stride(from: 0, to: 1_000, by: 50) {
      place.clock.advance(by: 1)
      try await withThrowingTaskGroup { group in
        for number in batch..<batch + 50 {
          group.addTask {
            let new = payment(number == 0 ? "Needle" : "\(number)", account: "shop")
            let stored = try await ledger.accept(new).number
            for state in way(to: states[number % 4]) { try await ledger.set(stored, state) }
          }
        }
        try await group.waitForAll()
      }
    }
    var filter = Ledger.AnnouncementFilter()
    filter.text = SearchText("nEEDLE")
    var (found, cursor, calls): ([String], Ledger.AnnouncementCursor?, Int) = ([], nil, 0)
    repeat {
      let page = try await ledger.announcements(account: "shop", matching: filter, before: cursor, limit: 50)
      #expect(page.rowCount <= Ledger.searchedAtOnce + 1)
      (found, cursor, calls) = (found + page.announcements.map(\.id), page.next, calls + 1)
    } while cursor != nil
    #expect(found == ["Needle"] && calls == 1_000 / Ledger.searchedAtOnce)
  }

  @Test("a search does not find removed announcements and pruned words any more", arguments: LedgerUnderTest.all)
  func removed(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    var filter = Ledger.AnnouncementFilter()
    filter.text = SearchText("王五")
    for id in ["A", "B"] {
      var answer = answer(id)
      answer.report = Data(#"{"text":"收到王五的钱"}"#.utf8)
      _ = try await ledger.accept(answer: answer, playing: id == "A" ? payment(id, account: "shop") : nil)
    }
    #expect(try await ledger.announcements(account: "shop", matching: filter).announcements.map(\.id) == ["A", "B"])
    #expect(try await ledger.announcements(account: "other", matching: filter).announcements.isEmpty)
    let removal = try await ledger.remove(account: "shop", id: "B")
    guard case .removed = removal else { Issue.record("B was not removed"); return }
    #expect(try await ledger.announcements(account: "shop", matching: filter).announcements.map(\.id) == ["A"])
    try await ledger.pruneAnswers(before: place.clock.now.addingTimeInterval(1))
    #expect(try await ledger.announcements(account: "shop", matching: filter).announcements.isEmpty)
  }

  @Test(
    "a search finds an announcement by its amount, payer and note as they were sent", arguments: LedgerUnderTest.all)
  func sentValues(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    var answer = answer("A", key: "first")
    answer.report = Data(
      #"{"text":"one dollar","amount":{"value":"12.50","currency":"USD"},"payer":"Ann Lee","note":"table 12"}"#.utf8)
    _ = try await ledger.accept(answer: answer)
    var filter = Ledger.AnnouncementFilter()
    for (text, count) in [("12.50", 1), ("12.50 usd", 1), ("ann", 1), ("table 12", 1), ("12.51", 0), ("dollar 12", 0)] {
      filter.text = SearchText(text)
      #expect(try await ledger.announcements(account: "shop", matching: filter).announcements.count == count, "\(text)")
    }
  }

  @Test("the list shows an announcement with the words of its first answer", arguments: LedgerUnderTest.all)
  func firstAnswer(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    for (key, text) in [("first", "one dollar"), ("second", "two dollars")] {
      var answer = answer("A", key: key)
      answer.report = Data(#"{"text":"\#(text)"}"#.utf8)
      _ = try await ledger.accept(answer: answer)
    }
    var filter = Ledger.AnnouncementFilter()
    for (text, count) in [("one", 1), ("two", 0), ("ONE D", 1), ("one\u{0}", 0)] {
      filter.text = SearchText(text)
      #expect(try await ledger.announcements(account: "shop", matching: filter).announcements.count == count, "\(text)")
    }
  }

  @Test(
    "a page of announcements ends early after many pushes, and the next page continues at the cursor",
    arguments: LedgerUnderTest.all)
  func manyPushes(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    try await ledger.register(newDevice())
    for id in ["A", "B", "C"] {
      _ = try await ledger.accept(answer: answer(id), pushing: Array(repeating: newPush(), count: 300))
    }
    let page = try await ledger.announcements(account: "shop", limit: 10)
    #expect(page.announcements.map(\.id) == ["C", "B"] && page.announcements.allSatisfy { $0.pushes.count == 300 })
    let rest = try await ledger.announcements(
      account: "shop", matching: Ledger.AnnouncementFilter(), before: page.next, limit: 10)
    #expect(rest.announcements.map(\.id) == ["A"] && rest.next == nil)
  }
}
