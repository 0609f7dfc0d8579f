// SPDX-License-Identifier: Apache-2.0

import Announcements
import Testing

@testable import Announcer

@Suite("Attempts to shorten an announcement")
struct AttemptTests {
  @Test(
    "a payment that is too long is tried whole, without the note, without the payer, faster, and as only the amount")
  func payment() throws {
    let workshop = try Workshop()
    let announcement = try Workshop.payment(payer: "张三", note: "午餐")
    let script = try workshop.announcer.script(for: announcement)
    let attempts = Shortenings.attempts(for: announcement, script: script)
    #expect(
      attempts.map(\.taken) == [
        [], [.note], [.note, .payer], [.note, .payer, .rate], [.note, .payer, .rate], [.note, .payer, .amountOnly],
      ])
    #expect(attempts.map(\.pace) == [.normal, .normal, .normal, .justEnough, .fastest, .normal])
  }

  @Test("an attempt to shorten an announcement is skipped if it would omit nothing")
  func plain() throws {
    let workshop = try Workshop()
    let announcement = try Workshop.payment()
    let attempts = Shortenings.attempts(for: announcement, script: try workshop.announcer.script(for: announcement))
    #expect(attempts.map(\.taken) == [[], [.rate], [.rate], [.amountOnly]])
    let text = Announcement.text("hello", locale: "en-US")
    let textAttempts = Shortenings.attempts(for: text, script: try workshop.announcer.script(for: text))
    #expect(textAttempts.map(\.taken) == [[], [.rate], [.rate]])
  }

  @Test(
    "the speaking rate is raised as far as needed, by at most a quarter, and not at all if a quarter is not enough",
    arguments: [
      (.normal, 160, 99_000, 160), (.justEnough, 160, 30_000, 163), (.justEnough, 160, 36_875, 200),
      (.justEnough, 160, 37_200, nil), (.fastest, 160, 37_200, 200), (.fastest, 160, 45_000, nil),
      (.justEnough, 160, nil, nil), (.fastest, 400, 33_000, 450),
    ] as [(Shortenings.Attempt.Pace, Int, Int?, Int?)])
  func rate(pace: Shortenings.Attempt.Pace, rate: Int, milliseconds: Int?, expected: Int?) {
    #expect(Shortenings.rate(for: pace, rate: rate, milliseconds: milliseconds) == expected)
  }
}
