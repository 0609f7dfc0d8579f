// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import WaveformDrawing

@Suite("The width of a character in a terminal")
struct TerminalWidthTests {
  @Test(
    "is two columns for Han, kana, Hangul and fullwidth forms",
    arguments: ["支", "𠮷", "あ", "カ", "ー", "「", "、", "가", "힣", "ㄱ", "Ａ", "￥", "㍿", "\u{3000}"] as [Character])
  func wide(_ character: Character) {
    #expect(TerminalWidth.of(character) == 2)
  }

  @Test(
    "is one column for everything narrow, halfwidth and ambiguous",
    arguments: ["a", " ", "~", "é", "Ж", "م", "ก", "ｱ", "₩", "…", "─", "⣿", "°", "¥", "©", "☎"] as [Character])
  func narrow(_ character: Character) {
    #expect(TerminalWidth.of(character) == 1)
  }

  @Test(
    "is nothing for a mark that takes no room of its own",
    arguments: ["\u{301}", "\u{941}", "\u{947}", "\u{94D}", "\u{902}", "\u{E31}", "\u{3099}", "\u{20DD}", "\u{200D}"]
      as [Unicode.Scalar])
  func marks(_ scalar: Unicode.Scalar) {
    #expect(TerminalWidth.of(scalar) == 0)
  }

  @Test(
    "is one column for a Devanagari letter with any marks on it that do not advance, two with one that does",
    arguments: [("क", 1), ("के", 1), ("कु", 1), ("कं", 1), ("का", 2), ("कि", 2), ("क्ष", 2)] as [(String, Int)])
  func devanagari(_ text: String, _ width: Int) {
    #expect(text.reduce(0) { $0 + TerminalWidth.of($1) } == width)
  }

  @Test(
    "is the same for a character composed or decomposed",
    arguments: [("é", "e\u{301}"), ("が", "か\u{3099}"), ("한", "\u{1112}\u{1161}\u{11AB}")] as [(Character, Character)])
  func decomposed(_ composed: Character, _ decomposed: Character) {
    #expect(composed.unicodeScalars.count < decomposed.unicodeScalars.count)
    #expect(TerminalWidth.of(composed) == TerminalWidth.of(decomposed))
  }

  @Test(
    "is two columns for an emoji, however many scalars it is made of",
    arguments: ["😀", "👍🏽", "👨‍👩‍👧‍👦", "🏳️‍🌈", "🇯🇵", "❤️", "1️⃣", "☝🏽", "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}"]
      as [Character])
  func emoji(_ character: Character) {
    #expect(TerminalWidth.of(character) == 2)
  }

  @Test(
    "is right at both ends of a range",
    arguments: [
      (0x10FF, 1), (0x1100, 2), (0x115F, 2), (0x2E7F, 1), (0x2E80, 2), (0x303E, 2), (0x303F, 1), (0x4DFF, 2),
      (0x4E00, 2),
      (0xABFF, 1), (0xAC00, 2), (0xD7A3, 2), (0xFF00, 1), (0xFF01, 2), (0xFF60, 2), (0xFF61, 1), (0x1FFFF, 1),
      (0x20000, 2), (0x3FFFD, 2), (0x10FFFD, 1),
    ] as [(UInt32, Int)])
  func edges(_ value: UInt32, _ width: Int) throws {
    let scalar = try #require(Unicode.Scalar(value))
    #expect(TerminalWidth.of(scalar) == width)
  }
}
