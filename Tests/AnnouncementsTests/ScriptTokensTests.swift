// SPDX-License-Identifier: Apache-2.0

import Announcements
import Testing

/// The tokens of a recorded voice are derived from the segments that the engine receives.
@Suite("Clip tokens")
struct ScriptTokensTests {
  private func tokens(_ payment: Payment, _ locale: String) throws -> [ClipToken] {
    try Books.script(.payment(payment), locale).tokens
  }

  private func names(_ text: String, _ code: String, _ locale: String) throws -> String {
    try Books.script(.payment(Payment(amount: try Books.money(text, code))), locale).amountAlone.tokens.map(\.name)
      .joined(separator: " ")
  }

  @Test(
    "a script's amount has one token for each word",
    arguments: [
      ("21.50", "USD", "en-US", "twenty one dollars and fifty cents"),
      ("0.01", "USD", "en-US", "one cent"),
      ("12.30", "SEK", "en-US", "twelve point three zero Swedish_kronor"),
      ("20005.05", "CNY", "zh-CN", "两 万 零 五 元 零 五 分"),
      ("4", "JPY", "ja-JP", "よ えん"),
      ("123456", "KRW", "ko-KR", "십 이 만 삼 천 사 백 오 십 육 원"),
      ("2000031", "USD", "es-MX", "dos millones treinta y un dólares"),
      ("1000000.50", "USD", "es-MX", "un millón de dólares con cincuenta centavos"),
      ("21.50", "INR", "hi-IN", "इक्कीस रुपये पचास पैसे"),
    ])
  func amounts(text: String, code: String, locale: String, expected: String) throws {
    #expect(try names(text, code, locale) == expected)
  }

  @Test("the engine gets the words of an amount with the spaces and hyphens that the language writes")
  func oneDerivation() throws {
    #expect(try Books.words("21.50", "USD", "en-US") == "twenty-one dollars and fifty cents")
    #expect(try Books.words("123456", "KRW", "ko-KR") == "십이만 삼천사백오십육 원")
  }

  @Test("a fixed part of a sentence is one token, and punctuation becomes a pause")
  func pauses() throws {
    let payment = Payment(amount: try Books.money("2", "USD"), kind: .failed, channel: "paypal")
    #expect(
      try tokens(payment, "en-US") == [
        ClipToken(name: "Payment_failed", role: .phrase, pause: .clause),
        ClipToken(name: "two", role: .amount, pause: .word), ClipToken(name: "dollars", role: .amount, pause: .piece),
        ClipToken(name: "through", role: .phrase, pause: .piece),
        ClipToken(name: "PayPal", role: .channel, pause: .end),
      ])
  }

  @Test("a payer and a note have no token, because they are not recorded")
  func names() throws {
    let payment = Payment(amount: try Books.money("2", "USD"), payer: "twelve", note: "thanks")
    let pieces = try Books.script(.payment(payment), "en-US").pieces
    #expect(pieces.filter { $0.token == nil }.map(\.segment.role) == [.payer, .note])
    #expect(pieces.map(\.pause) == [.piece, .word, .clause, .piece, .sentence, .clause, .end])
  }

  @Test("words in another language than the locale's have no token")
  func otherLanguage() throws {
    let script = try Books.script(.text("收到 hello", locale: nil), "zh-CN")
    #expect(script.pieces.map { $0.token?.name } == ["收到", nil])
  }
}
