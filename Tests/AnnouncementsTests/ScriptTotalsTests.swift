// SPDX-License-Identifier: Apache-2.0

import Announcements
import Testing

@Suite("The totals of a script")
struct ScriptTotalsTests {
  private func totals(_ segments: (String, Script.Role)...) -> [Script.Total] {
    Script.totals(of: segments.map { Script.Segment($0.0, $0.1) })
  }

  @Test("each total of a summary's script is a count and an amount, in either order")
  func order() {
    let four = Script.Total(count: "four", amount: "ten dollars")
    let one = Script.Total(count: "one", amount: "two euros")
    #expect(
      totals(
        ("four", .count), (" payments, ", .phrase), ("ten ", .amount), ("dollars", .amount), (". ", .phrase),
        ("one", .count), (" payment of ", .phrase), ("two euros", .amount)) == [four, one])
    #expect(
      totals(
        ("ten dollars", .amount), (" from ", .phrase), ("four", .count), (" payments. ", .phrase),
        ("two euros", .amount), (" from ", .phrase), ("one", .count)) == [four, one])
  }

  @Test("a count and an amount that follow each other in a script are told apart by their roles")
  func unparted() {
    #expect(
      totals(("four", .count), ("ten dollars", .amount), ("one", .count), ("two euros", .amount)) == [
        Script.Total(count: "four", amount: "ten dollars"), Script.Total(count: "one", amount: "two euros"),
      ])
  }

  @Test("if a total has no count or no amount, that part is empty, and not taken from another total")
  func missing() {
    #expect(
      totals(("four", .count), (" payments. ", .phrase), ("one", .count), (" of ", .phrase), ("two euros", .amount))
        == [Script.Total(count: "four", amount: ""), Script.Total(count: "one", amount: "two euros")])
    #expect(
      totals(("ten dollars", .amount), (". ", .phrase), ("two euros", .amount), (" from ", .phrase), ("one", .count))
        == [Script.Total(count: "", amount: "ten dollars"), Script.Total(count: "one", amount: "two euros")])
  }

  @Test("a payment and a text have no totals")
  func none() throws {
    #expect(try Books.script(.payment(Payment(amount: Books.money("5", "USD"))), "en-US").totals.isEmpty)
    #expect(try Books.script(.text("five payments", locale: nil), "en-US").totals.isEmpty)
    #expect(totals().isEmpty)
  }

  @Test("a count has one token for each word, like an amount")
  func tokens() throws {
    let total = try PaymentSummary.Total(count: 21, amount: Books.money("12", "USD"))
    let script = try Books.script(.summary(PaymentSummary(totals: [total])), "en-US")
    #expect(
      script.tokens == [
        ClipToken(name: "Received", role: .phrase, pause: .piece),
        ClipToken(name: "twenty", role: .count, pause: .word), ClipToken(name: "one", role: .count, pause: .piece),
        ClipToken(name: "payments", role: .phrase, pause: .clause),
        ClipToken(name: "twelve", role: .amount, pause: .word),
        ClipToken(name: "dollars", role: .amount, pause: .piece),
        ClipToken(name: "in_total", role: .phrase, pause: .end),
      ])
  }

  @Test("a comma within the sentence separates two tokens and becomes a pause")
  func comma() throws {
    let total = try PaymentSummary.Total(count: 2, amount: Books.money("2", "CNY"))
    let script = try Books.script(.summary(PaymentSummary(totals: [total])), "zh-CN")
    #expect(script.text == "收款两笔，合计两元")
    #expect(script.tokens.map(\.name) == ["收款", "两", "笔", "合计", "两", "元"])
    #expect(script.tokens.map(\.pause) == [.piece, .piece, .clause, .piece, .word, .end])
  }

  @Test("the words that only summaries need form a block that is not required")
  func vocabulary() throws {
    let blocks = try Books.all().writer(for: "ko-KR").vocabulary().blocks
    let block = blocks.filter { $0.coverage == "a summary of up to 9,999 payments" }
    #expect(block.map(\.isRequired) == [false])
    #expect(
      block.flatMap(\.words).map(\.token) == [
        "한", "건", "합계", "두", "세", "네", "다섯", "여섯", "일곱", "여덟", "아홉", "열", "스무", "스물", "서른", "마흔", "쉰", "예순", "일흔",
        "여든", "아흔",
      ])
    #expect(block[0].words[0].role == .count && block[0].words[1].role == .phrase)
  }
}
