// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import TestSupport
import Testing
import WebhookMessages

@Suite("Retries of webhooks")
struct WebhookRetryTests {
  private static let start = Date(timeIntervalSince1970: 1_800_000_000)

  /// The times of all attempts except the first, in seconds after the first attempt, if each attempt fails at once.
  private func attempts(random: () -> UInt64) -> [TimeInterval] {
    var times: [TimeInterval] = []
    var now = Self.start
    while let next = WebhookRetry().nextAttempt(
      at: now, afterAttempts: times.count + 1, first: Self.start, random: random())
    {
      times.append(next.timeIntervalSince(Self.start))
      now = next
    }
    return times
  }

  @Test("a webhook message is tried ten times, and the last attempt is exactly three days after the first")
  func schedule() {
    #expect(attempts { 0 } == [5, 305, 2_105, 9_305, 27_305, 63_305, 113_705, 185_705, 259_200])
    var random = SplitMix64(seed: 1)
    for _ in 0..<1_000 {
      let times = attempts { random.next() }
      #expect(times.last == 259_200 && times.count == 9)
    }
  }

  @Test("each pause between attempts is lengthened by up to a tenth, and is never shortened")
  func jitter() throws {
    let retry = WebhookRetry()
    func pause(_ random: UInt64) throws -> TimeInterval {
      try #require(retry.nextAttempt(at: Self.start, afterAttempts: 2, first: Self.start, random: random))
        .timeIntervalSince(Self.start)
    }
    #expect(try pause(0) == 300)
    #expect(try (329.9...330).contains(pause(.max)))
  }

  @Test("a pause that the receiver asks for is not shortened, but lasts at most one day")
  func requested() throws {
    let retry = WebhookRetry()
    for (requested, pause) in [(1, 5), (600, 600), (1e9, 86_400)] as [(TimeInterval, TimeInterval)] {
      let next = retry.nextAttempt(
        at: Self.start, afterAttempts: 1, first: Self.start, requested: requested, random: 0)
      #expect(next == Self.start.addingTimeInterval(pause))
    }
  }

  @Test("each status of an answer to a webhook has its outcome, and each outcome has its consequence")
  func outcomes() {
    let expected: [(ClosedRange<Int>, WebhookOutcome)] = [
      (100...199, .answerInvalid), (200...299, .delivered), (300...399, .redirected), (400...409, .refused),
      (410...410, .gone), (411...499, .refused), (500...599, .serverFailed), (600...999, .answerInvalid),
    ]
    for (statuses, outcome) in expected {
      for status in statuses { #expect(WebhookOutcome(status: status) == outcome) }
    }
    for outcome in WebhookOutcome.allCases {
      let consequence: WebhookOutcome.Consequence =
        outcome == .delivered ? .end : outcome == .gone ? .disable : .retry
      #expect(outcome.consequence == consequence)
    }
  }

  @Test("the body of a webhook message has the type, the time and the details of its event")
  func body() throws {
    let at = Date(timeIntervalSince1970: 1_800_000_000.25)
    let event = WebhookEvent(
      .failed, at: at, announcement: "a/1", delivery: .push, detail: ["device": "till-1", "reason": "Unregistered"])
    #expect(
      String(decoding: try event.body(.typed), as: UTF8.self)
        == #"{"data":{"delivery":"push","detail":{"device":"till-1","reason":"Unregistered"},"id":"a/1"},"#
        + #""timestamp":"2027-01-15T08:00:00.250Z","type":"announcement.failed"}"#)
    #expect(
      String(decoding: try WebhookEvent(.ping, at: at).body(.typed), as: UTF8.self)
        == #"{"data":{"detail":{}},"timestamp":"2027-01-15T08:00:00.250Z","type":"test.ping"}"#)
  }

  @Test("the details of a message are numbers, booleans and texts, or only texts for an endpoint that expects texts")
  func formats() throws {
    let at = Date(timeIntervalSince1970: 1_800_000_000)
    let event = WebhookEvent(
      .rendered, at: at, announcement: "a", delivery: .clip,
      detail: ["cached": "false", "duration_ms": "1333", "method": "speech", "waiting": "many"])
    #expect(
      String(decoding: try event.body(.typed), as: UTF8.self).contains(
        #""detail":{"cached":false,"duration_ms":1333,"method":"speech","waiting":"many"}"#))
    #expect(
      String(decoding: try event.body(.texts), as: UTF8.self).contains(
        #""detail":{"cached":"false","duration_ms":"1333","method":"speech","waiting":"many"}"#))
  }
}
