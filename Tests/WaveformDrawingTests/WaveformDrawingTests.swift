// SPDX-License-Identifier: Apache-2.0

import Testing
import Waveforms

@testable import WaveformDrawing

private typealias Mark = Waveform.Mark

private func silence(milliseconds: Int, _ marks: [(String, Int, Int)] = []) -> Waveform {
  Waveform(
    samples: [Int16](repeating: 0, count: milliseconds), sampleRate: 1000,
    marks: marks.map { Mark(text: $0.0, startMilliseconds: $0.1, endMilliseconds: $0.2) })
}

@Suite("A drawing of a waveform")
struct WaveformDrawingTests {
  private func words(_ waveform: Waveform, columns: Int) -> [String] {
    Array(WaveformDrawing(columns: columns, rows: 1, style: .braille).lines(waveform).dropFirst().dropLast(2))
  }

  // MARK: The envelope

  @Test("a drawn envelope is symmetrical and reaches the edge at full scale, in dots of two by four per cell")
  func envelope() {
    // 40 parts of 10 samples: full scale, half of it, a whisper, silence.
    let samples =
      [Int16](repeating: .max, count: 100) + [Int16](repeating: -16_384, count: 100) + [Int16](repeating: 1, count: 100)
      + [Int16](repeating: 0, count: 100)
    let lines = WaveformDrawing(columns: 20, rows: 2, style: .braille).lines(
      Waveform(samples: samples, sampleRate: 1000))
    #expect(
      lines == [
        "⣿⣿⣿⣿⣿⣤⣤⣤⣤⣤⣀⣀⣀⣀⣀⠀⠀⠀⠀⠀",
        "⣿⣿⣿⣿⣿⠛⠛⠛⠛⠛⠉⠉⠉⠉⠉⠀⠀⠀⠀⠀",
        "⡏⠉⠉⠉⠉⠉⠉⠉⠉⠉⡏⠉⠉⠉⠉⠉⠉⠉⠉⡏",
        "0.0 s     0.2 s",
      ])
  }

  @Test("a single loud sample is visible in the drawing, and the most negative sample is at full scale")
  func peaks() {
    var samples = [Int16](repeating: 0, count: 4000)
    samples[0] = .min
    samples[3999] = .max
    let lines = WaveformDrawing(columns: 20, rows: 1, style: .braille).lines(
      Waveform(samples: samples, sampleRate: 8000))
    #expect(lines[0] == "⡇⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⢸")
  }

  @Test("if a waveform has fewer samples than dots, each sample is drawn over its whole duration")
  func fewSamples() {
    let lines = WaveformDrawing(columns: 20, rows: 1, style: .braille).lines(
      Waveform(samples: [.max, 0], sampleRate: 100))
    #expect(lines == ["⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀", "⡏⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉", "0.0 s"])
  }

  @Test("the drawing of an empty waveform has an empty envelope, an axis, and its words at the start")
  func empty() {
    let lines = WaveformDrawing(columns: 20, rows: 1, style: .braille).lines(
      silence(milliseconds: 0, [("一", 0, 0), ("二", 5, 9)]))
    #expect(lines == [String(repeating: "⠀", count: 20), "一", "二", "⡏" + String(repeating: "⠉", count: 19), "0.0 s"])
    #expect(WaveformDrawing(columns: 20, style: .plain).lines(silence(milliseconds: 0)) == [])
  }

  @Test("the numbers of columns and rows of a drawing are limited to the supported range")
  func limits() {
    #expect(
      WaveformDrawing(columns: -1, rows: -1, style: .braille) == WaveformDrawing(columns: 20, rows: 1, style: .braille))
    #expect(
      WaveformDrawing(columns: .max, rows: .max, style: .plain)
        == WaveformDrawing(columns: 400, rows: 50, style: .plain))
    #expect(WaveformDrawing(columns: 80, style: .braille).rows == 6)
  }

  // MARK: The words

  @Test("each word of the drawing is in the column of its start, and wide characters take two columns")
  func startsOfWords() {
    let waveform = silence(milliseconds: 2000, [("支付宝", 0, 600), ("到账", 800, 1200), ("五角", 1500, 2000)])
    #expect(words(waveform, columns: 40) == ["支付宝          到账          五角"])
    #expect(words(waveform, columns: 20) == ["支付宝  到账   五角"])
  }

  @Test("a word of the drawing that would overlap the previous word moves to the second or third row")
  func moreRows() {
    let waveform = silence(
      milliseconds: 2000, [("received", 0, 500), ("twelve", 500, 700), ("dollars", 700, 900), ("and", 1500, 2000)])
    #expect(words(waveform, columns: 20) == ["received       and", "     twelve", "       dollars"])
  }

  @Test("a word of the drawing is cut only if it fits on none of three rows, and ends before the next word begins")
  func cutWords() {
    let waveform = silence(
      milliseconds: 2000,
      [
        ("received", 0, 1), ("twelve", 100, 2), ("dollars", 200, 3), ("fifty", 600, 4), ("cents", 1000, 5),
        ("from", 1100, 6), ("Bartholomew", 1200, 7),
      ])
    #expect(words(waveform, columns: 20) == ["received  cents", " twelve    from", "  do… fifty Barthol…"])
  }

  @Test("a word is left out of the drawing only if no column remains for it")
  func leftOut() {
    let waveform = silence(milliseconds: 2000, (0..<5).map { ("word\($0)", 0, 2000) })
    #expect(words(waveform, columns: 20) == ["word0", "word1", "word4"])
  }

  @Test("the last word of the drawing begins earlier if it would cross the edge")
  func lastWord() {
    #expect(
      words(silence(milliseconds: 2000, [("원", 0, 9), ("오백원", 1900, 2000)]), columns: 20) == ["원            오백원"])
  }

  @Test("the words of the drawing are in the order of their times, whatever the order of the marks")
  func orderOfTimes() {
    #expect(words(silence(milliseconds: 2000, [("b", 1000, 2000), ("a", 0, 1000)]), columns: 20) == ["a         b"])
  }

  @Test("invisible words are left out of the drawing, and times outside the waveform move to its ends")
  func oddMarks() {
    let waveform = silence(
      milliseconds: 2000, [("", 0, 0), ("\u{200B}", 0, 0), ("a", .min, .min), ("b", 99_999, 0), ("c", .max, .max)])
    #expect(
      words(waveform, columns: 20) == [
        "a" + String(repeating: " ", count: 18) + "b", String(repeating: " ", count: 19) + "c",
      ])
    #expect(
      WaveformDrawing(columns: 40, style: .plain).lines(waveform).suffix(2) == [
        "2000 ms      0 ms  b", "2000 ms   2000 ms  c",
      ])
  }

  @Test("a name in a mark can never control the terminal", arguments: WaveformDrawing.Style.allCases)
  func hostileNames(_ style: WaveformDrawing.Style) {
    let names = [
      "\u{1B}]0;title\u{7}", "a\nb", "\u{202E}eman", "\u{9D}x", "\u{1B}[2J\u{1B}[H", "a\u{0}b\u{8}\u{8}", "\u{2067}x",
    ]
    let waveform = silence(milliseconds: 2000, names.enumerated().map { ($1, $0 * 250, 2000) })
    for line in WaveformDrawing(columns: 120, style: style).lines(waveform) {
      for scalar in line.unicodeScalars {
        #expect(![.control, .format].contains(scalar.properties.generalCategory), "\(scalar.escaped(asASCII: true))")
      }
    }
  }

  // MARK: The axis

  @Test(
    "the axis of the drawing has ticks at round times, with room for their labels",
    arguments: [
      (2293, 60, "0.0 s        0.5 s        1.0 s        1.5 s        2.0 s", [0, 13, 26, 39, 52]),
      (2293, 20, "0.0 s   1.0 s", [0, 8, 17]),
      (29_999, 60, "0.0 s     5.0 s     10.0 s    15.0 s    20.0 s    25.0 s", [0, 10, 20, 30, 40, 50]),
      (600_000, 40, "0.0 s        200.0 s      400.0 s", [0, 13, 26, 39]),
      (90, 40, "0.0 s", [0]),
    ] as [(Int, Int, String, [Int])])
  func axis(_ duration: Int, _ columns: Int, _ labels: String, _ ticks: [Int]) {
    let lines = TimeAxis(columns: columns).lines(durationMilliseconds: duration)
    #expect(lines[1] == labels)
    #expect(lines[0] == (0..<columns).map { ticks.contains($0) ? "⡏" : "⠉" }.joined())
  }

  // MARK: Plain

  @Test("the plain style has one line for each mark, with aligned times and no drawing")
  func plain() {
    let waveform = silence(milliseconds: 12_000, [("支付宝", 0, 610), ("到账", 610, 950)])
    #expect(
      WaveformDrawing(columns: 80, style: .plain).lines(waveform) == [
        "   0 ms    610 ms  支付宝", " 610 ms    950 ms  到账",
      ])
    let long = silence(milliseconds: 12_000, [("a", 0, 9000), ("b", 9000, 12_000)])
    #expect(
      WaveformDrawing(columns: 80, style: .plain).lines(long) == ["    0 ms    9000 ms  a", " 9000 ms   12000 ms  b"])
    #expect(
      WaveformDrawing(columns: 22, style: .plain).lines(waveform) == ["   0 ms    610 ms  支…", " 610 ms    950 ms  到…"])
  }

  // MARK: Every width

  /// Texts with columns counted by hand, each in characters of one kind.
  private static let scripts: [String: [String]] = [
    "zh": ["支付宝", "到账", "一万二千三百四十五", "元", "六角", "七分"],
    "en": ["You", "received", "twelve", "thousand", "dollars", "and", "fifty", "cents", "from", "Bartholomew"],
    "hi": ["आपको", "पेटीएम", "पर", "बारह", "रुपये", "पचास", "पैसे", "प्राप्त", "हुए"],
    "ko": ["카카오페이로", "만", "이천", "삼백사십오", "원이", "입금되었습니다"],
    "ja": ["ペイペイで", "いちまんにせん", "さんびゃく", "えん", "うけとりました"],
    "emoji": ["👨‍👩‍👧‍👦", "🏳️‍🌈🇯🇵", "👍🏽", "Zoë❤️", "1️⃣2️⃣", "e\u{301}\u{302}"],
  ]

  @Test(
    "no line of the drawing is wider than its columns, from 20 to 400, and no character is divided",
    arguments: scripts.keys.sorted(), WaveformDrawing.Style.allCases)
  func everyWidth(_ script: String, _ style: WaveformDrawing.Style) throws {
    let texts = try #require(Self.scripts[script])
    let characters = Set(texts.joined()).union("…0123456789ms ")
    for (milliseconds, step) in [(2293, 1), (1, 20), (700, 20), (29_999, 20)] {
      let marks = texts.enumerated().map { index, text in
        (text, milliseconds * index / texts.count, milliseconds * (index + 1) / texts.count)
      }
      let waveform = silence(milliseconds: milliseconds, marks)
      for columns in stride(from: 20, through: 400, by: step) {
        let lines = WaveformDrawing(columns: columns, rows: 2, style: style).lines(waveform)
        let isInside = lines.allSatisfy { $0.reduce(0) { $0 + handCountedWidth($1) } <= columns }
        #expect(isInside, "\(columns) columns, \(milliseconds) ms")
        let written = style == .plain ? lines[...] : lines.dropFirst(2).dropLast(2)
        #expect(written.joined().allSatisfy(characters.contains), "\(columns) columns, \(milliseconds) ms")
      }
    }
  }

  /// Returns the number of columns of a character in these tests. It knows only their ranges and uses none of the
  /// tested code.
  private func handCountedWidth(_ character: Character) -> Int {
    let advancing: Set<Unicode.Scalar> = ["\u{93E}", "\u{93F}", "\u{940}", "\u{94B}"]
    switch character.unicodeScalars.first?.value ?? 0 {
    case 0x3040...0x30FF, 0x4E00...0x9FFF, 0xAC00...0xD7A3, 0x1F000...0x1FFFF, 0x2764: return 2
    case 0x30...0x39 where character.unicodeScalars.count > 1: return 2
    case 0x900...0x97F:
      return character.unicodeScalars.count { (0x904...0x939).contains($0.value) || advancing.contains($0) }
    default: return 1
    }
  }
}
