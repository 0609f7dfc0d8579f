// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import Testing

/// An answer to a request for an announcement. One letter stands for the body of the request.
private func answer(
  _ key: String, id: String = "A-1", body: String = "a", account: String = "shop", report: String = #"{"ok":1}"#
) -> NewAnswer {
  NewAnswer(
    account: account, key: key, bodyDigest: digestOf(body), id: id, status: 201, report: Data(report.utf8))
}

extension Ledger.AcceptanceStore {
  /// Returns the valid answer for a key. The call also takes an id, and no announcement has this one.
  fileprivate func answer(account: String, key: String) async throws -> Ledger.Answer? {
    try await known(account: account, key: key, id: "nobody's").answer
  }
}

@Suite("Stored responses", .removesLedgers)
struct AnswersTests {
  @Test(
    "a response and its announcement are stored with all their values and survive reopening the ledger",
    arguments: LedgerUnderTest.all)
  func everything(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let new = answer("p:A-1")
    let stored = try await ledger.accept(answer: new, playing: payment("A-1", account: "shop"))
    #expect(!stored.isDuplicate && stored.isSameBody)
    #expect(stored.acceptance?.state == .accepted && stored.acceptance?.isDuplicate == false)
    for ledger in [ledger, try await place.open()] {
      let found = try #require(try await ledger.answer(account: "shop", key: "p:A-1"))
      #expect(found == stored.answer)
      #expect(found.account == "shop" && found.key == "p:A-1" && found.bodyDigest == new.bodyDigest)
      #expect(found.id == "A-1" && found.status == 201 && found.report == new.report)
      #expect(found.createdAt == place.clock.now)
      #expect(try await ledger.entry(account: "shop", id: "A-1")?.number == stored.acceptance?.number)
    }
  }

  @Test("a response without an announcement for the player is stored alone", arguments: LedgerUnderTest.all)
  func alone(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let stored = try await ledger.accept(answer: answer("h:1"))
    #expect(stored.acceptance == nil && !stored.isDuplicate)
    #expect(try await ledger.recent().isEmpty)
    #expect(try await ledger.events().isEmpty)
    #expect(try await ledger.answer(account: "shop", key: "h:1") == stored.answer)
  }

  @Test(
    "a lookup returns the response to the request with the key, or else the announcement with the id",
    arguments: LedgerUnderTest.all)
  func known(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let stored = try await ledger.accept(answer: answer("h:1"), playing: payment("A-1", account: "shop"))
    let again = try await ledger.known(account: "shop", key: "h:1", id: "A-1")
    #expect(again.answer == stored.answer && again.announcement == nil)
    let otherKey = try await ledger.known(account: "shop", key: "h:2", id: "A-1")
    #expect(otherKey.answer == nil && otherKey.announcement?.answer == stored.answer)
    #expect(otherKey.announcement?.entry?.number == stored.acceptance?.number)
    for (account, key, id) in [("shop", "h:2", "B-2"), ("other", "h:1", "A-1"), ("shop", "h:1", "A-1\0")] {
      let nothing = try await ledger.known(account: account, key: key, id: id)
      #expect(nothing.answer == nil && nothing.announcement == nil)
    }
  }

  @Test(
    "a request with a known key gets the first response and the announcement's present state, and writes nothing",
    arguments: LedgerUnderTest.all)
  func duplicate(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let first = try await ledger.accept(answer: answer("h:1"), playing: payment("A-1", account: "shop"))
    let number = try #require(first.acceptance?.number)
    try await ledger.set(number, .rendering)
    let events = try await ledger.events()
    place.clock.advance(by: 60)

    let same = try await ledger.accept(
      answer: answer("h:1", report: "{}"), playing: payment("A-1", account: "shop"))
    #expect(same.isDuplicate && same.isSameBody && same.answer == first.answer)
    #expect(same.acceptance?.number == number && same.acceptance?.state == .rendering)
    #expect(same.acceptance?.isDuplicate == true && same.acceptance?.isSamePayload == true)

    let other = try await ledger.accept(
      answer: answer("h:1", id: "B-2", body: "b"), playing: payment("B-2", account: "shop", payload: "{\"b\":2}"))
    #expect(other.isDuplicate && !other.isSameBody && other.answer == first.answer)
    #expect(other.acceptance?.number == number, "the announcement of the first response")
    #expect(other.acceptance?.isSamePayload == false)
    let silent = try await ledger.accept(answer: answer("h:1"))
    #expect(silent.acceptance?.number == number)

    #expect(try await ledger.entry(account: "shop", id: "B-2") == nil)
    #expect(try await ledger.events() == events)
  }

