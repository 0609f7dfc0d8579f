// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import Testing

@Suite("States", .removesLedgers)
struct StateTests {
  static let legal: [Ledger.State: Set<Ledger.State>] = [
    .accepted: [.rendering, .waiting, .cancelled, .failed, .expired, .quiet],
    .rendering: [.accepted, .waiting, .cancelled, .failed, .expired, .quiet],
    .waiting: [.accepted, .rendering, .playing, .cancelled, .failed, .expired, .quiet],
    .playing: [.accepted, .waiting, .played, .cancelled, .failed, .quiet],
    .played: [], .cancelled: [], .failed: [], .expired: [], .quiet: [],
  ]

  @Test(
    "the state of an announcement can change only as the table allows", arguments: LedgerUnderTest.all,
    Ledger.State.allCases)
  func transitions(kind: LedgerUnderTest, from: Ledger.State) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    for target in Ledger.State.allCases {
      let number = try await ledger.accept(payment("\(target)")).number
      for state in way(to: from) { #expect(try await ledger.set(number, state)) }
      let before = try await ledger.entry(number)
      // Reading events waits for transactions that are still open, and asking for the last position does not.
      let events = try await ledger.events(after: 0, lane: nil, limit: 1000).count
      if from == target {
        #expect(try await !ledger.set(number, target))
      } else if Self.legal[from]?.contains(target) == true {
        #expect(try await ledger.set(number, target))
        #expect(try await ledger.entry(number)?.state == target)
        #expect(try await ledger.entry(number)?.finishedAt == (target.isFinal ? place.clock.now : nil))
        continue
      } else {
        let error = try await #require(throws: LedgerError.self) {
          try await ledger.set(number, target, Ledger.Change(clip: "other", passing: 9))
        }
        #expect(error.code == .illegalTransition && error.from == from && error.to == target)
      }
      #expect(try await ledger.entry(number) == before)
      #expect(try await ledger.events(after: 0, lane: nil, limit: 1000).count == events)
      #expect(try await ledger.lastPassedSequence(lane: "counter") == nil)
    }
  }

  @Test(
    "a change of an announcement's state stores the clip, the playing time, the detail, the times and the attempts",
    arguments: LedgerUnderTest.all)
  func changes(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let number = try await ledger.accept(payment("a")).number
    place.clock.advance(by: 1)
    try await ledger.set(number, .waiting, Ledger.Change(clip: "ab12.wav"))
    try await ledger.set(number, .playing)
    try await ledger.set(number, .waiting, Ledger.Change(detail: ["code": "device_lost"], heardMilliseconds: 700))
    try await ledger.set(number, .playing)
    place.clock.advance(by: 1)
    try await ledger.set(number, .played, Ledger.Change(heardMilliseconds: 2300))
    let entry = try #require(try await ledger.entry(number))
    #expect(entry.clip == "ab12.wav" && entry.attempts == 2 && entry.heardMilliseconds == 2300 && entry.detail.isEmpty)
    #expect(entry.finishedAt == entry.acceptedAt + 2 && entry.changedAt == entry.finishedAt)
    let events = try await ledger.events()
    #expect(events.map(\.kind) == [.accepted, .waiting, .playing, .interrupted, .playing, .played])
    #expect(events[3].detail == ["code": "device_lost"] && events[3].number == number && events[3].lane == "counter")
  }

  @Test(
    "a change of state is an error for an unknown number, and if its detail is too long", arguments: LedgerUnderTest.all
  )
  func bad(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let missing = try await #require(throws: LedgerError.self) { try await ledger.set(7, .played) }
    #expect(missing.code == .notFound)
    let number = try await ledger.accept(payment("a")).number
    let long = Ledger.Change(detail: ["code": String(repeating: "x", count: 1000)])
    let error = try await #require(throws: LedgerError.self) { try await ledger.set(number, .failed, long) }
    #expect(error.code == .invalidValue)
    for clip in ["a\0.wav", String(repeating: "c", count: 4097)] {
      await #expect(throws: LedgerError.self) { try await ledger.set(number, .waiting, Ledger.Change(clip: clip)) }
    }
    #expect(try await ledger.entry(number)?.state == .accepted)
  }

  @Test(
    "if several final states of an announcement are set at the same time, exactly one applies",
    arguments: LedgerUnderTest.all)
  func racing(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let other = try await place.open()
    for round in 0..<30 {
      let number = try await ledger.accept(payment("\(round)")).number
      for state in way(to: .playing) { try await ledger.set(number, state) }
      let won = await withTaskGroup(of: Ledger.State?.self) { group in
        for (ledger, state) in [(ledger, Ledger.State.played), (other, .cancelled), (ledger, .failed)] {
          group.addTask { (try? await ledger.set(number, state)) == true ? state : nil }
        }
        return await group.reduce(into: [Ledger.State]()) { if let state = $1 { $0.append(state) } }
      }
      #expect(won.count == 1)
      #expect(try await ledger.entry(number)?.state == won.first)
    }
  }

  @Test(
    "after a crash, the announcement that played waits again, and those being rendered are accepted again, in order",
    arguments: LedgerUnderTest.all)
  func recovery(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    var numbers: [Int64] = []
    for state in [Ledger.State.played, .playing, .waiting, .rendering, .accepted, .cancelled, .playing] {
      let number = try await ledger.accept(payment("\(numbers.count)")).number
      // The clip of the last announcement is unknown, so this announcement starts over.
      if numbers.count < 6 { try await ledger.set(number, .waiting, Ledger.Change(clip: "c.wav")) }
      if numbers.count < 6 { try await ledger.set(number, .accepted) }
      for step in way(to: state) { try await ledger.set(number, step) }
      numbers.append(number)
    }
    _ = try await ledger.accept(payment("x", lane: "door"))

    let again = try await place.open()
    #expect(try await again.recover(lane: "counter") == 2)
    let left = try await again.unfinished(lane: "counter")
    #expect(left.map(\.number) == [numbers[1], numbers[2], numbers[3], numbers[4], numbers[6]])
    #expect(left.map(\.state) == [.waiting, .waiting, .accepted, .accepted, .accepted])
    #expect(try await again.events(limit: 1000).count { $0.kind == .interrupted } == 2)
    #expect(try await again.recover(lane: "counter") == 0)
    #expect(try await again.unfinished(lane: "counter") == left)
  }

  @Test(
    "the last sequence number that a lane has passed rises with changes of state, and never falls",
    arguments: LedgerUnderTest.all)
  func sequences(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    #expect(try await ledger.lastPassedSequence(lane: "counter") == nil)
    let number = try await ledger.accept(payment("a", sequence: 5)).number
    try await ledger.set(number, .cancelled, Ledger.Change(passing: 5))
    #expect(try await ledger.lastPassedSequence(lane: "counter") == 5)
    try await ledger.record(.sequenceMissing, lane: "counter", detail: ["from": "6", "to": "7"], passing: 7)
    #expect(try await ledger.lastPassedSequence(lane: "counter") == 7)
    try await ledger.record(.sequenceLate, lane: "counter", passing: 6)
    #expect(try await ledger.lastPassedSequence(lane: "counter") == 7)
    #expect(try await place.open().lastPassedSequence(lane: "counter") == 7)
    #expect(try await ledger.lastPassedSequence(lane: "door") == nil)
  }
}
