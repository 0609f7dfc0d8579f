// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import PlaybackOrder
import Testing

@Suite("Accepting announcements", .removesLedgers)
struct AcceptingTests {
  @Test(
    "an accepted announcement is stored with all its values and survives reopening the ledger",
    arguments: LedgerUnderTest.all)
  func everything(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    var new = payment("A-1", account: "shop", sequence: 42, payload: #"{"amount":"12.50"}"#)
    new.category = .refund
    new.kind = .summary
    new.isReplay = true
    (new.defaultLocale, new.defaultPack, new.defaultGroup) = ("zh-CN", "voice", "group.a")
    new.expiresAt = place.clock.now + 60.5
    let accepted = try await ledger.accept(new)
    #expect(accepted.state == .accepted && !accepted.isDuplicate && accepted.isSamePayload)

    for ledger in [ledger, try await place.open()] {
      let entry = try #require(try await ledger.entry(account: "shop", id: "A-1"))
      #expect(entry.number == accepted.number)
      #expect(entry.announcement == new)
      #expect(entry.lane == "counter" && entry.category == .refund && entry.sequence == 42)
      #expect(entry.state == .accepted)
      #expect(entry.acceptedAt == place.clock.now)
      #expect(entry.finishedAt == nil)
      #expect(entry.attempts == 0)
      #expect(try await ledger.entry(accepted.number) == entry)
    }
  }

  @Test("the numbers of announcements rise in the order of acceptance", arguments: LedgerUnderTest.all)
  func order(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    var numbers: [Int64] = []
    for index in 0..<20 { numbers.append(try await ledger.accept(payment("\(index)")).number) }
    #expect(numbers == numbers.sorted() && Set(numbers).count == 20)
    #expect(try await ledger.unfinished(lane: "counter").map(\.number) == numbers)
  }

  @Test(
    "announcements with the same id in one account are one announcement, even if other values differ",
    arguments: LedgerUnderTest.all)
  func duplicate(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let first = try await ledger.accept(payment("A-1", payload: "{\"a\":1}"))
    try await ledger.set(first.number, .rendering)
    let same = try await ledger.accept(payment("A-1", payload: "{\"a\":1}"))
    #expect(same.number == first.number && same.isDuplicate && same.isSamePayload && same.state == .rendering)
    let other = try await ledger.accept(payment("A-1", lane: "door", payload: "{\"a\":2}"))
    #expect(other.number == first.number && other.isDuplicate && !other.isSamePayload)
    #expect(try await ledger.entry(id: "A-1")?.lane == "counter")
    #expect(try await ledger.events().map(\.kind) == [.accepted, .rendering])
  }

  @Test(
    "announcements with one id in two accounts, or with ids that differ in one byte, are different announcements",
    arguments: LedgerUnderTest.all)
  func noDuplicate(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let numbers = [
      try await ledger.accept(payment("A-1")).number, try await ledger.accept(payment("A-1", account: "b")).number,
      try await ledger.accept(payment("a-1")).number, try await ledger.accept(payment("é")).number,
      try await ledger.accept(payment("e\u{301}")).number,
    ]
    #expect(Set(numbers).count == 5)
  }

  @Test(
    "an announcement with an invalid value is refused by an error that names the field, and is not stored",
    arguments: LedgerUnderTest.all)
  func refused(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    var tooLarge = payment("large")
    tooLarge.payload = Data(count: StoredAnnouncement.maximumPayloadBytes + 1)
    var timeless = payment("timeless")
    timeless.expiresAt = Date(timeIntervalSince1970: .nan)
    func withDefault(
      _ property: WritableKeyPath<StoredAnnouncement, String?>, _ value: String
    ) -> StoredAnnouncement {
      var new = payment("a")
      new[keyPath: property] = value
      return new
    }
    let long = String(repeating: "x", count: 256)
    let bad: [(StoredAnnouncement, String)] = [
      (withDefault(\.defaultLocale, "a\0"), "defaultLocale"), (withDefault(\.defaultPack, long), "defaultPack"),
      (withDefault(\.defaultGroup, long), "defaultGroup"),
      (payment("a\0b"), "id"), (payment("a", account: "\0"), "account"), (payment("a", lane: "l\0"), "lane"),
      (payment(""), "id"), (payment(String(repeating: "é", count: 128)), "id"),
      (payment("a", account: String(repeating: "x", count: 256)), "account"), (payment("a", lane: ""), "lane"),
      (payment("a", lane: String(repeating: "x", count: 101)), "lane"), (tooLarge, "payload"), (timeless, "expiresAt"),
    ]
    for (new, field) in bad {
      let error = try await #require(throws: LedgerError.self) { try await ledger.accept(new) }
      #expect(error.code == .invalidValue)
      #expect(error.field?.hasPrefix(field) == true)
    }
    #expect(try await ledger.recent().isEmpty)
    #expect(try await ledger.events().isEmpty)
    try await _ = ledger.accept(payment("a"))
    #expect(try await ledger.entry(id: "a\0b") == nil)
    await #expect(throws: LedgerError.self) { try await ledger.recent(50, lane: "counter\0") }
  }

  @Test("an announcement with values at their limits is accepted", arguments: LedgerUnderTest.all)
  func limits(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    var new = payment(
      String(repeating: "i", count: 255), account: String(repeating: "a", count: 255),
      lane: String(repeating: "l", count: 100), sequence: .max)
    new.payload = Data(repeating: 0, count: StoredAnnouncement.maximumPayloadBytes)
    new.expiresAt = .distantFuture
    let number = try await ledger.accept(new).number
    let entry = try #require(try await ledger.entry(number))
    #expect(entry.payload == new.payload && entry.sequence == .max && entry.expiresAt == .distantFuture)
  }

  @Test(
    "announcement ids with quotes, line ends, control characters and any writing system are stored unchanged",
    arguments: LedgerUnderTest.all)
  func strangeIds(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    for id in ["'); DROP TABLE announcements; --", "a\nb", "a\u{1}b", "订单１", "🧾"] {
      try await _ = ledger.accept(payment(id))
      #expect(try await ledger.entry(id: id)?.id == id)
    }
    #expect(try await ledger.recent().count == 5)
  }

  @Test(
    "each of 8 tasks accepts 500 announcements, which get different numbers that rise within each task",
    arguments: LedgerUnderTest.all)
  func concurrently(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let numbers = try await withThrowingTaskGroup(of: [Int64].self) { group in
      for task in 0..<8 {
        group.addTask {
          var numbers: [Int64] = []
          for index in 0..<500 { numbers.append(try await ledger.accept(payment("\(task)-\(index)")).number) }
          return numbers
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    for ofTask in numbers { #expect(ofTask == ofTask.sorted()) }
    #expect(numbers.joined().sorted() == Array(1...4000))

    var stored: [String] = []
    while case let page = try await ledger.unfinished(lane: "counter", after: Int64(stored.count), limit: 999),
      !page.isEmpty
    {
      stored += page.map(\.id)
    }
    #expect(stored.count == 4000)
    for task in 0..<8 {
      #expect(stored.filter { $0.hasPrefix("\(task)-") } == (0..<500).map { "\(task)-\($0)" })
    }
  }

  @Test(
    "if two ledgers accept the same ids at once, each id is accepted once, and all callers get its number",
    arguments: LedgerUnderTest.all)
  func racing(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let other = try await place.open()
    for id in 0..<50 {
      let answers = try await withThrowingTaskGroup(of: Ledger.Acceptance.self) { group in
        for racer in 0..<8 {
          group.addTask { try await (racer.isMultiple(of: 2) ? ledger : other).accept(payment("\(id)")) }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(Set(answers.map(\.number)).count == 1)
      #expect(answers.count { !$0.isDuplicate } == 1)
    }
    #expect(try await ledger.counts(lane: nil)[.accepted] == 50)
  }

  @Test(
    "a full queue of writes refuses new announcements at once, writes the waiting ones, and then accepts again",
    arguments: LedgerUnderTest.all)
  func full(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    var options = LedgerUnderTest.Options()
    options.waitingLimit = 3
    let narrow = try await place.open(options)
    let outcomes = await withTaskGroup(of: LedgerError.Code?.self) { group in
      for id in 0..<200 {
        group.addTask {
          do throws(LedgerError) {
            _ = try await narrow.accept(payment("\(id)"))
            return nil
          } catch {
            return error.code
          }
        }
      }
      return await group.reduce(into: [LedgerError.Code?]()) { $0.append($1) }
    }
    let accepted = outcomes.count { $0 == nil }
    #expect(accepted >= 3 && outcomes.count { $0 == .waitingListFull } == 200 - accepted)
    #expect(try await narrow.counts(lane: nil)[.accepted] == accepted)
    #expect(try await !narrow.accept(payment("after")).isDuplicate)
  }

  @Test("the sizes of waiting payloads count towards the limit of the queue of writes", arguments: LedgerUnderTest.all)
  func fullOfBytes(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    var options = LedgerUnderTest.Options()
    options.waitingBytes = 1000
    let narrow = try await place.open(options)
    let error = try await #require(throws: LedgerError.self) {
      try await narrow.accept(payment("a", payload: String(repeating: "x", count: 1000)))
    }
    #expect(error.code == .waitingListFull)
    #expect(try await narrow.accept(payment("a", payload: "{}")).number > 0)
  }

  @Test(
    "an announcement is accepted even if its task is cancelled, and the task gets its number",
    arguments: LedgerUnderTest.all)
  func cancelled(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await ledger.accept(payment("a"))
    }
    let number = try await task.value.number
    #expect(try await ledger.entry(number)?.id == "a")
  }
}