  @Test(
    "a key of another account, or a key that differs in one byte, belongs to another request",
    arguments: LedgerUnderTest.all)
  func noDuplicate(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await _ = ledger.accept(answer: answer("h:1"))
    for new in [answer("h:1", account: "b"), answer("H:1"), answer("p:1"), answer("h:é"), answer("h:e\u{301}")] {
      #expect(try await !ledger.accept(answer: new).isDuplicate)
    }
    #expect(try await ledger.answer(account: "c", key: "h:1") == nil)
    #expect(try await ledger.answer(account: "shop", key: "h:1\0") == nil)
    #expect(try await ledger.answer(account: "shop\0", key: "h:1") == nil)
  }

  @Test("an announcement that the ledger has without a response is not added again", arguments: LedgerUnderTest.all)
  func knownAnnouncement(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let number = try await ledger.accept(payment("A-1", account: "shop")).number
    let stored = try await ledger.accept(
      answer: answer("p:A-1"), playing: payment("A-1", account: "shop", payload: "{\"other\":1}"))
    #expect(!stored.isDuplicate && stored.isSameBody)
    #expect(stored.acceptance?.number == number && stored.acceptance?.isDuplicate == true)
    #expect(stored.acceptance?.isSamePayload == false)
    #expect(try await ledger.recent().count == 1)
    #expect(try await ledger.events().map(\.kind) == [.accepted])
    // The announcement is not accepted again under another key either.
    let again = try await ledger.accept(answer: answer("h:x"), playing: payment("A-1", account: "shop"))
    #expect(again.acceptance?.number == number && !again.isDuplicate)
  }

  @Test(
    "after 24 hours, a key may be used for another request, and the announcement still counts as a duplicate",
    arguments: LedgerUnderTest.all)
  func expiry(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let first = try await ledger.accept(answer: answer("h:1"), playing: payment("A-1", account: "shop"))
    place.clock.advance(by: Ledger.answerLifetime - 0.001)
    #expect(try await ledger.answer(account: "shop", key: "h:1") == first.answer)
    #expect(try await ledger.accept(answer: answer("h:1", body: "b")).isDuplicate)
    place.clock.advance(by: 0.001)
    #expect(try await ledger.answer(account: "shop", key: "h:1") == nil)
    let second = try await ledger.accept(
      answer: answer("h:1", body: "b", report: "{}"), playing: payment("A-1", account: "shop"))
    #expect(!second.isDuplicate && second.answer.createdAt == place.clock.now)
    #expect(second.acceptance?.isDuplicate == true && second.acceptance?.number == first.acceptance?.number)
    #expect(try await ledger.answer(account: "shop", key: "h:1") == second.answer)
    #expect(try await ledger.pruneAnswers(before: .distantFuture) == 1, "it replaced the old response")
  }

