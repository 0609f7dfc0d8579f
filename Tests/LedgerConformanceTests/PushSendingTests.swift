// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import PushMessages
import TestSupport
import Testing

@Suite("Sending, reading and removing pushes", .removesLedgers)
struct PushSendingTests {
  @Test(
    "when pushes start to be sent, the ledger marks them, counts the attempts and returns their devices' tokens",
    arguments: LedgerUnderTest.all)
  func starting(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let kinds: [PushTokenKind: String] = [
      .alert: "a1", .background: "b2", .fileProvider: "c3", .fileProviderExtension: "d4",
    ]
    try await ledger.register(newDevice(tokens: kinds))
    let all = try await ledger.accept(PushType.allCases.map { newPush("phone-1", $0) }, account: "shop")
    func tokens() async throws -> [String?] { try await ledger.startSending(all).map(\.token) }
    #expect(try await tokens() == ["a1", "b2", "d4"])
    let unfinished = try await ledger.unfinishedPushes()
    #expect(unfinished.map(\.kind) == PushType.allCases && unfinished.allSatisfy(\.wasInterrupted))
    #expect(try await place.open().pushCounts() == [.sending: 3])

    for (given, expected) in [
      ([PushTokenKind.alert: "a1", .fileProvider: "c3"], ["a1", "a1", "c3"]),
      ([.background: "b2"], [nil, "b2", nil]),
      ([:], [nil, nil, nil]),
    ] {
      try await ledger.register(newDevice(tokens: given))
      #expect(try await tokens() == expected)
    }
    try await ledger.register(newDevice(tokens: kinds))
    try await ledger.finishPush(all[0], .delivered)
    let sent = try await ledger.startSending(all + [999])
    #expect(sent.map(\.push.number) == Array(all.dropFirst()) && sent.map(\.push.attempts) == [5, 5])
    #expect(sent.allSatisfy { $0.push.state == .sending })
    #expect(Set(sent.map(\.push.id)).count == 2)
  }

  @Test(
    "a push keeps its app, and gets no token if its device has another app or environment by then",
    arguments: LedgerUnderTest.all)
  func otherApp(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await ledger.register(newDevice())
    let numbers = try await ledger.accept([newPush()], account: "shop")
    try await ledger.register(newDevice(environment: .sandbox))
    #expect(try await ledger.startSending(numbers).map(\.token) == [nil])
    var other = newDevice()
    other.app = "com.example.other"
    try await ledger.register(other)
    #expect(try await ledger.startSending(numbers).map(\.token) == [nil])
    try await ledger.register(newDevice())
    #expect(try await ledger.startSending(numbers).map(\.token) == ["a1"])
  }

  @Test("a push ends once, and its first outcome stays", arguments: LedgerUnderTest.all)
  func finishing(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    try await ledger.register(newDevice())
    let finals: [Ledger.Push.State] = [.delivered, .failed, .expired, .unregistered]
    let numbers = try await ledger.accept(finals.map { _ in newPush() }, account: "shop")
    for (number, state) in zip(numbers, finals) {
      place.clock.advance(by: 1)
      #expect(try await ledger.finishPush(number, state, reason: "BadTopic"))
      for other in finals { #expect(try await !ledger.finishPush(number, other)) }
      try await ledger.postponePush(number, reason: "again")
      #expect(try await ledger.startSending([number]).isEmpty)
    }
    let pushes = try await ledger.pushes()
    #expect(pushes.map(\.state) == finals && pushes.allSatisfy { $0.reason == "BadTopic" && $0.state.isFinal })
    #expect(pushes.last?.finishedAt == place.clock.now)
    #expect(try await ledger.unfinishedPushes().isEmpty)
    #expect(try await ledger.pushCounts() == [.delivered: 1, .failed: 1, .expired: 1, .unregistered: 1])
    #expect(try await !ledger.finishPush(999, .failed))
    for (state, reason) in [
      (Ledger.Push.State.waiting, nil), (.sending, nil), (.failed, String(repeating: "x", count: 65)), (.failed, "a\0"),
    ] {
      let error = try await #require(throws: LedgerError.self) {
        try await ledger.finishPush(numbers[0], state, reason: reason)
      }
      #expect(error.code == .invalidValue)
    }
  }

