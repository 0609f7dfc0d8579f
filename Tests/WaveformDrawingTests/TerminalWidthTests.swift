// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import WaveformDrawing

@Suite("The width of a character in a terminal")
struct TerminalWidthTests {
  @Test(
    "Han, kana, Hangul and fullwidth characters take two columns of a terminal",
    arguments: ["支", "𠮷", "あ", "カ", "ー", "「", "、", "가", "힣", "ㄱ", "Ａ", "￥", "㍿", "\u{3000}"] as [Character])
  func wide(_ character: Character) {
    #expect(TerminalWidth.of(character) == 2)
  }

  @Test(
    "narrow, halfwidth and ambiguous characters take one column of a terminal",
    arguments: ["a", " ", "~", "é", "Ж", "م", "ก", "ｱ", "₩", "…", "─", "⣿", "°", "¥", "©", "☎"] as [Character])
  func narrow(_ character: Character) {
    #expect(TerminalWidth.of(character) == 1)
  }

  @Test(
    "a mark that does not advance takes no column of a terminal",
    arguments: ["\u{301}", "\u{941}", "\u{947}", "\u{94D}", "\u{902}", "\u{E31}", "\u{3099}", "\u{20DD}", "\u{200D}"]
      as [Unicode.Scalar])
  func marks(_ scalar: Unicode.Scalar) {
    #expect(TerminalWidth.of(scalar) == 0)
  }

  @Test(
    "a Devanagari letter takes one column, and one more for each mark that advances",
    arguments: [("क", 1), ("के", 1), ("कु", 1), ("कं", 1), ("का", 2), ("कि", 2), ("क्ष", 2)] as [(String, Int)])
  func devanagari(_ text: String, _ width: Int) {
    #expect(text.reduce(0) { $0 + TerminalWidth.of($1) } == width)
  }

  @Test(
    "composed and decomposed characters take the same number of columns",
    arguments: [("é", "e\u{301}"), ("が", "か\u{3099}"), ("한", "\u{1112}\u{1161}\u{11AB}")] as [(Character, Character)])
  func decomposed(_ composed: Character, _ decomposed: Character) {
    #expect(composed.unicodeScalars.count < decomposed.unicodeScalars.count)
    #expect(TerminalWidth.of(composed) == TerminalWidth.of(decomposed))
  }

  @Test(
    "an emoji takes two columns, whatever its number of scalars",
    arguments: ["😀", "👍🏽", "👨‍👩‍👧‍👦", "🏳️‍🌈", "🇯🇵", "❤️", "1️⃣", "☝🏽", "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}"]
      as [Character])
  func emoji(_ character: Character) {
    #expect(TerminalWidth.of(character) == 2)
  }

  @Test(
    "the width of a character is correct at both ends of each Unicode range",
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