  @Test(
    "a response and its announcement are not stored if the announcement is invalid or does not match",
    arguments: LedgerUnderTest.all)
  func refused(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    func changed(_ change: (inout NewAnswer) -> Void) -> NewAnswer {
      var new = answer("h:1")
      change(&new)
      return new
    }
    let long = String(repeating: "x", count: 256)
    let mine = payment("A-1", account: "shop")
    let bad: [(NewAnswer, StoredAnnouncement?, String)] = [
      (answer(""), nil, "key"), (answer("a\0"), mine, "key"), (answer(long + long + "x"), nil, "key"),
      (answer("k", account: long), nil, "account"), (answer("k", account: "\0"), nil, "account"),
      (answer("k", id: ""), nil, "id"), (answer("k", id: long), nil, "id"), (answer("k", id: "\0"), nil, "id"),
      (changed { $0.bodyDigest = Data() }, mine, "bodyDigest"),
      (changed { $0.bodyDigest = Data(count: 33) }, nil, "bodyDigest"),
      (changed { $0.status = 99 }, nil, "status"), (changed { $0.status = 600 }, nil, "status"),
      (changed { $0.report = Data(count: StoredAnnouncement.maximumPayloadBytes + 1) }, nil, "report"),
      (answer("k"), payment("A-1", account: "b"), "announcement"),
      (answer("k"), payment("B", account: "shop"), "announcement"),
      (answer("k"), payment("A-1", account: "shop", lane: ""), "lane"),
    ]
    for (new, announcement, field) in bad {
      let error = try await #require(throws: LedgerError.self, "\(field)") {
        try await ledger.accept(answer: new, playing: announcement)
      }
      #expect(error.code == .invalidValue && error.field?.hasPrefix(field) == true)
      // The ledger's name has random letters and digits.
      let text = error.description.replacingOccurrences(of: place.name, with: "")
      #expect(text.hasPrefix("Storing an answer in the ledger ") && !text.contains("A-1"))
    }
    #expect(try await ledger.announcements(account: "shop").announcements.isEmpty)
    #expect(try await ledger.events().isEmpty)
  }

  @Test("a response with values at their limits is stored", arguments: LedgerUnderTest.all)
  func limits(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let new = NewAnswer(
      account: "", key: String(repeating: "k", count: 512), bodyDigest: Data(repeating: 255, count: 32),
      id: String(repeating: "i", count: 255), status: 599,
      report: Data(repeating: 0, count: StoredAnnouncement.maximumPayloadBytes))
    #expect(try await ledger.accept(answer: new).answer.report == new.report)
    #expect(try await ledger.answer(account: "", key: new.key)?.status == 599)
  }

  @Test("the sizes of waiting reports count towards the limit of the queue of writes", arguments: LedgerUnderTest.all)
  func waiting(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    var options = LedgerUnderTest.Options()
    options.waitingBytes = 2_000
    let narrow = try await place.open(options)
    let error = try await #require(throws: LedgerError.self) {
      try await narrow.accept(answer: answer("h:1", report: String(repeating: "x", count: 2_000)))
    }
    #expect(error.code == .waitingListFull)
    #expect(try await !narrow.accept(answer: answer("h:1")).isDuplicate)
  }

  @Test(
    "if two ledgers store the same keys at once, each key gets one response, and each announcement is added once",
    arguments: LedgerUnderTest.all)
  func racing(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let other = try await place.open()
    for id in 0..<30 {
      let answers = try await withThrowingTaskGroup(of: Ledger.AnswerAcceptance.self) { group in
        for racer in 0..<8 {
          group.addTask {
            try await (racer.isMultiple(of: 2) ? ledger : other).accept(
              answer: answer("p:\(id)", id: "\(id)", body: "\(racer)", report: "\(racer)"),
              playing: payment("\(id)", account: "shop"))
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(answers.count { !$0.isDuplicate } == 1 && answers.count(where: \.isSameBody) == 1)
      #expect(Set(answers.map(\.answer)).count == 1)
      #expect(Set(answers.map(\.acceptance?.number)).count == 1)
      #expect(answers.count { $0.acceptance?.isDuplicate == false } == 1)
    }
    #expect(try await ledger.counts(lane: nil)[.accepted] == 30)
    #expect(try await ledger.pruneAnswers(before: .distantFuture) == 30)
  }

  // MARK: - Listing

  @Test(
    "an announcement is found by its response or its entry for the player, and only in its own account",
    arguments: LedgerUnderTest.all)
  func finding(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await _ = ledger.accept(answer: answer("p:both", id: "both"), playing: payment("both", account: "shop"))
    try await _ = ledger.accept(answer: answer("p:answer", id: "answer"))
    try await _ = ledger.accept(payment("entry", account: "shop"))
    for (id, hasEntry, hasAnswer) in [("both", true, true), ("answer", false, true), ("entry", true, false)] {
      let found = try #require(try await ledger.announcement(account: "shop", id: id))
      #expect(found.account == "shop" && found.id == id)
      #expect((found.entry != nil) == hasEntry && (found.answer != nil) == hasAnswer)
      #expect(found.entry?.id ?? id == id && found.answer?.id ?? id == id)
      #expect(try await ledger.announcement(account: "other", id: id) == nil)
    }
    for id in ["", "none", "both\0"] { #expect(try await ledger.announcement(account: "shop", id: id) == nil) }
  }

  @Test("the last announcements of an account are listed once each, newest first", arguments: LedgerUnderTest.all)
  func listing(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    try await _ = ledger.accept(payment("1", account: "shop"))
    for id in ["2", "3", "4", "5"] {
      place.clock.advance(by: 1)
      try await _ = ledger.accept(
        answer: answer("p:\(id)", id: id), playing: id == "3" ? payment(id, account: "shop") : nil)
      try await _ = ledger.accept(answer: answer("p:\(id)", id: id, account: "other"))
    }
    place.clock.advance(by: 1)
    for id in ["1", "2", "3"] { try await _ = ledger.accept(answer: answer("h:\(id)", id: id)) }
    let all = try await ledger.announcements(account: "shop").announcements
    #expect(all.map(\.id) == ["5", "4", "3", "2", "1"])
    #expect(all.map(\.answer?.key) == ["p:5", "p:4", "p:3", "p:2", "h:1"])
    #expect(all.map { $0.entry != nil } == [false, false, true, false, true])
    #expect(try await ledger.announcements(account: "other").announcements.map(\.id) == ["5", "4", "3", "2"])
    #expect(try await ledger.announcements(account: "nobody").announcements.isEmpty)
    #expect(try await ledger.announcements(account: "shop\0").announcements.isEmpty)
  }

  @Test(
    "a list of announcements has at most as many entries as requested, and at least one", arguments: LedgerUnderTest.all
  )
  func listLimits(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    for id in 0..<30 {
      place.clock.advance(by: 1)
      try await _ = ledger.accept(
        answer: answer("p:\(id)", id: "\(id)"), playing: id.isMultiple(of: 3) ? payment("\(id)", account: "shop") : nil)
    }
    for (limit, count) in [(10, 10), (30, 30), (1_000, 30), (Int.max, 30), (1, 1), (0, 1), (-1, 1), (Int.min, 1)] {
      let ids = try await ledger.announcements(account: "shop", limit: limit).announcements.map(\.id)
      #expect(ids == (0..<30).reversed().prefix(count).map(String.init))
    }
  }

  // MARK: - Pruning

  @Test(
    "pruning removes the oldest responses before a date, up to the given number, and no announcements",
    arguments: LedgerUnderTest.all)
  func pruning(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    for id in 0..<25 {
      place.clock.advance(by: 1)
      try await _ = ledger.accept(answer: answer("p:\(id)", id: "\(id)"), playing: payment("\(id)", account: "shop"))
    }
    let moment = place.clock.now - 4
    #expect(try await ledger.pruneAnswers(before: moment, limit: 8) == 8)
    #expect(try await ledger.announcement(account: "shop", id: "7")?.answer == nil)
    #expect(try await ledger.announcement(account: "shop", id: "8")?.answer != nil)
    #expect(try await ledger.pruneAnswers(before: moment, limit: 0) == 1, "at least one")
    #expect(try await ledger.pruneAnswers(before: moment) == 11)
    #expect(try await ledger.pruneAnswers(before: moment) == 0)
    #expect(
      try await ledger.announcement(account: "shop", id: "20")?.answer != nil, "a response from exactly that date stays"
    )
    #expect(try await ledger.counts(lane: nil)[.accepted] == 25)
  }

  @Test(
    "pruning finished announcements keeps their responses, and an invalid date is refused",
    arguments: LedgerUnderTest.all)
  func pruningOthers(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let stored = try await ledger.accept(answer: answer("h:1"), playing: payment("A-1", account: "shop"))
    try await ledger.set(try #require(stored.acceptance?.number), .cancelled)
    try await ledger.prune(finishedBefore: place.clock.now + 1)
    let found = try #require(try await ledger.announcement(account: "shop", id: "A-1"))
    #expect(found.entry == nil && found.answer == stored.answer)
    #expect(try await ledger.accept(answer: answer("h:1")).acceptance == nil)
    for date in [Date(timeIntervalSince1970: .infinity), Date(timeIntervalSince1970: .nan)] {
      let error = try await #require(throws: LedgerError.self) { try await ledger.pruneAnswers(before: date) }
      #expect(error.code == .invalidValue)
    }
  }
}
