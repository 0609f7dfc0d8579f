// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import Testing

@testable import SpeechEngine

@Suite("Names and notes with signs of all kinds", .timeLimit(.minutes(10)))
struct OutsideTextTests {
  private static let texts = [
    "$(id)", "😀 ok", "a & b", "50% off", "#1 shop", "A/B", "it's", "e.g. 3-4", "ﬁne", "naïve ½", "C++", "a_b", "x=y",
    "~/bin", "`ls`", "<b>", "R&D", "№ 5", "™", "…", "1.5e3", "a@b.c", "^_^", ":-)", "🇩🇪 x", "👨‍👩‍👧 fam", "(c) 2024", "§ 3",
    "***", "“hi”", "O'Brien", "U.S.A.", "MP3", "x²", "a→b", "房租😀", "王(小)明", "김😀민수", "佐藤&花子", "प्रिया+1", "の~",
    "Лев & Ко", "مرحبا 5", "a\u{301}b", "ｆｕｌｌ", "Ⅳ", "㈱", "x. goNo", "MP3 e.g. 3-4 A&W…x",
  ]

  @Test(
    "the check of word events accepts names and notes with signs of all kinds, and the sum beside them is spoken",
    arguments: ["en-US", "es-MX", "hi-IN", "ja-JP", "ko-KR", "zh-CN"])
  func spoken(locale: String) async throws {
    let writer = try BuiltSpeaker.phraseBooks().writer(for: locale)
    let engine = BuiltSpeaker.engine()
    let amount = try Money(decimalText: "12.50", currency: try #require(Currency(code: "USD")))
    let sum = try writer.script(for: .payment(Payment(id: "1", amount: amount)))
    for text in Self.texts {
      let payment = Payment(id: "1", amount: amount, payer: text, note: text)
      var runs = try writer.script(for: .payment(payment)).runs
      // Free text keeps more signs than names do. The test uses it as a name, in the sum's own voice.
      for free in (try? writer.script(for: .text(text, locale: nil)).runs) ?? [] {
        var run = try #require(sum.runs.first)
        run.segments += [Script.Segment(" ", .note)] + free.segments
        runs.append(run)
      }
      for run in runs {
        await #expect(throws: Never.self, "'\(text)' in '\(run.spelling)'") {
          try await engine.waveform(of: run, rate: sum.rate)
        }
      }
    }
  }
}
