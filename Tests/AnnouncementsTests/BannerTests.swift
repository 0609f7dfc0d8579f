// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import Announcements

/// The text that a phone shows for an announcement. The amounts are those of the CLDR data in Foundation for Linux.
@Suite("The text of a banner")
struct BannerTests {
  static let locales = ["en-US", "es-MX", "hi-IN", "ja-JP", "ko-KR", "zh-CN"]

  private func banner(
    _ locale: String, _ amount: String = "5", _ code: String = "USD", kind: Payment.Kind = .received,
    channel: String? = nil, payer: String? = nil, note: String? = nil
  ) throws -> Banner {
    let payment = Payment(
      amount: try Books.money(amount, code), kind: kind, channel: channel, payer: payer, note: note, locale: locale)
    return try Books.all().banner(for: .payment(payment), defaultLocale: nil)
  }

  /// The title, the subtitle and the body, each on its own line.
  private func lines(_ banner: Banner) -> [String] {
    [banner.title ?? "-", banner.subtitle ?? "-", banner.body ?? "-"]
  }

  @Test(
    "the banners for a payment of each kind, with all fields, have the expected words",
    arguments: [
      ("en-US", "12.50", "USD", "paypal", "Zhang San", "table 5"),
      ("es-MX", "1234.56", "MXN", "spei", "Ana López", "mesa 5"),
      ("hi-IN", "123456.78", "INR", "phonepe", "राम कुमार", "मेज़ 5"),
      ("ja-JP", "1250", "JPY", "paypay", "田中太郎", "5番テーブル"),
      ("ko-KR", "12500", "KRW", "kakaopay", "김철수", "5번 테이블"),
      ("zh-CN", "12.50", "CNY", "alipay", "张三", "5号桌"),
    ])
  func whole(
    locale: String, amount: String, code: String, channel: String, payer: String, note: String
  ) throws {
    let shown = try Payment.Kind.allCases.map { kind in
      lines(try banner(locale, amount, code, kind: kind, channel: channel, payer: payer, note: note))
    }
    #expect(shown == Self.expected[locale])
  }

  /// For each locale the banners of a received, a pending, a refunded, a withdrawn and a failed payment.
  static let expected: [String: [[String]]] = [
    "en-US": [
      ["Received $12.50", "PayPal", "From Zhang San. Note: table 5"],
      ["Payment pending: $12.50", "PayPal", "From Zhang San. Note: table 5"],
      ["Refunded $12.50", "PayPal", "To Zhang San. Note: table 5"],
      ["Withdrew $12.50", "PayPal", "Note: table 5"],
      ["Payment failed: $12.50", "PayPal", "From Zhang San. Note: table 5"],
    ],
    "es-MX": [
      ["Recibiste $1,234.56", "SPEI", "De Ana López. Nota: mesa 5"],
      ["Pago pendiente: $1,234.56", "SPEI", "De Ana López. Nota: mesa 5"],
      ["Reembolsaste $1,234.56", "SPEI", "Para Ana López. Nota: mesa 5"],
      ["Retiraste $1,234.56", "SPEI", "Nota: mesa 5"],
      ["Pago fallido: $1,234.56", "SPEI", "De Ana López. Nota: mesa 5"],
    ],
    "hi-IN": [
      ["₹1,23,456.78 प्राप्त हुए", "PhonePe", "राम कुमार से। टिप्पणी: मेज़ 5"],
      ["भुगतान लंबित: ₹1,23,456.78", "PhonePe", "राम कुमार से। टिप्पणी: मेज़ 5"],
      ["रिफ़ंड: ₹1,23,456.78", "PhonePe", "राम कुमार को। टिप्पणी: मेज़ 5"],
      ["निकासी: ₹1,23,456.78", "PhonePe", "टिप्पणी: मेज़ 5"],
      ["भुगतान विफल: ₹1,23,456.78", "PhonePe", "राम कुमार से। टिप्पणी: मेज़ 5"],
    ],
    "ja-JP": [
      ["入金：¥1,250", "PayPay", "田中太郎様より。メモ：5番テーブル"],
      ["決済待ち：¥1,250", "PayPay", "田中太郎様より。メモ：5番テーブル"],
      ["返金：¥1,250", "PayPay", "田中太郎様へ。メモ：5番テーブル"],
      ["出金：¥1,250", "PayPay", "メモ：5番テーブル"],
      ["決済失敗：¥1,250", "PayPay", "田中太郎様より。メモ：5番テーブル"],
    ],
    "ko-KR": [
      ["입금 ₩12,500", "카카오페이", "보낸 분: 김철수, 메모: 5번 테이블"],
      ["결제 대기 ₩12,500", "카카오페이", "보낸 분: 김철수, 메모: 5번 테이블"],
      ["환불 ₩12,500", "카카오페이", "받는 분: 김철수, 메모: 5번 테이블"],
      ["출금 ₩12,500", "카카오페이", "메모: 5번 테이블"],
      ["결제 실패 ₩12,500", "카카오페이", "보낸 분: 김철수, 메모: 5번 테이블"],
    ],
    "zh-CN": [
      ["到账 ¥12.50", "支付宝", "来自张三，备注：5号桌"],
      ["付款处理中 ¥12.50", "支付宝", "来自张三，备注：5号桌"],
      ["退款 ¥12.50", "支付宝", "退给张三，备注：5号桌"],
      ["提现 ¥12.50", "支付宝", "备注：5号桌"],
      ["收款失败 ¥12.50", "支付宝", "来自张三，备注：5号桌"],
    ],
  ]

