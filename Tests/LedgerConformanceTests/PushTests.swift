// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import PushMessages
import Testing

@Suite("Pushes in the ledger", .removesLedgers)
struct PushTests {
  @Test(
    "a device has the outcome of its latest push for each token kind, and a new device with its id has none",
    arguments: LedgerUnderTest.all)
  func outcomes(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    try await ledger.register(newDevice(tokens: [.alert: "aa", .fileProviderExtension: "bb"]))
    let numbers = try await ledger.accept(
      [newPush(), newPush("phone-1", .background), newPush("phone-1", .fileProvider)], account: "shop")
    _ = try await ledger.startSending(numbers)
    try await ledger.finishPush(numbers[0], .failed, reason: "BadDeviceToken")
    place.clock.advance(by: 1)
    try await ledger.finishPush(numbers[1], .delivered)
    try await ledger.finishPush(numbers[2], .unregistered, reason: "Unregistered")
    var device = try #require(try await ledger.device(account: "shop", id: "phone-1"))
    // A background push goes to the token for notifications if there is no other.
    #expect(Set(device.outcomes.keys) == [.alert, .fileProviderExtension])
    #expect(device.outcomes[.alert]?.state == .delivered && device.outcomes[.alert]?.reason == nil)
    #expect(device.outcomes[.alert]?.at == place.clock.now)
    #expect(device.outcomes[.fileProviderExtension]?.reason == "Unregistered")
    try await ledger.noteOutcome(.failed, reason: "cannot_connect", of: .alert, account: "shop", device: "phone-1")
    try await ledger.noteOutcome(.failed, reason: nil, of: .alert, account: "shop", device: "nobody")
    device = try #require(try await ledger.device(account: "shop", id: "phone-1"))
    #expect(device.outcomes[.alert]?.reason == "cannot_connect")
    await #expect(throws: LedgerError.self) {
      try await ledger.noteOutcome(.waiting, reason: nil, of: .alert, account: "shop", device: "phone-1")
    }
    let late = try await ledger.accept([newPush()], account: "shop")
    #expect(try await ledger.removeDevice(account: "shop", id: "phone-1", by: .currentUser))
    try await ledger.register(newDevice(), "later")
    for number in late { try await ledger.finishPush(number, .unregistered, reason: "NoToken") }
    #expect(try await ledger.device(account: "shop", id: "phone-1")?.outcomes.isEmpty == true)
  }

  @Test("a push is stored with all its values, in the transaction of its answer", arguments: LedgerUnderTest.all)
  func everything(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    try await ledger.register(newDevice(environment: .sandbox))
    var new = newPush(clip: "a.wav")
    new.collapseID = "total"
    _ = try await ledger.accept(answer: plainAnswer("A-1"), pushing: [new])
    for ledger in [ledger, try await place.open()] {
      let stored = try await ledger.pushes(account: "shop", announcement: "A-1")
      let push = try #require(stored.first)
      #expect(stored.count == 1 && push.account == "shop" && push.device == "phone-1" && push.announcement == "A-1")
      #expect(push.kind == .alert && push.app == "com.example.shop" && push.environment == .sandbox)
      #expect(push.sequence == 1 && push.priority == 10 && push.collapseID == "total")
      #expect(push.body == Data(#"{"sequence":1}"#.utf8))
      #expect(push.state == .waiting && push.reason == nil && push.attempts == 0)
      #expect(push.createdAt == place.clock.now && push.expiresAt == new.expiresAt && push.finishedAt == nil)
      #expect(try await ledger.unfinishedPushes().map(\.number) == [push.number])
    }
    for (account, id) in [("kiosk", "A-1"), ("shop", "A-1\0"), ("shop\0", "A-1"), ("shop", "A-2")] {
      #expect(try await ledger.pushes(account: account, announcement: id).isEmpty)
    }
  }

  @Test(
    "the last sequence number of a device rises by one with each alert to it, and not with other pushes",
    arguments: LedgerUnderTest.all)
  func sequence(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    for id in ["phone-1", "phone-2"] { try await ledger.register(newDevice(id, tokens: [:])) }
    try await ledger.register(newDevice(account: "kiosk", tokens: [:]))
    for (id, devices) in [("A", ["phone-1", "phone-2"]), ("B", ["phone-2"]), ("C", ["phone-2", "phone-1"])] {
      _ = try await ledger.accept(
        answer: plainAnswer(id), pushing: devices.map { newPush($0) } + [newPush("phone-1", .background)])
    }
    try await ledger.accept([newPush("phone-1", .fileProvider), newPush()], account: "shop")
    #expect(try await ledger.pushes().map(\.sequence) == [1, 2, 3])
    #expect(try await ledger.pushes().map(\.announcement) == ["A", "C", nil])
    #expect(try await ledger.pushes(to: "phone-2").map(\.announcement) == ["A", "B", "C"])
    #expect(try await ledger.device(account: "shop", id: "phone-1")?.lastSequence == 3)
    #expect(try await ledger.device(account: "kiosk", id: "phone-1")?.lastSequence == 0)
    let background = try await ledger.pushes(account: "shop", announcement: "A").filter { $0.kind == .background }
    #expect(background.map(\.sequence) == [nil] && background.map(\.body) == [Data(#"{"sequence":null}"#.utf8)])
  }

  @Test(
    "if two ledgers accept pushes at once, the pushes of a device are numbered without gaps and have different ids",
    arguments: LedgerUnderTest.all)
  func racing(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    try await ledger.register(newDevice())
    let other = try await place.open()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for id in 0..<60 {
        group.addTask {
          _ = try await (id.isMultiple(of: 2) ? ledger : other).accept(
            answer: plainAnswer("\(id)"), pushing: [newPush()])
        }
      }
      try await group.waitForAll()
    }
    let pushes = try await ledger.pushes()
    #expect(pushes.map(\.sequence) == (1...60).map(Int64.init))
    #expect(pushes.allSatisfy { $0.body == Data(#"{"sequence":\#($0.sequence ?? 0)}"#.utf8) })
    #expect(Set(pushes.map(\.id)).count == 60 && Set(pushes.map(\.announcement)).count == 60)
  }

  @Test(
    "a repeated request, and another request with the same id, cause no second push", arguments: LedgerUnderTest.all)
  func duplicate(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    try await ledger.register(newDevice())
    _ = try await ledger.accept(answer: plainAnswer("A"), pushing: [newPush()])
    #expect(try await ledger.accept(answer: plainAnswer("A"), pushing: [newPush()]).isDuplicate)
    #expect(try await !ledger.accept(answer: plainAnswer("A", key: "h:other"), pushing: [newPush()]).isDuplicate)
    place.clock.advance(by: Ledger.answerLifetime + 1)
    #expect(try await !ledger.accept(answer: plainAnswer("A"), pushing: [newPush()]).isDuplicate)
    #expect(try await ledger.pushes().map(\.sequence) == [1])
    #expect(try await ledger.device(account: "shop", id: "phone-1")?.lastSequence == 1)

    // An announcement that was not pushed before can be pushed by a later request.
    _ = try await ledger.accept(answer: plainAnswer("B"))
    _ = try await ledger.accept(answer: plainAnswer("B", key: "h:later"), pushing: [newPush()])
    #expect(try await ledger.pushes().map(\.announcement) == ["A", "B"])
  }

  @Test(
    "a push to a device that the account does not have is left out, and the other pushes are stored",
    arguments: LedgerUnderTest.all)
  func nobody(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await ledger.register(newDevice())
    try await ledger.register(newDevice("phone-2", account: "kiosk"))
    _ = try await ledger.accept(answer: plainAnswer("A"), pushing: [newPush("phone-2"), newPush(), newPush("nobody")])
    #expect(try await ledger.pushes(account: "shop", announcement: "A").map(\.device) == ["phone-1"])
    #expect(try await ledger.accept([newPush("nobody")], account: "shop").isEmpty)
    #expect(try await ledger.device(account: "kiosk", id: "phone-2")?.lastSequence == 0)
  }

  @Test(
    "an invalid push is refused by an error that names the field, nothing is stored, and no number is used up",
    arguments: LedgerUnderTest.all)
  func refused(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await ledger.register(newDevice())
    func changed(_ change: (inout NewPush) -> Void) -> NewPush {
      var new = newPush()
      change(&new)
      return new
    }
    let long = String(repeating: "x", count: 256)
    let bad: [(NewPush, String)] = [
      (newPush(""), "device"), (newPush("phone-1\0"), "device"), (newPush(String(long.prefix(129))), "device"),
      (changed { $0.priority = 7 }, "priority"), (changed { $0.collapseID = "" }, "collapseID"),
      (changed { $0.collapseID = "a\0" }, "collapseID"),
      (changed { $0.collapseID = String(long.prefix(65)) }, "collapseID"),
      (newPush(clip: ""), "clip"), (newPush(clip: "a\0"), "clip"), (newPush(clip: long), "clip"),
      (newPush(expiresAt: Date(timeIntervalSince1970: .infinity)), "expiresAt"),
      (changed { $0.body = NewPush.Body(Data(count: 4097)) }, "body"),
      (changed { $0.body = NewPush.Body(beforeSequence: Data(count: 4096), afterSequence: Data()) }, "body"),
    ]
    for (new, field) in bad {
      let error = try await #require(throws: LedgerError.self) { try await ledger.accept([new], account: "shop") }
      #expect(error.code == .invalidValue && error.field?.hasPrefix(field) == true, "\(error)")
      #expect(error.description.hasPrefix("Changing the pushes in the ledger ") && !error.description.contains("xx"))
      _ = try? await ledger.accept(answer: plainAnswer(field), playing: payment(field, account: "shop"), pushing: [new])
      #expect(try await ledger.announcement(account: "shop", id: field) == nil)
    }
    let error = try await #require(throws: LedgerError.self) { try await ledger.accept([newPush()], account: "shop\0") }
    #expect(error.field?.hasPrefix("account") == true)
    #expect(try await ledger.pushes().isEmpty)
    #expect(try await ledger.pushCounts().isEmpty)
    try await ledger.accept([changed { $0.body = NewPush.Body(Data(count: 4096)) }], account: "shop")
    #expect(try await ledger.pushes().map(\.sequence) == [1])
  }

  @Test(
    "the sequence number of a push is inserted only at the place for it in the push's body",
    arguments: LedgerUnderTest.all)
  func gap(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await ledger.register(newDevice())
    var push = newPush()
    push.body = NewPush.Body(beforeSequence: Data(#"{"text":"1","sequence":"#.utf8), afterSequence: Data("}".utf8))
    for _ in 1...2 { try await ledger.accept([push], account: "shop") }
    #expect(
      try await ledger.pushes().map { String(decoding: $0.body, as: UTF8.self) } == [
        #"{"text":"1","sequence":1}"#, #"{"text":"1","sequence":2}"#,
      ])
  }

  @Test(
    "many outdated pushes end together, each with its reason, and pushes that have already ended are unchanged",
    arguments: LedgerUnderTest.all)
  func expired(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await ledger.register(newDevice())
    let numbers = try await ledger.accept((0..<600).map { _ in newPush() }, account: "shop")
    try await ledger.postponePush(numbers[1], reason: "Unreachable")
    try await ledger.finishPush(numbers[2], .delivered)
    let ended = try await ledger.expirePushes(numbers.map { ($0, $0 == numbers[0] ? "TooLate" : nil) })
    #expect(ended == Set(numbers).subtracting([numbers[2]]))
    #expect(try await ledger.pushCounts() == [.expired: 599, .delivered: 1])
    #expect(try await ledger.pushes().prefix(3).map(\.reason) == ["TooLate", "Unreachable", nil])
    #expect(try await ledger.expirePushes(numbers.map { ($0, nil) }).isEmpty)
  }

  @Test(
    "an invalid push among pushes that are accepted at the same time does not affect the others",
    arguments: LedgerUnderTest.all)
  func together(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await ledger.register(newDevice())
    let failed = await withTaskGroup(of: Int?.self) { group in
      for id in 0..<40 {
        group.addTask {
          var new = newPush()
          if id.isMultiple(of: 8) { new.body = NewPush.Body(Data(count: 4097)) }
          return (try? await ledger.accept(answer: plainAnswer("\(id)"), pushing: [new])) == nil ? id : nil
        }
      }
      return await group.reduce(into: Set<Int>()) { if let id = $1 { $0.insert(id) } }
    }
    #expect(failed == [0, 8, 16, 24, 32])
    #expect(try await ledger.pushes().map(\.sequence) == (1...35).map(Int64.init))
  }
}