  @Test("a postponed push keeps its reason and its number of attempts while it waits", arguments: LedgerUnderTest.all)
  func postponing(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await ledger.register(newDevice())
    let numbers = try await ledger.accept([newPush(), newPush()], account: "shop")
    _ = try await ledger.startSending(numbers)
    try await ledger.postponePush(numbers[0], reason: "ServiceUnavailable")
    let unfinished = try await ledger.unfinishedPushes()
    #expect(
      unfinished.map(\.wasInterrupted) == [false, true] && unfinished.map(\.reason) == ["ServiceUnavailable", nil])
    #expect(try await ledger.pushes().map(\.reason) == ["ServiceUnavailable", nil])
    try await ledger.postponePush(numbers[0], reason: String(repeating: "é", count: 60))
    #expect(try await ledger.pushes()[0].reason == String(repeating: "é", count: 32))
    try await ledger.postponePush(numbers[0], reason: nil)
    #expect(try await ledger.pushes()[0].reason == nil)
  }

  @Test("unfinished pushes are read in pages, oldest first", arguments: LedgerUnderTest.all)
  func unfinished(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await ledger.register(newDevice())
    let numbers = try await ledger.accept((0..<10).map { _ in newPush() }, account: "shop")
    try await ledger.finishPush(numbers[1], .failed)
    let first = try await ledger.unfinishedPushes(after: 0, limit: 3)
    #expect(first.map(\.number) == [numbers[0], numbers[2], numbers[3]])
    #expect(try await ledger.unfinishedPushes(after: numbers[3]).map(\.number) == Array(numbers[4...]))
    #expect(try await ledger.unfinishedPushes(after: 0, limit: 0).count == 1)
    let push = try #require(first.first)
    #expect(push.account == "shop" && push.device == "phone-1" && push.app == "com.example.shop")
    #expect(push.environment == .production && push.expiresAt == Date(timeIntervalSince1970: 1_800_003_600))
  }

  // MARK: - Catching up

  @Test(
    "a phone that catches up reads its pushes after a number, in order and in any state", arguments: LedgerUnderTest.all
  )
  func catchingUp(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    for id in ["phone-1", "phone-2"] { try await ledger.register(newDevice(id, tokens: [:])) }
    let numbers = try await ledger.accept((0..<6).map { _ in newPush() }, account: "shop")
    try await ledger.accept([newPush("phone-2")], account: "shop")
    try await ledger.finishPush(numbers[2], .expired)
    #expect(try await ledger.pushes(after: 2).map(\.sequence) == [3, 4, 5, 6])
    #expect(try await ledger.pushes(after: 2).first?.state == .expired)
    #expect(try await ledger.pushes(after: 2, limit: 2).map(\.sequence) == [3, 4])
    for last in [6, Int64.max] { #expect(try await ledger.pushes(after: last).isEmpty) }
    #expect(try await ledger.pushes(after: .min, limit: 0).map(\.sequence) == [1])
    for (account, device) in [("kiosk", "phone-1"), ("shop", "nobody"), ("shop", "phone-1\0"), ("shop\0", "phone-1")] {
      #expect(try await ledger.pushes(account: account, device: device, afterSequence: 0, limit: 100).isEmpty)
    }
  }

  @Test(
    "a new device with a removed device's id continues the former device's numbers, and does not get its pushes",
    arguments: LedgerUnderTest.all)
  func sameName(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await ledger.register(newDevice(), "first")
    let old = try await ledger.accept([newPush(), newPush()], account: "shop")
    try await ledger.removeDevice(account: "shop", id: "phone-1", by: .key("admin"))
    #expect(try await ledger.pushes().isEmpty)
    #expect(try await ledger.startSending([old[0]]).map(\.token) == [nil])
    let device = try await ledger.register(newDevice(), "second").device
    #expect(device.firstSequence == 2 && device.lastSequence == 2)
    #expect(try await ledger.startSending(old).map(\.token) == [nil, nil])
    #expect(try await ledger.pushes().isEmpty)
    let new = try await ledger.accept([newPush()], account: "shop")
    #expect(try await ledger.pushes().map(\.sequence) == [3])
    #expect(try await ledger.startSending(new).map(\.token) == ["a1"])
    // Another registration of the same device changes neither number.
    try await ledger.register(newDevice(group: "counter"), "third")
    #expect(try await ledger.pushes().map(\.sequence) == [3])
    #expect(try await ledger.device(account: "shop", id: "phone-1")?.lastSequence == 3)
  }

  // MARK: - Removing

  @Test(
    "an announcement can be removed only after its pushes have ended, and then together with its pushes",
    arguments: LedgerUnderTest.all)
  func removing(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    for id in ["phone-1", "phone-2"] { try await ledger.register(newDevice(id, tokens: [:])) }
    _ = try await ledger.accept(
      answer: plainAnswer("A", clip: "a.wav"), pushing: [newPush(clip: "a.wav"), newPush("phone-2", clip: "b.wav")])
    _ = try await ledger.accept(answer: plainAnswer("B"), pushing: [newPush()])
    let numbers = try await ledger.pushes(account: "shop", announcement: "A").map(\.number)
    #expect(try await ledger.remove(account: "shop", id: "A") == .notEnded)
    _ = try await ledger.startSending(numbers)
    try await ledger.finishPush(numbers[0], .delivered)
    #expect(try await ledger.remove(account: "shop", id: "A") == .notEnded)
    #expect(try await ledger.pushes(account: "shop", announcement: "A").count == 2)
    try await ledger.finishPush(numbers[1], .expired)
    guard case .removed(nil, let answers, let pushed) = try await ledger.remove(account: "shop", id: "A") else {
      Issue.record("It was not removed.")
      return
    }
    #expect(answers.map(\.clip?.name) == ["a.wav"])
    #expect(pushed == ["a.wav", "b.wav"], "the clips of all languages are returned")
    #expect(try await ledger.pushes().map(\.announcement) == ["B"])
    #expect(try await ledger.remove(account: "shop", id: "A") == .unknown)
    // A later request with the id is a new announcement.
    _ = try await ledger.accept(answer: plainAnswer("A"), pushing: [newPush()])
    #expect(try await ledger.pushes().map(\.sequence) == [2, 3])
  }

  @Test(
    "pruning removes pushes that ended before a given time, and never an unfinished push",
    arguments: LedgerUnderTest.all)
  func pruning(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    try await ledger.register(newDevice())
    let numbers = try await ledger.accept((0..<4).map { _ in newPush() }, account: "shop")
    try await ledger.finishPush(numbers[0], .delivered)
    place.clock.advance(by: 60)
    try await ledger.finishPush(numbers[1], .failed)
    _ = try await ledger.startSending([numbers[2]])
    #expect(try await ledger.prune(finishedBefore: place.clock.now).pushes == 1)
    #expect(try await ledger.pushes().map(\.sequence) == [2, 3, 4])
    #expect(try await ledger.prune(finishedBefore: place.clock.now + 1e6).pushes == 1)
    #expect(try await ledger.pushes().map(\.sequence) == [3, 4])
    try await ledger.accept([newPush()], account: "shop")
    #expect(try await ledger.pushes().last?.sequence == 5)
  }

  @Test(
    "pruning keeps only the latest ended pushes that announce nothing, whatever their age",
    arguments: LedgerUnderTest.all)
  func silent(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    var options = LedgerUnderTest.Options()
    options.limits.mostEndedSilentPushes = 3
    let ledger = try await place.open(options)
    try await ledger.register(newDevice())
    _ = try await ledger.accept(answer: plainAnswer("A"), pushing: [newPush(), newPush()])
    var silent: [Int64] = []
    for _ in 1...6 { silent += try await ledger.accept([newPush("phone-1", .fileProvider)], account: "shop") }
    let all = try await ledger.unfinishedPushes().map(\.number)
    for number in all where number != silent[5] {
      place.clock.advance(by: 1)
      try await ledger.finishPush(number, .delivered)
    }
    // No push is old enough to be removed for its age.
    let moment = place.clock.now - 3600
    #expect(try await ledger.prune(finishedBefore: moment).pushes == 2)
    #expect(try await ledger.prune(finishedBefore: moment).pushes == 0)
    #expect(try await ledger.pushCounts() == [.delivered: 5, .waiting: 1])
    #expect(try await ledger.pushes(account: "shop", announcement: "A").count == 2)
  }

  @Test("the clip of a push is needed until the push ends", arguments: LedgerUnderTest.all)
  func neededClips(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await ledger.register(newDevice())
    let numbers = try await ledger.accept([newPush(clip: "a.wav"), newPush(clip: "b.wav"), newPush()], account: "shop")
    #expect(try await ledger.neededClips(ofBatches: [], among: nil) == ["a.wav", "b.wav"])
    try await ledger.finishPush(numbers[0], .delivered)
    _ = try await ledger.startSending(numbers)
    #expect(try await ledger.neededClips(ofBatches: [], among: nil) == ["b.wav"])
    try await ledger.finishPush(numbers[1], .expired)
    #expect(try await ledger.neededClips(ofBatches: [], among: nil).isEmpty)
  }

  @Test(
    "a device may fetch the clips that were pushed to it since its registration",
    arguments: LedgerUnderTest.all)
  func ownClips(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    for id in ["phone-1", "phone-2"] { try await ledger.register(newDevice(id)) }
    _ = try await ledger.accept(answer: plainAnswer("A", clip: "c.wav"), pushing: [newPush(clip: "a.wav")])
    func has(_ name: String, _ account: String = "shop", _ device: String = "phone-1") async throws -> Bool {
      try await ledger.wasPushed(clip: name, account: account, device: device)
    }
    #expect(try await has("a.wav"))
    for (name, account, device) in [
      ("c.wav", "shop", "phone-1"), ("a.wav", "kiosk", "phone-1"), ("a.wav", "shop", "phone-2"),
      ("a.wav\0", "shop", "phone-1"), ("a.wav", "shop\0", "phone-1"), ("a.wav", "shop", "phone-1\0"),
      ("", "shop", "phone-1"),
    ] {
      #expect(try await !has(name, account, device))
    }
    // A new phone with the id of a removed one gets nothing of the former one.
    _ = try await ledger.removeDevice(account: "shop", id: "phone-1", by: .currentUser)
    #expect(try await !has("a.wav"))
    try await ledger.register(newDevice(), "second")
    #expect(try await !has("a.wav"))
  }

  @Test("a clip in the push of another account counts as a clip of another account", arguments: LedgerUnderTest.all)
  func clipOfOthers(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await ledger.register(newDevice(account: "kiosk"))
    _ = try await ledger.accept([newPush(clip: "a.wav")], account: "kiosk")
    #expect(try await ledger.isClipOfOthers("a.wav", than: "shop"))
    #expect(try await !ledger.isClipOfOthers("a.wav", than: "kiosk"))
  }

  @Test(
    "only one sender at a time may send pushes, and a second sender begins when the first has ended",
    arguments: LedgerUnderTest.all)
  func seat(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let other = try await place.open()
    var first = try await ledger.takeSeat(of: .pushes)
    #expect(first != nil)
    #expect(try await other.takeSeat(of: .pushes) == nil)
    withExtendedLifetime(first) {}
    first = nil
    try await eventually { try await other.takeSeat(of: .pushes) != nil }
  }

  @Test(
    "a push that was accepted for a removed device does not go to a new device with the same id",
    arguments: LedgerUnderTest.all)
  func reusedID(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    try await ledger.register(newDevice(tokens: [.background: "b2"]))
    let numbers = try await ledger.accept([newPush("phone-1", .background)], account: "shop")
    _ = try await ledger.removeDevice(account: "shop", id: "phone-1", by: .currentUser)
    place.clock.advance(by: 1)
    try await ledger.register(newDevice(tokens: [.background: "c3"]), "second")
    #expect(try await ledger.startSending(numbers).map(\.token) == [nil])
  }
}
