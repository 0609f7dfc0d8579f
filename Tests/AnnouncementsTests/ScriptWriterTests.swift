// SPDX-License-Identifier: Apache-2.0

import Announcements
import Testing

@Suite("An announcement becomes a script")
struct ScriptWriterTests {
  private func payment(
    _ amount: String = "12.50", _ code: String = "CNY", kind: Payment.Kind = .received, channel: String? = nil,
    payer: String? = nil, note: String? = nil
  ) throws -> Announcement {
    .payment(
      Payment(amount: try Books.money(amount, code), kind: kind, channel: channel, payer: payer, note: note))
  }

  private func voices(_ script: Script) -> [String?] { script.runs.map(\.voice) }

  @Test("a known channel is spoken in the book's language, in any letter case")
  func knownChannel() throws {
    #expect(try Books.script(payment(channel: "alipay"), "zh-CN").text == "支付宝到账十二元五角")
    #expect(try Books.script(payment(channel: "AliPay"), "zh-CN").text == "支付宝到账十二元五角")
  }

  @Test("a sentence has no words for a field that the payment does not have")
  func optionalParts() throws {
    #expect(try Books.script(payment(), "zh-CN").text == "到账十二元五角")
    #expect(try Books.script(payment("1", "USD"), "en-US").text == "Received one dollar")
    #expect(
      try Books.script(payment("1", "USD", channel: "paypal", payer: "Ann", note: "Lunch"), "en-US").text
        == "Received one dollar through PayPal, from Ann. Note, Lunch")
  }

  @Test("each kind of payment has its own sentence in every locale")
  func kinds() throws {
    for locale in try Books.all().locales {
      let texts = try Payment.Kind.allCases.map { try Books.script(payment("5", "USD", kind: $0), locale).text }
      #expect(Set(texts).count == Payment.Kind.allCases.count, "\(locale)")
    }
  }

  @Test("a name in another writing system is a separate run for a voice that reads it")
  func foreignNames() throws {
    let script = try Books.script(payment(payer: "John Smith"), "zh-CN")
    #expect(voices(script) == ["cmn-latn-pinyin+f2", "en-us+f2"])
    #expect(script.runs.last?.text == "John Smith")
    #expect(script.text == "到账十二元五角，来自 John Smith")
    let other = try Books.script(payment("5", "USD", payer: "张三", note: "Спасибо"), "en-US")
    #expect(voices(other) == ["en-us+f2", "cmn-latn-pinyin+f2", "en-us+f2", "ru+f2"])
  }

  @Test("the words of the amount can be extracted, even if other fields contain numbers")
  func amountText() throws {
    let script = try Books.script(payment(channel: "PhonePe 2", payer: "Mr 99", note: "¥3.00"), "zh-CN")
    #expect(script.amountText == "十二元五角")
    #expect(script.amountAlone.text == "十二元五角")
  }

  @Test(
    "a payer's name that cannot be spoken is left out, and the payment is spoken",
    arguments: ["😀👨‍👩‍👧", "\u{200B}\u{A0} ", "...!?", "ภาษาไทย", "[[]]<>"])
  func unspeakablePayer(payer: String) throws {
    #expect(try Books.script(payment("5", "USD", payer: payer), "en-US").text == "Received five dollars")
  }

  @Test(
    "the shortening steps remove the note, then the payer, then everything except the amount",
    arguments: [
      ([.note], "Received one dollar in cash, from Ann"),
      ([.note, .payer], "Received one dollar in cash"), ([.amountOnly], "one dollar"),
    ] as [(Set<ScriptWriter.Shortening>, String)])
  func shortenings(steps: Set<ScriptWriter.Shortening>, text: String) throws {
    let writer = try Books.all().writer(for: "en-US")
    let announcement = try payment("1", "USD", channel: "cash", payer: "Ann", note: "Lunch")
    #expect(try writer.script(for: announcement, shortenings: steps).text == text)
  }

  @Test("a sum that was not received is never spoken alone, because a sum alone means received money")
  func amountOnlyKeepsTheKind() throws {
    let writer = try Books.all().writer(for: "en-US")
    for (kind, text) in [
      (Payment.Kind.received, "one dollar"), (.refunded, "Refunded one dollar"), (.withdrawn, "Withdrew one dollar"),
      (.pending, "Payment pending, one dollar"), (.failed, "Payment failed, one dollar"),
    ] {
      let announcement = try payment("1", "USD", kind: kind, channel: "cash", payer: "Ann")
      #expect(try writer.script(for: announcement, shortenings: [.amountOnly]).text == text)
    }
  }

  @Test("free text without anything to speak is an error", arguments: ["", " \u{200B}\t", "!?…", "😀"])
  func nothingToSay(text: String) throws {
    let error = #expect(throws: AnnouncementError.self) { try Books.script(.text(text, locale: nil), "en-US") }
    #expect(error?.code == .nothingToSay)
  }
}
