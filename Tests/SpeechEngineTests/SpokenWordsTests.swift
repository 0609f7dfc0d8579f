// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import Testing

@testable import SpeechEngine

@Suite("Word events show that a sound belongs to its words")
struct SpokenWordsTests {
  private func run(_ segments: [(String, Script.Role)], voice: String = "en-us+f2") -> Script.Run {
    Script.Run(language: "x", voice: voice, segments: segments.map { Script.Segment($0.0, $0.1) })
  }

  /// Returns a sound of one second with events at these places, 100 ms apart.
  private func speech(_ events: [(position: Int, length: Int)]) -> Speech {
    Speech(
      samples: [Int16](repeating: 8_000, count: 22_050), sampleRate: 22_050, totalSamples: 22_050,
      words: events.enumerated().map { index, event in
        Speech.Word(textPosition: event.position, length: event.length, startMilliseconds: 100 * index)
      })
  }

  private func fits(_ run: Script.Run, _ events: [(position: Int, length: Int)]) -> Bool {
    SpokenWords(of: run).fit(speech(events))
  }

  private var fiveDollars: Script.Run { run([("Received ", .phrase), ("five ", .amount), ("dollars", .amount)]) }

  @Test("a sound with a word event at the beginning of each word is accepted")
  func own() {
    #expect(fits(fiveDollars, [(0, 8), (9, 4), (14, 7)]))
    #expect(
      fits(
        run([("到账", .phrase), ("五", .amount), ("元", .amount)], voice: "cmn-latn-pinyin+f2"),
        [(0, 1), (1, 1), (2, 1), (3, 1)]))
  }

  @Test("the sound of another sum is refused if it has more, fewer, longer or no words")
  func another() {
    // Received one million dollars
    #expect(!fits(fiveDollars, [(0, 8), (9, 3), (13, 7), (21, 7)]))
    // Received dollars
    #expect(!fits(fiveDollars, [(0, 8), (9, 7)]))
    // Received seven dollars
    #expect(!fits(fiveDollars, [(0, 8), (9, 5), (15, 7)]))
    #expect(!fits(fiveDollars, [(0, 8), (14, 7)]))
    #expect(!fits(fiveDollars, [(0, 8), (9, 4)]))
    #expect(!fits(fiveDollars, []))
    #expect(
      !fits(
        run([("到账", .phrase), ("五", .amount), ("千", .amount), ("元", .amount)], voice: "cmn-latn-pinyin+f2"),
        [(0, 1), (1, 1), (2, 1), (4, 1)]))
  }

  @Test("a sound is refused if its word events have another order, or times that decrease or lie after the sound")
  func order() {
    #expect(!fits(fiveDollars, [(0, 8), (14, 7), (9, 4)]))
    var late = speech([(0, 8), (9, 4), (14, 7)])
    late.words[2].startMilliseconds = 1_001
    #expect(!SpokenWords(of: fiveDollars).fit(late))
    var falling = speech([(0, 8), (9, 4), (14, 7)])
    falling.words[1].startMilliseconds = 300
    #expect(!SpokenWords(of: fiveDollars).fit(falling))
  }

  @Test("a word that the engine merges with the previous one may lack an event in a note, but not in a sum")
  func phrases() {
    let note = run([("five dollars ", .amount), ("from the shop", .note)])
    #expect(fits(note, [(0, 4), (5, 7), (13, 4), (22, 4)]))
    #expect(!fits(note, [(5, 7), (13, 4), (22, 4)]))
    // More missing words than a phrase has were left out altogether.
    let long = run([("paid ", .phrase), ("for the rent of the flat", .note)])
    #expect(!fits(long, [(0, 4), (5, 3)]))
  }

  @Test(
    "a word event inside a name or note may be anywhere, and each word around the name or note begins with an event")
  func outside() {
    let name = run([("from ", .phrase), ("x. goNo", .payer), (", paid", .phrase)])
    #expect(fits(name, [(0, 4), (5, 1), (7, 2), (10, 2), (14, 4)]))
    #expect(!fits(name, [(0, 4), (5, 1), (7, 2), (10, 2), (15, 4)]))
    #expect(!fits(name, [(1, 4), (5, 1), (7, 2), (10, 2), (14, 4)]))
    #expect(!fits(name, [(0, 4), (5, 1), (7, 2), (10, 2)]))
    let sum = run([("from ", .phrase), ("x. goNo", .payer), (", five ", .amount), ("dollars", .amount)])
    #expect(fits(sum, [(0, 4), (5, 1), (7, 2), (10, 2), (14, 4), (19, 7)]))
    #expect(!fits(sum, [(0, 4), (5, 1), (7, 2), (10, 2), (14, 4), (20, 7)]))
  }

  @Test(
    "the engine may report no event for a Korean word that begins with a nasal, and several events for spelled letters")
  func wordEvents() {
    #expect(fits(run([("오천 원 ", .amount), ("네이버페이", .phrase)], voice: "ko+f2"), [(0, 2), (3, 1)]))
    #expect(fits(run([("from ", .phrase), ("Лев.", .payer)]), [(0, 4), (5, 3), (5, 3), (5, 3)]))
    #expect(fits(run([("from ", .phrase), ("«Lupita»", .payer)]), [(0, 4), (6, 0)]))
  }

  @Test(
    "the announcement's own words may not be silent, but a name or a pause may")
  func silence() {
    func isTaken(_ run: Script.Run, _ events: [(position: Int, length: Int)] = []) -> Bool {
      var silent = speech(events)
      silent.samples = silent.samples.indices.map { $0 % 2 == 0 ? 256 : -256 }
      return SpokenWords(of: run).fit(silent)
    }
    #expect(!isTaken(fiveDollars))
    #expect(!isTaken(fiveDollars, [(0, 8), (9, 4), (14, 7)]))
    // Words that need no event must also be audible.
    #expect(!isTaken(run([("12", .amount)])))
    #expect(!isTaken(run([("네이버페이", .phrase)], voice: "ko+f2")))
    #expect(!isTaken(run([("from ", .phrase), ("☕", .payer)])))
    #expect(
      isTaken(run([("☕", .payer)])) && isTaken(run([("Smith", .note)])) && isTaken(run([("five dollars", .text)])))
    #expect(isTaken(run([(", ", .phrase)])) && isTaken(run([(" … ", .phrase), ("☕", .payer)])))
  }

  @Test(
    "every wording of the phrase books is spoken as written",
    arguments: ["en-US", "es-MX", "hi-IN", "ja-JP", "ko-KR", "zh-CN"])
  func books(locale: String) async throws {
    let writer = try BuiltSpeaker.phraseBooks().writer(for: locale)
    let engine = BuiltSpeaker.engine()
    let payer = ["John Smith", "王小明", "Лев Толстой", "김민수", "佐藤 花子", "Guadalupe «Lupita» Ríos", "प्रिया"]
    let note = ["lunch for the two of us", "房租", "모임 회비 만 원", "मकान का किराया", "cumpleaños de mamá"]
    for (index, amount) in ["0.05", "1.00", "5.50", "12.34", "100.01", "1999.99", "70000.00", "1234567.89"].enumerated()
    {
      for kind in Payment.Kind.allCases {
        for currency in ["USD", "EUR", "CNY", "INR", "MXN"] {
          let payment = Payment(
            id: "1", amount: try Money(decimalText: amount, currency: try #require(Currency(code: currency))),
            kind: kind, channel: index % 2 == 0 ? "alipay" : nil,
            payer: payer[index % payer.count], note: note[index % note.count])
          let script = try writer.script(for: .payment(payment))
          for run in script.runs {
            let spoken = try await engine.waveform(of: run, rate: script.rate)
            #expect(spoken.totalMilliseconds > 0)
          }
        }
      }
    }
  }
}