  @Test(
    "the verb of a Hindi banner agrees with one rupee", arguments: [("1", "₹1.00 प्राप्त हुआ"), ("2", "₹2.00 प्राप्त हुए")])
  func agreement(amount: String, title: String) throws {
    #expect(try banner("hi-IN", amount, "INR").title == title)
  }

  @Test("a banner shows only the parts that the payment has")
  func parts() throws {
    #expect(lines(try banner("en-US")) == ["Received $5.00", "-", "-"])
    #expect(lines(try banner("en-US", payer: "Ann")) == ["Received $5.00", "-", "From Ann"])
    #expect(lines(try banner("en-US", note: "tea")) == ["Received $5.00", "-", "Note: tea"])
    #expect(lines(try banner("en-US", channel: " ", payer: "\n", note: "\u{200B}")) == ["Received $5.00", "-", "-"])
    #expect(lines(try banner("ja-JP", note: "お茶")) == ["入金：$5.00", "-", "メモ：お茶"])
  }

  @Test("if a name ends with the punctuation of the separator, the punctuation is not repeated")
  func punctuation() throws {
    #expect(try banner("en-US", payer: "Acme Inc.", note: "tea").body == "From Acme Inc. Note: tea")
    #expect(try banner("zh-CN", payer: "张三，", note: "茶").body == "来自张三，备注：茶")
  }

  @Test(
    "a form of address in the name is not repeated if the phrase adds it, and otherwise the name is shown as written",
    arguments: [("ja-JP", "田中様", "田中様より"), ("ja-JP", "田中さん", "田中様より"), ("ko-KR", "김철수 님", "보낸 분: 김철수 님")])
  func honorifics(locale: String, payer: String, body: String) throws {
    #expect(try banner(locale, payer: payer).body == body)
  }

  @Test("a banner shows each channel with its written name", arguments: locales)
  func channels(locale: String) throws {
    let shown = try Books.all().book(for: locale).channels.map { channel in
      "\(channel)=\(try banner(locale, channel: channel.uppercased()).subtitle ?? "-")"
    }
    #expect(shown.joined(separator: " ") == Self.names[locale])
  }

