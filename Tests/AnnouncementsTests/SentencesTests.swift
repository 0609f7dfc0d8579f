// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import TestSupport
import Testing

@Suite("Sentences are worded as people say them")
struct SentencesTests {
  private func writing(
    _ locale: String, _ amount: String, _ code: String, _ kind: Payment.Kind = .received, channel: String? = nil,
    smallSums: SmallSums = SmallSums()
  ) throws -> (script: Script, remarks: Remarks) {
    let books = try PhraseBooks(directory: Books.directory, smallSums: smallSums)
    let payment = Payment(amount: try Books.money(amount, code), kind: kind, channel: channel)
    return try books.writer(for: locale).writing(of: .payment(payment))
  }

  @Test(
    "a refund is announced as paid to the card or to the bank account",
    arguments: [
      ("en-US", "USD", "card", "Refunded five dollars to the card"),
      ("en-US", "USD", "bank", "Refunded five dollars to the bank account"),
      ("es-MX", "MXN", "card", "Reembolsaste cinco pesos a la tarjeta"),
      ("es-MX", "MXN", "bank", "Reembolsaste cinco pesos a la cuenta bancaria"),
      ("hi-IN", "INR", "card", "रिफ़ंड किए गए, कार्ड पर पाँच रुपये"),
      ("hi-IN", "INR", "bank", "रिफ़ंड किए गए, बैंक खाते में पाँच रुपये"),
    ])
  func refunds(locale: String, code: String, channel: String, text: String) throws {
    #expect(try writing(locale, "5", code, .refunded, channel: channel).script.text == text)
  }

  @Test(
    "a bank transfer, a card payment and cash are each announced with the verb that people use",
    arguments: [
      ("hi-IN", "INR", "bank", "बैंक ट्रांसफ़र से पाँच रुपये प्राप्त हुए"), ("hi-IN", "INR", "cash", "नकद पाँच रुपये प्राप्त हुए"),
      ("zh-CN", "CNY", "bank", "银行转账到账五元"), ("zh-CN", "CNY", "card", "银行卡到账五元"),
      ("ko-KR", "KRW", "cash", "현금 오 원 받았습니다"), ("ko-KR", "KRW", "card", "카드로 오 원 결제되었습니다"),
      ("ko-KR", "KRW", "bank", "계좌이체, 오 원 입금되었습니다"),
    ])
  func verbs(locale: String, code: String, channel: String, text: String) throws {
    #expect(try writing(locale, "5", code, channel: channel).script.text == text)
  }

  @Test(
    "the kind of a payment is said only once",
    arguments: [
      ("ja-JP", "JPY", Payment.Kind.refunded, "へんきん、ごえんです"), ("ja-JP", "JPY", .withdrawn, "しゅっきん、ごえんです"),
      ("ko-KR", "KRW", .refunded, "환불, 오 원"), ("ko-KR", "KRW", .withdrawn, "출금, 오 원"),
      ("hi-IN", "INR", .refunded, "रिफ़ंड किए गए, पाँच रुपये"),
    ])
  func once(locale: String, code: String, kind: Payment.Kind, text: String) throws {
    #expect(try writing(locale, "5", code, kind).script.text == text)
  }

  @Test("the Hindi verb of a refund agrees with one rupee")
  func agreement() throws {
    #expect(try writing("hi-IN", "1", "INR", .refunded).script.text == "रिफ़ंड किया गया, एक रुपया")
  }

  @Test(
    "a channel that makes no sense with the kind of the payment is left out and reported as unspoken",
    arguments: [
      ("zh-CN", "CNY", Payment.Kind.withdrawn, "cash", "提现五元"), ("zh-CN", "CNY", .failed, "cash", "收款失败，五元"),
      ("ja-JP", "JPY", .withdrawn, "cash", "しゅっきん、ごえんです"), ("ja-JP", "JPY", .withdrawn, "card", "しゅっきん、ごえんです"),
      ("ja-JP", "JPY", .withdrawn, "PayPay", "しゅっきん、ごえんです"),
    ])
  func leftOut(locale: String, code: String, kind: Payment.Kind, channel: String, text: String) throws {
    let writing = try writing(locale, "5", code, kind, channel: channel)
    #expect(writing.script.text == text)
    #expect(writing.remarks.unspoken == [Remarks.Unspoken(field: "channel", text: channel)])
  }

