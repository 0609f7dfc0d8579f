// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import WaveformDrawing

@Suite("A text for a terminal")
struct TerminalTextTests {
  @Test(
    "plain text for a terminal stays unchanged",
    arguments: [
      ("支付宝", 6), ("到账 12", 7), ("Alice O'Neill", 13), ("आपको", 4), ("रुपये", 3), ("카카오페이", 10), ("にひゃく", 8), ("Zoë", 3),
      ("👨‍👩‍👧‍👦🇯🇵", 4), ("می‌خواهم", 7), ("", 0),
    ])
  func writing(_ text: String, _ width: Int) {
    #expect(TerminalText(text).string == text)
    #expect(TerminalText(text).width == width)
  }

  @Test(
    "any character that could control the terminal or reverse the text is replaced by a sign",
    arguments: [
      ("\u{1B}[31mred", "\u{FFFD}[31mred"), ("a\u{7}b", "a\u{FFFD}b"), ("\u{9B}2J", "\u{FFFD}2J"), ("a\0", "a\u{FFFD}"),
      ("a\u{202E}b", "a\u{FFFD}b"), ("\u{2066}a\u{2069}", "\u{FFFD}a\u{FFFD}"), ("\u{200F}a", "\u{FFFD}a"),
      ("\u{7F}", "\u{FFFD}"), ("\u{E000}", "\u{FFFD}"), ("\u{FFFF}", "\u{FFFD}"), ("\u{206A}", "\u{FFFD}"),
    ])
  func controls(_ text: String, _ shown: String) {
    #expect(TerminalText(text).string == shown)
  }

  @Test("a tab or line break in terminal text becomes one space, and a hint for a line break is removed")
  func whiteSpace() {
    #expect(TerminalText("a\tb\nc\r\nd\re\u{2028}f").string == "a b c d e f")
    #expect(TerminalText("zwei\u{AD}und\u{200B}\u{2060}\u{FEFF}drei").string == "zweiunddrei")
  }

  @Test(
    "a combining mark at the start of terminal text is replaced by a sign, because it would change earlier output",
    arguments: ["\u{301}a", "\u{93E}a", "\u{200D}a", "\u{1161}a"])
  func loneMarks(_ text: String) {
    #expect(TerminalText(text).string == "\u{FFFD}a")
  }

  @Test("a letter with too many combining marks is replaced by a sign")
  func heaps() {
    let heap = "e" + String(repeating: "\u{301}", count: 1000)
    #expect(TerminalText("a\(heap)b").string == "a\u{FFFD}b")
  }

  @Test(
    "terminal text is cut to the available columns, between characters, with an ellipsis",
    arguments: [
      ("支付宝", 6, "支付宝"), ("支付宝", 5, "支付…"), ("支付宝", 4, "支…"), ("支付宝", 3, "支…"), ("支付宝", 2, "…"),
      ("支付宝", 1, "…"), ("支付宝", 0, ""), ("支付宝", -3, ""), ("a", 1, "a"), ("ab", 1, "…"), ("रुपये", 2, "रु…"),
      ("👨‍👩‍👧‍👦👨‍👩‍👧‍👦", 3, "👨‍👩‍👧‍👦…"), ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
    ])
  func cut(_ text: String, _ columns: Int, _ cut: String) {
    #expect(TerminalText(text).cut(to: columns).string == cut)
    #expect(TerminalText(text).cut(to: columns).width <= max(columns, 0))
  }
}