  static let names = [
    "en-US": "alipay=Alipay applepay=Apple Pay bank=Bank transfer card=Card cash=Cash "
      + "cashapp=Cash App googlepay=Google Pay paypal=PayPal unionpay=UnionPay upi=UPI venmo=Venmo "
      + "wechat=WeChat Pay wechatpay=WeChat Pay zelle=Zelle",
    "es-MX": "alipay=Alipay applepay=Apple Pay bank=Transferencia bancaria card=Tarjeta cash=Efectivo codi=CoDi "
      + "googlepay=Google Pay mercadopago=Mercado Pago oxxo=OXXO paypal=PayPal spei=SPEI unionpay=UnionPay "
      + "wechat=WeChat Pay wechatpay=WeChat Pay",
    "hi-IN": "alipay=Alipay amazonpay=Amazon Pay bank=बैंक ट्रांसफ़र bharatpe=BharatPe bhim=BHIM card=कार्ड cash=नकद "
      + "googlepay=Google Pay gpay=Google Pay paypal=PayPal paytm=Paytm phonepe=PhonePe upi=UPI wechat=WeChat Pay "
      + "wechatpay=WeChat Pay",
    "ja-JP": "alipay=Alipay aupay=au PAY bank=銀行振込 card=カード決済 cash=現金 dpay=d払い linepay=LINE Pay "
      + "paypal=PayPal paypay=PayPay rakutenpay=楽天ペイ suica=Suica wechat=WeChat Pay wechatpay=WeChat Pay",
    "ko-KR": "alipay=알리페이 bank=계좌이체 card=카드 cash=현금 kakaopay=카카오페이 naverpay=네이버페이 paypal=PayPal "
      + "samsungpay=삼성페이 tosspay=토스페이 wechat=위챗페이 wechatpay=위챗페이 zeropay=제로페이",
    "zh-CN": "alipay=支付宝 bank=银行转账 card=银行卡 cash=现金 paypal=PayPal quickpass=云闪付 unionpay=银联 "
      + "wechat=微信支付 wechatpay=微信支付",
  ]

  @Test("a Japanese banner does not show a channel in kana alone, because only the voice needs the name in kana")
  func kana() throws {
    for channel in try Books.all().book(for: "ja-JP").channels {
      let name = try banner("ja-JP", channel: channel).subtitle ?? ""
      #expect(!name.unicodeScalars.allSatisfy { (0x3040...0x30FF).contains($0.value) }, "\(channel)")
    }
  }

  @Test("a banner shows an unknown channel as written", arguments: locales)
  func unknownChannel(locale: String) throws {
    #expect(try banner(locale, channel: "  Klarna \u{202E}AB ").subtitle == "Klarna AB")
  }

  @Test("a banner's title with a sum below a million fits in 30 characters", arguments: locales)
  func length(locale: String) throws {
    for kind in Payment.Kind.allCases {
      for code in ["USD", "INR", "JPY", "KRW", "CNY", "MXN", "EUR"] {
        let amount = code == "JPY" || code == "KRW" ? "999999" : "999999.99"
        let title = try banner(locale, amount, code, kind: kind).title ?? ""
        #expect(title.count <= 30, "\(title)")
      }
    }
  }

  @Test(
    "the banner of a summary has the number of payments and the total of each currency",
    arguments: [
      ("en-US", "Received 1,235 payments", "Total: CN¥47.50 + $10.00"),
      ("es-MX", "Recibiste 1,235 pagos", "Total: CNY\u{A0}47.50 + USD\u{A0}10.00"),
      ("hi-IN", "1,235 भुगतान प्राप्त हुए", "कुल: CN¥47.50 + $10.00"),
      ("ja-JP", "入金：1,235件", "合計：元\u{A0}47.50 + $10.00"),
      ("ko-KR", "입금 1,235건", "합계 CN¥47.50 + US$10.00"),
      ("zh-CN", "收款 1,235 笔", "合计 ¥47.50 + US$10.00"),
    ])
  func summary(locale: String, title: String, body: String) throws {
    let summary = try PaymentSummary(
      locale: locale,
      totals: [
        PaymentSummary.Total(count: 1_234, amount: Books.money("47.50", "CNY")),
        PaymentSummary.Total(count: 1, amount: Books.money("10", "USD")),
      ])
    #expect(try Books.all().banner(for: .summary(summary), defaultLocale: nil) == Banner(title: title, body: body))
  }