  @Test(
    "a channel's name keeps its owner's spelling in the report's text, and only the voice gets a respelling",
    arguments: [
      ("oxxo", "en OXXO", "en ocso"), ("spei", "por SPEI", "por espéi"), ("codi", "con CoDi", "con codi"),
      ("paypal", "mediante PayPal", "mediante péipal"), ("applepay", "mediante Apple Pay", "mediante ápol péi"),
      ("wechat", "mediante WeChat Pay", "mediante uíchat péi"),
    ])
  func names(channel: String, words: String, spelling: String) throws {
    let script = try writing("es-MX", "5", "MXN", channel: channel).script
    #expect(script.text == "Recibiste un pago de cinco pesos \(words)")
    #expect(script.runs.map(\.spelling).joined().hasSuffix(spelling))
  }

  @Test(
    "a pending payment is announced as pending before its amount is said",
    arguments: [
      ("en-US", "USD", "Payment pending, five dollars through PayPal"),
      ("es-MX", "MXN", "Pago pendiente de cinco pesos mediante PayPal"),
      ("hi-IN", "INR", "भुगतान लंबित, पेपैल पर पाँच रुपये"), ("ja-JP", "JPY", "けっさいまち、ペイパルで、ごえん"),
      ("ko-KR", "KRW", "결제 대기, 페이팔, 오 원"), ("zh-CN", "CNY", "贝宝付款处理中，五元"),
    ])
  func pending(locale: String, code: String, text: String) throws {
    #expect(try writing(locale, "5", code, .pending, channel: "paypal").script.text == text)
  }

  @Test(
    "a very small sum is said with “only” if the user's settings ask for it",
    arguments: [
      ("en-US", "Received only two hundred Vietnamese dong"),
      ("es-MX", "Recibiste un pago de solo doscientos dongs vietnamitas"),
      ("hi-IN", "केवल दो सौ वियतनामी डोंग प्राप्त हुए"), ("ja-JP", "わずか、にひゃくベトナム ドンをうけとりました"),
      ("ko-KR", "단돈 이백 베트남 동 입금되었습니다"), ("zh-CN", "到账只有二百越南盾"),
    ])
  func only(locale: String, text: String) throws {
    let small = try SmallSums("VND=1000 USD=0.10").orThrow("a setting")
    #expect(try writing(locale, "200", "VND", smallSums: small).script.text == text)
  }

  @Test("“only” is said below the currency's limit, for every kind of payment, and also if just the amount is spoken")
  func limits() throws {
    let small = try SmallSums("VND=1000, USD=0.10").orThrow("a setting")
    func text(_ amount: String, _ code: String, _ kind: Payment.Kind = .received) throws -> String {
      try writing("en-US", amount, code, kind, smallSums: small).script.text
    }
    #expect(try text("999", "VND").contains("only") && !text("1000", "VND").contains("only"))
    #expect(try text("0.09", "USD") == "Received only nine cents" && text("0.10", "USD") == "Received ten cents")
    #expect(try text("1", "JPY") == "Received one yen")
    #expect(try text("0.09", "USD", .refunded) == "Refunded only nine cents")
    let writer = try PhraseBooks(directory: Books.directory, smallSums: small).writer(for: "en-US")
    let payment = Payment(amount: try Books.money("0.09", "USD"), payer: "Ann")
    let script = try writer.script(for: .payment(payment), shortenings: [.amountOnly])
    #expect(script.text == "only nine cents" && script.amountText == "nine cents")
    #expect(try writing("en-US", "200", "VND").script.text == "Received two hundred Vietnamese dong")
  }

  @Test(
    "the setting for small sums names each currency once, with a sum above zero",
    arguments: [
      "VND", "VND=", "=5", "VND=0", "VND=-1", "VND=1,000", "XXX=5", "vnd=5", "VND=1 VND=2", "USD=0.001", "VND=1=2",
    ])
  func refused(setting: String) {
    #expect(SmallSums(setting) == nil)
  }

  @Test(
    "a locale of another Chinese language than Mandarin is spoken in Mandarin, with a warning",
    arguments: ["zh-nan", "zh-wuu-CN", "zh-Hans-HK", "ZH-nan-TW"])
  func otherChinese(locale: String) throws {
    let remarks = try writing(locale, "5", "HKD").remarks
    #expect(remarks.warnings == ["locale: no book has this language, so it is spoken in Mandarin (zh-CN)"])
  }

  @Test(
    "other language tags of the phrase book's language cause no warning",
    arguments: [
      "zh", "zh-Hans-SG", "zh-TW", "cmn", "en-HK", "zh-HK", "zh-Hant-HK", "zh-yue-HK", "zh_MO", "yue",
    ])
  func sameLanguage(locale: String) throws {
    #expect(try writing(locale, "5", "HKD").remarks.warnings == [])
  }
}
