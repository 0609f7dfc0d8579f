// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import LedgerTestSupport
import PushMessages
import Testing

@testable import Ledger
@testable import SQLiteLedger

/// A push of the tests. Its body is its number.
func newPush(
  _ device: String = "phone-1", _ kind: PushType = .alert, clip: String? = nil,
  expiresAt: Date = Date(timeIntervalSince1970: 1_800_003_600)
) -> NewPush {
  NewPush(
    device: device, kind: kind, priority: kind == .background ? 5 : 10, clip: clip, expiresAt: expiresAt,
    body: NewPush.Body(beforeSequence: Data(#"{"sequence":"#.utf8), afterSequence: Data("}".utf8)))
}

private func answer(_ id: String, key: String? = nil, clip: String? = nil) -> NewAnswer {
  NewAnswer(
    account: "shop", key: key ?? "id:\(id)", bodyDigest: digestOf(id), id: id, status: 201, report: Data(),
    clip: clip.map { PublishedClip(name: $0, group: nil) })
}

@Suite("Pushes in the ledger")
struct PushTests {
  let place: TemporaryLedger
  let ledger: SQLiteLedger

  init() throws {
    place = try TemporaryLedger()
    ledger = try place.open()
  }

  private func pushes(to device: String = "phone-1", after: Int64 = 0, limit: Int = 100) async throws -> [Ledger.Push] {
    try await ledger.pushes(account: "shop", device: device, afterSequence: after, limit: limit)
  }

  private func error(of push: NewPush) async throws -> LedgerError {
    try await #require(throws: LedgerError.self) { try await ledger.accept([push], account: "shop") }
  }

  @Test(
    "a device has the outcome of its latest push for each token kind, and a new device with its id has none")
  func outcomes() async throws {
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
    try await ledger.noteOutcome(.failed, of: .alert, account: "shop", device: "nobody")
    device = try #require(try await ledger.device(account: "shop", id: "phone-1"))
    #expect(device.outcomes[.alert]?.reason == "cannot_connect")
    await #expect(throws: LedgerError.self) {
      try await ledger.noteOutcome(.waiting, of: .alert, account: "shop", device: "phone-1")
    }
    let late = try await ledger.accept([newPush()], account: "shop")
    #expect(try await ledger.removeDevice(account: "shop", id: "phone-1", by: .currentUser))
    try await ledger.register(newDevice(), "later")
    for number in late { try await ledger.finishPush(number, .unregistered, reason: "NoToken") }
    #expect(try await ledger.device(account: "shop", id: "phone-1")?.outcomes.isEmpty == true)
  }

  // MARK: - Accepting

  @Test("a push is stored with all its values, in the transaction of its answer")
  func everything() async throws {
    try await ledger.register(newDevice(environment: .sandbox))
    var new = newPush(clip: "a.wav")
    new.collapseID = "total"
    _ = try await ledger.accept(answer: answer("A-1"), pushing: [new])
    for ledger in [ledger, try place.open()] {
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

  @Test("the last sequence number of a device rises by one with each alert to it, and not with other pushes")
  func sequence() async throws {
    for id in ["phone-1", "phone-2"] { try await ledger.register(newDevice(id, tokens: [:])) }
    try await ledger.register(newDevice(account: "kiosk", tokens: [:]))
    for (id, devices) in [("A", ["phone-1", "phone-2"]), ("B", ["phone-2"]), ("C", ["phone-2", "phone-1"])] {
      _ = try await ledger.accept(
        answer: answer(id), pushing: devices.map { newPush($0) } + [newPush("phone-1", .background)])
    }
    try await ledger.accept([newPush("phone-1", .fileProvider), newPush()], account: "shop")
    #expect(try await pushes().map(\.sequence) == [1, 2, 3])
    #expect(try await pushes().map(\.announcement) == ["A", "C", nil])
    #expect(try await pushes(to: "phone-2").map(\.announcement) == ["A", "B", "C"])
    #expect(try await ledger.device(account: "shop", id: "phone-1")?.lastSequence == 3)
    #expect(try await ledger.device(account: "kiosk", id: "phone-1")?.lastSequence == 0)
    let background = try await ledger.pushes(account: "shop", announcement: "A").filter { $0.kind == .background }
    #expect(background.map(\.sequence) == [nil] && background.map(\.body) == [Data(#"{"sequence":null}"#.utf8)])
  }

  @Test("if two ledgers accept pushes at once, the pushes of a device are numbered without gaps and have different ids")
  func racing() async throws {
    try await ledger.register(newDevice())
    let other = try place.open()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for id in 0..<60 {
        group.addTask {
          _ = try await (id.isMultiple(of: 2) ? ledger : other).accept(answer: answer("\(id)"), pushing: [newPush()])
        }
      }
      try await group.waitForAll()
    }
    let pushes = try await pushes()
    #expect(pushes.map(\.sequence) == (1...60).map(Int64.init))
    #expect(pushes.allSatisfy { $0.body == Data(#"{"sequence":\#($0.sequence ?? 0)}"#.utf8) })
    #expect(Set(pushes.map(\.id)).count == 60 && Set(pushes.map(\.announcement)).count == 60)
  }

  @Test("a repeated request, and another request with the same id, cause no second push")
  func duplicate() async throws {
    try await ledger.register(newDevice())
    _ = try await ledger.accept(answer: answer("A"), pushing: [newPush()])
    #expect(try await ledger.accept(answer: answer("A"), pushing: [newPush()]).isDuplicate)
    #expect(try await !ledger.accept(answer: answer("A", key: "h:other"), pushing: [newPush()]).isDuplicate)
    place.clock.advance(by: Ledger.answerLifetime + 1)
    #expect(try await !ledger.accept(answer: answer("A"), pushing: [newPush()]).isDuplicate)
    #expect(try await pushes().map(\.sequence) == [1])
    #expect(try await ledger.device(account: "shop", id: "phone-1")?.lastSequence == 1)

    // An announcement that was not pushed before can be pushed by a later request.
    _ = try await ledger.accept(answer: answer("B"))
    _ = try await ledger.accept(answer: answer("B", key: "h:later"), pushing: [newPush()])
    #expect(try await pushes().map(\.announcement) == ["A", "B"])
  }

  @Test("a push to a device that the account does not have is left out, and the other pushes are stored")
  func nobody() async throws {
    try await ledger.register(newDevice())
    try await ledger.register(newDevice("phone-2", account: "kiosk"))
    _ = try await ledger.accept(answer: answer("A"), pushing: [newPush("phone-2"), newPush(), newPush("nobody")])
    #expect(try await ledger.pushes(account: "shop", announcement: "A").map(\.device) == ["phone-1"])
    #expect(try await ledger.accept([newPush("nobody")], account: "shop").isEmpty)
    #expect(try await ledger.device(account: "kiosk", id: "phone-2")?.lastSequence == 0)
  }

  @Test("an invalid push is refused by an error that names the field, nothing is stored, and no number is used up")
  func refused() async throws {
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
      let error = try await error(of: new)
      #expect(error.code == .invalidValue && error.field?.hasPrefix(field) == true, "\(error)")
      #expect(error.description.hasPrefix("Changing the pushes in the ledger ") && !error.description.contains("xx"))
      _ = try? await ledger.accept(answer: answer(field), playing: payment(field, account: "shop"), pushing: [new])
      #expect(try await ledger.announcement(account: "shop", id: field) == nil)
    }
    let error = try await #require(throws: LedgerError.self) { try await ledger.accept([newPush()], account: "shop\0") }
    #expect(error.field?.hasPrefix("account") == true)
    #expect(try await pushes().isEmpty)
    #expect(try await ledger.pushCounts().isEmpty)
    try await ledger.accept([changed { $0.body = NewPush.Body(Data(count: 4096)) }], account: "shop")
    #expect(try await pushes().map(\.sequence) == [1])
  }

  @Test("the sequence number of a push is inserted only at the place for it in the push's body")
  func gap() async throws {
    try await ledger.register(newDevice())
    var push = newPush()
    push.body = NewPush.Body(beforeSequence: Data(#"{"text":"1","sequence":"#.utf8), afterSequence: Data("}".utf8))
    for _ in 1...2 { try await ledger.accept([push], account: "shop") }
    #expect(
      try await pushes().map { String(decoding: $0.body, as: UTF8.self) } == [
        #"{"text":"1","sequence":1}"#, #"{"text":"1","sequence":2}"#,
      ])
  }

  @Test("many outdated pushes end together, each with its reason, and pushes that have already ended are unchanged")
  func expired() async throws {
    try await ledger.register(newDevice())
    let numbers = try await ledger.accept((0..<600).map { _ in newPush() }, account: "shop")
    try await ledger.postponePush(numbers[1], reason: "Unreachable")
    try await ledger.finishPush(numbers[2], .delivered)
    let ended = try await ledger.expirePushes(numbers.map { ($0, $0 == numbers[0] ? "TooLate" : nil) })
    #expect(ended == Set(numbers).subtracting([numbers[2]]))
    #expect(try await ledger.pushCounts() == [.expired: 599, .delivered: 1])
    #expect(try await pushes().prefix(3).map(\.reason) == ["TooLate", "Unreachable", nil])
    #expect(try await ledger.expirePushes(numbers.map { ($0, nil) }).isEmpty)
  }

  @Test("an invalid push among pushes that are accepted at the same time does not affect the others")
  func together() async throws {
    try await ledger.register(newDevice())
    let failed = await withTaskGroup(of: Int?.self) { group in
      for id in 0..<40 {
        group.addTask {
          var new = newPush()
          if id.isMultiple(of: 8) { new.body = NewPush.Body(Data(count: 4097)) }
          return (try? await ledger.accept(answer: answer("\(id)"), pushing: [new])) == nil ? id : nil
        }
      }
      return await group.reduce(into: Set<Int>()) { if let id = $1 { $0.insert(id) } }
    }
    #expect(failed == [0, 8, 16, 24, 32])
    #expect(try await pushes().map(\.sequence) == (1...35).map(Int64.init))
  }

  @Test("a full ledger accepts no push, and still records the outcomes of earlier pushes")
  func full() async throws {
    var options = SQLiteLedger.Options()
    options.maximumBytes = 493_000
    let narrow = try place.open(options)
    try await narrow.register(newDevice())
    var numbers: [Int64] = []
    var failure: LedgerError?
    while failure == nil, numbers.count < 1_000 {
      var new = newPush()
      new.body = NewPush.Body(Data(repeating: 0x20, count: 4_000))
      do { numbers += try await narrow.accept([new], account: "shop") } catch { failure = error }
    }
    #expect(failure?.code == .diskFull && numbers.count > 20)
    for number in numbers { #expect(try await narrow.finishPush(number, .delivered)) }
    place.clock.advance(by: 60)
    #expect(try await narrow.prune(finishedBefore: place.clock.now).pushes == numbers.count)
    #expect(try await narrow.accept([newPush()], account: "shop").count == 1)
  }

  // MARK: - Sending

  @Test("when pushes start to be sent, the ledger marks them, counts the attempts and returns their devices' tokens")
  func starting() async throws {
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

  @Test("a push keeps its app, and gets no token if its device has another app or environment by then")
  func otherApp() async throws {
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

  @Test("a push ends once, and its first outcome stays")
  func finishing() async throws {
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
    let pushes = try await pushes()
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

  @Test("a postponed push keeps its reason and its number of attempts while it waits")
  func postponing() async throws {
    try await ledger.register(newDevice())
    let numbers = try await ledger.accept([newPush(), newPush()], account: "shop")
    _ = try await ledger.startSending(numbers)
    try await ledger.postponePush(numbers[0], reason: "ServiceUnavailable")
    let unfinished = try await ledger.unfinishedPushes()
    #expect(
      unfinished.map(\.wasInterrupted) == [false, true] && unfinished.map(\.reason) == ["ServiceUnavailable", nil])
    #expect(try await pushes().map(\.reason) == ["ServiceUnavailable", nil])
    try await ledger.postponePush(numbers[0], reason: String(repeating: "é", count: 60))
    #expect(try await pushes()[0].reason == String(repeating: "é", count: 32))
    try await ledger.postponePush(numbers[0], reason: nil)
    #expect(try await pushes()[0].reason == nil)
  }

  @Test("unfinished pushes are read in pages, oldest first")
  func unfinished() async throws {
    try await ledger.register(newDevice())
    let numbers = try await ledger.accept((0..<10).map { _ in newPush() }, account: "shop")
    try await ledger.finishPush(numbers[1], .failed)
    let first = try await ledger.unfinishedPushes(limit: 3)
    #expect(first.map(\.number) == [numbers[0], numbers[2], numbers[3]])
    #expect(try await ledger.unfinishedPushes(after: numbers[3]).map(\.number) == Array(numbers[4...]))
    #expect(try await ledger.unfinishedPushes(limit: 0).count == 1)
    let push = try #require(first.first)
    #expect(push.account == "shop" && push.device == "phone-1" && push.app == "com.example.shop")
    #expect(push.environment == .production && push.expiresAt == Date(timeIntervalSince1970: 1_800_003_600))
  }

  // MARK: - Catching up

  @Test("a phone that catches up reads its pushes after a number, in order and in any state")
  func catchingUp() async throws {
    for id in ["phone-1", "phone-2"] { try await ledger.register(newDevice(id, tokens: [:])) }
    let numbers = try await ledger.accept((0..<6).map { _ in newPush() }, account: "shop")
    try await ledger.accept([newPush("phone-2")], account: "shop")
    try await ledger.finishPush(numbers[2], .expired)
    #expect(try await pushes(after: 2).map(\.sequence) == [3, 4, 5, 6])
    #expect(try await pushes(after: 2).first?.state == .expired)
    #expect(try await pushes(after: 2, limit: 2).map(\.sequence) == [3, 4])
    for last in [6, Int64.max] { #expect(try await pushes(after: last).isEmpty) }
    #expect(try await pushes(after: .min, limit: 0).map(\.sequence) == [1])
    for (account, device) in [("kiosk", "phone-1"), ("shop", "nobody"), ("shop", "phone-1\0"), ("shop\0", "phone-1")] {
      #expect(try await ledger.pushes(account: account, device: device, afterSequence: 0).isEmpty)
    }
  }

  @Test("a new device with a removed device's id continues its numbers, and neither lists nor receives its pushes")
  func sameName() async throws {
    try await ledger.register(newDevice(), "first")
    let old = try await ledger.accept([newPush(), newPush()], account: "shop")
    try await ledger.removeDevice(account: "shop", id: "phone-1", by: .key("admin"))
    #expect(try await pushes().isEmpty)
    #expect(try await ledger.startSending([old[0]]).map(\.token) == [nil])
    let device = try await ledger.register(newDevice(), "second").device
    #expect(device.firstSequence == 2 && device.lastSequence == 2)
    #expect(try await ledger.startSending(old).map(\.token) == [nil, nil])
    #expect(try await pushes().isEmpty)
    let new = try await ledger.accept([newPush()], account: "shop")
    #expect(try await pushes().map(\.sequence) == [3])
    #expect(try await ledger.startSending(new).map(\.token) == ["a1"])
    // Another registration of the same device changes neither number.
    try await ledger.register(newDevice(group: "counter"), "third")
    #expect(try await pushes().map(\.sequence) == [3])
    #expect(try await ledger.device(account: "shop", id: "phone-1")?.lastSequence == 3)
  }

  // MARK: - Removing

  @Test("an announcement can be removed only after its pushes have ended, and then together with its pushes")
  func removing() async throws {
    for id in ["phone-1", "phone-2"] { try await ledger.register(newDevice(id, tokens: [:])) }
    _ = try await ledger.accept(
      answer: answer("A", clip: "a.wav"), pushing: [newPush(clip: "a.wav"), newPush("phone-2", clip: "b.wav")])
    _ = try await ledger.accept(answer: answer("B"), pushing: [newPush()])
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
    #expect(try await pushes().map(\.announcement) == ["B"])
    #expect(try await ledger.remove(account: "shop", id: "A") == .unknown)
    // A later request with the id is a new announcement.
    _ = try await ledger.accept(answer: answer("A"), pushing: [newPush()])
    #expect(try await pushes().map(\.sequence) == [2, 3])
  }

  @Test("pruning removes pushes that ended before a given time, and never an unfinished push")
  func pruning() async throws {
    try await ledger.register(newDevice())
    let numbers = try await ledger.accept((0..<4).map { _ in newPush() }, account: "shop")
    try await ledger.finishPush(numbers[0], .delivered)
    place.clock.advance(by: 60)
    try await ledger.finishPush(numbers[1], .failed)
    _ = try await ledger.startSending([numbers[2]])
    #expect(try await ledger.prune(finishedBefore: place.clock.now).pushes == 1)
    #expect(try await pushes().map(\.sequence) == [2, 3, 4])
    #expect(try await ledger.prune(finishedBefore: place.clock.now + 1e6).pushes == 1)
    #expect(try await pushes().map(\.sequence) == [3, 4])
    try await ledger.accept([newPush()], account: "shop")
    #expect(try await pushes().last?.sequence == 5)
  }

  @Test("pruning keeps only the latest ended pushes that announce nothing, whatever their age")
  func silent() async throws {
    var options = SQLiteLedger.Options()
    options.limits.mostEndedSilentPushes = 3
    let ledger = try place.open(options)
    try await ledger.register(newDevice())
    _ = try await ledger.accept(answer: answer("A"), pushing: [newPush(), newPush()])
    var silent: [Int64] = []
    for _ in 1...6 { silent += try await ledger.accept([newPush("phone-1", .fileProvider)], account: "shop") }
    let all = try await ledger.unfinishedPushes().map(\.number)
    for number in all where number != silent[5] {
      place.clock.advance(by: 1)
      try await ledger.finishPush(number, .delivered)
    }
    // Nothing is old.
    let moment = place.clock.now - 3600
    #expect(try await ledger.prune(finishedBefore: moment).pushes == 2)
    #expect(try await ledger.prune(finishedBefore: moment).pushes == 0)
    #expect(try await ledger.pushCounts() == [.delivered: 5, .waiting: 1])
    #expect(try await ledger.pushes(account: "shop", announcement: "A").count == 2)
  }

  @Test("the clip of a push is needed until the push ends")
  func neededClips() async throws {
    try await ledger.register(newDevice())
    let numbers = try await ledger.accept([newPush(clip: "a.wav"), newPush(clip: "b.wav"), newPush()], account: "shop")
    #expect(try await ledger.neededClips(ofBatches: []) == ["a.wav", "b.wav"])
    try await ledger.finishPush(numbers[0], .delivered)
    _ = try await ledger.startSending(numbers)
    #expect(try await ledger.neededClips(ofBatches: []) == ["b.wav"])
    try await ledger.finishPush(numbers[1], .expired)
    #expect(try await ledger.neededClips(ofBatches: []).isEmpty)
  }

  @Test("a device may fetch the clips that were pushed to it since its registration, and an index finds each clip")
  func ownClips() async throws {
    for id in ["phone-1", "phone-2"] { try await ledger.register(newDevice(id)) }
    _ = try await ledger.accept(answer: answer("A", clip: "c.wav"), pushing: [newPush(clip: "a.wav")])
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
    let plan = try await DatabaseQueue(waitingFor: place.file).read { database in
      try Row.fetchAll(
        database, sql: "EXPLAIN QUERY PLAN \(SQLiteLedger.clipOfDevice)",
        arguments: ["clip": "a.wav", "account": "shop", "id": "phone-1"]
      ).map { $0["detail"] as String }
    }
    #expect(
      plan.contains { $0.contains("pushes_by_clip") }
        && !plan.contains { $0.hasPrefix("SCAN") && $0 != "SCAN CONSTANT ROW" }, "\(plan)")
  }

  @Test("a clip in the push of another account counts as a clip of another account")
  func clipOfOthers() async throws {
    try await ledger.register(newDevice(account: "kiosk"))
    _ = try await ledger.accept([newPush(clip: "a.wav")], account: "kiosk")
    #expect(try await ledger.isClipOfOthers("a.wav", than: "shop"))
    #expect(try await !ledger.isClipOfOthers("a.wav", than: "kiosk"))
  }

  @Test("only one sender at a time may send pushes, and a second sender begins when the first has ended")
  func seat() async throws {
    let other = try place.open()
    var first = try ledger.takeSeat(of: .pushes)
    #expect(first != nil)
    #expect(try other.takeSeat(of: .pushes) == nil)
    withExtendedLifetime(first) {}
    first = nil
    #expect(try other.takeSeat(of: .pushes) != nil)
  }

  @Test("a push that was accepted for a removed device does not go to a new device with the same id")
  func reusedID() async throws {
    try await ledger.register(newDevice(tokens: [.background: "b2"]))
    let numbers = try await ledger.accept([newPush("phone-1", .background)], account: "shop")
    _ = try await ledger.removeDevice(account: "shop", id: "phone-1", by: .currentUser)
    place.clock.advance(by: 1)
    try await ledger.register(newDevice(tokens: [.background: "c3"]), "second")
    #expect(try await ledger.startSending(numbers).map(\.token) == [nil])
  }
}