  @Test(
    "the title of a banner for a summary of one payment has the singular",
    arguments: [
      ("en-US", "Received 1 payment"), ("es-MX", "Recibiste 1 pago"), ("hi-IN", "1 भुगतान प्राप्त हुआ"),
      ("ja-JP", "入金：1件"), ("ko-KR", "입금 1건"), ("zh-CN", "收款 1 笔"),
    ])
  func oneCounted(locale: String, title: String) throws {
    let summary = try PaymentSummary(
      totals: [PaymentSummary.Total(count: 1, amount: Books.money("10", "USD"))])
    #expect(try Books.all().banner(for: .summary(summary), defaultLocale: locale).title == title)
  }

  @Test("a free text is the body of its banner, trimmed and on one line, and the banner has no title")
  func text() throws {
    let text = " Closing\tat\u{7}  9:30 p.m.\n\nThank you — 谢谢 👋🏽 "
    #expect(
      try Books.all().banner(for: .text(text, locale: "en-US"), defaultLocale: nil)
        == Banner(body: "Closing at 9:30 p.m. Thank you — 谢谢 👋🏽"))
  }

  @Test("a free text of more than 1,000 characters ends with an ellipsis in its banner")
  func longText() throws {
    func body(_ count: Int) throws -> String? {
      try Books.all().banner(for: .text(String(repeating: "好", count: count), locale: "zh-CN"), defaultLocale: nil).body
    }
    #expect(try body(1_000) == String(repeating: "好", count: 1_000))
    #expect(try body(1_001) == String(repeating: "好", count: 999) + "…")
  }

  @Test(
    "an announcement whose banner would show nothing is an error",
    arguments: [Announcement.text(" \u{200B}\n", locale: nil), .again(locale: nil)])
  func nothing(announcement: Announcement) throws {
    let error = #expect(throws: AnnouncementError.self) {
      try Books.all().banner(for: announcement, defaultLocale: "en-US")
    }
    #expect(error?.code == .nothingToSay)
  }

  @Test(
    "a banner is in the language of the payment's locale, or else of the default locale, or else in English",
    arguments: [
      ("zh-Hans-SG", "ko-KR", "到账 US$5.00"), (nil, "ko-KR", "입금 US$5.00"), (nil, nil, "Received $5.00"),
      ("en-GB", "ko-KR", "Received US$5.00"), ("es_AR", nil, "Recibiste USD\u{A0}5.00"),
    ] as [(String?, String?, String)])
  func language(asked: String?, usual: String?, title: String) throws {
    let payment = Payment(amount: try Books.money("5", "USD"), locale: asked)
    #expect(try Books.all().banner(for: .payment(payment), defaultLocale: usual).title == title)
  }

  @Test("a locale without a phrase book gives the same error for a banner as for a spoken announcement")
  func unknownLocale() throws {
    let announcement = Announcement.payment(Payment(amount: try Books.money("5", "USD"), locale: "tlh"))
    let written = #expect(throws: AnnouncementError.self) {
      try Books.all().banner(for: announcement, defaultLocale: "en-US")
    }
    let spoken = #expect(throws: AnnouncementError.self) { try Books.all().writer(for: "tlh") }
    #expect(written == spoken && written?.code == .localeUnknown)
  }

  @Test("a banner can show a currency that a voice cannot say", arguments: locales)
  func unspeakable(locale: String) throws {
    #expect(try banner(locale, "12.50", "ZWG").title?.contains("ZWG\u{A0}12.50") == true)
  }
}
