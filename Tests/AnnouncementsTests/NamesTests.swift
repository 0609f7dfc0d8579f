// SPDX-License-Identifier: Apache-2.0

import Announcements
import TestSupport
import Testing

@Suite("A name is spoken as a name")
struct NamesTests {
  private func writing(
    _ locale: String, _ amount: String = "5", _ code: String = "USD", channel: String? = nil, payer: String? = nil,
    payerReading: String? = nil, note: String? = nil, kind: Payment.Kind = .received
  ) throws -> (script: Script, remarks: Remarks) {
    let payment = Payment(
      amount: try Books.money(amount, code), kind: kind, channel: channel, payer: payer, payerReading: payerReading,
      note: note)
    return try Books.all().writer(for: locale).writing(of: .payment(payment))
  }

  @Test(
    "a name that imitates an announcement is spoken without its sum and without pauses",
    arguments: [
      ("zh-CN", "张三。微信到账一万元", "到账五美元，来自张三 微信到账", "一万元"),
      ("zh-CN", "李四 到账10000元", "到账五美元，来自李四 到账", "10000元"),
      ("en-US", "Bob. Received one million dollars", "Received five dollars, from Bob Received", "one million dollars"),
      ("en-US", "Bob, $1,000,000", "Received five dollars, from Bob", "$1,000,000"),
      ("hi-IN", "राम। एक लाख रुपये प्राप्त हुए", "पाँच डॉलर प्राप्त हुए, राम प्राप्त हुए से", "एक लाख रुपये"),
      ("es-MX", "Ana. Recibiste mil pesos", "Recibiste un pago de cinco dólares, de Ana Recibiste", "mil pesos"),
      ("ko-KR", "철수. 만 원 입금", "오 달러 입금되었습니다. 보낸 분, 철수 입금 님", "만 원"),
    ])
  func imitation(locale: String, payer: String, text: String, unspoken: String) throws {
    let (script, remarks) = try writing(locale, payer: payer)
    #expect(script.text == text)
    #expect(remarks.unspoken == [Remarks.Unspoken(field: "payer", text: unspoken)])
    #expect(
      remarks.warnings
        == ["payer: a sum of money is not spoken, because a listener would take it for the sum paid"])
  }

  @Test("a number in words counts as a sum in a name that mentions a payment")
  func numberAlone() throws {
    #expect(try writing("zh-CN", payer: "张三到账一万").script.text == "到账五美元，来自张三到账")
    #expect(try writing("zh-CN", payer: "五十铃").script.text == "到账五美元，来自五十铃")
    #expect(try writing("zh-CN", payer: "三一重工").remarks.unspoken.isEmpty)
  }

  @Test(
    "a sum in a name is found in any language, with any spacing, and in common words for money",
    arguments: [
      ("en-US", "five  hundred  dollars"), ("en-US", "five.hundred.dollars"), ("en-US", "五百美元"),
      ("en-US", "quinientos dólares"), ("en-US", "500 bucks"), ("zh-CN", "一万块"), ("zh-CN", "10000块"),
      ("zh-CN", "壹万元"), ("zh-CN", "一百美金"), ("zh-CN", "One thousand dollars"), ("ja-JP", "一万円"), ("ko-KR", "오백불"),
      ("hi-IN", "पांच सौ रुपए"),
    ])
  func sumAlone(locale: String, payer: String) throws {
    let (script, remarks) = try writing(locale, payer: payer)
    #expect(!script.says(.payer))
    #expect(remarks.unspoken == [Remarks.Unspoken(field: "payer", text: payer)])
  }

  @Test(
    "a name that only sounds like a number keeps its words",
    arguments: [
      ("en-US", "Tom and Penny"), ("en-US", "Jack and Penny Smith"), ("en-US", "Seven Sisters"), ("es-MX", "Juan Ocho"),
      ("zh-CN", "张三元"), ("zh-CN", "李一元"), ("zh-CN", "万科"), ("ko-KR", "김이원"), ("ja-JP", "ニッサン"),
      ("ja-JP", "カフェにドルチェ"), ("en-US", "Bob"),
    ])
  func innocentNames(locale: String, payer: String) throws {
    let (script, remarks) = try writing(locale, payer: payer)
    #expect(script.text.contains(payer))
    #expect(remarks.unspoken.isEmpty)
  }

  @Test("an unknown channel is cleaned like a payer's name")
  func channel() throws {
    #expect(try writing("ja-JP", channel: "¥1,000,000").script.text == "ごドルをうけとりました")
    #expect(try writing("en-US", channel: "Pay. Me").script.text == "Received five dollars through Pay Me")
  }

  @Test("a payer, a note and an unknown channel are never said before the sum, in any kind of payment")
  func sumComesFirst() throws {
    for locale in try Books.all().locales {
      for kind in Payment.Kind.allCases {
        let name = try Books.all().writer(for: locale).book.channels.first.orThrow(locale)
        for channel in ["Zorkpay", "zork 7 ドル", "一億えん", "five million and counting", "पाँच", name] {
          let roles = try writing(locale, "1", channel: channel, payer: "Zork", note: "Zork", kind: kind).script.runs
            .flatMap(\.segments).map(\.role)
          let amount = try roles.firstIndex(of: .amount).orThrow("an amount")
          let others = roles[..<amount].filter { $0 == .payer || $0 == .note || channel != name && $0 == .channel }
          #expect(others.isEmpty, "\(locale) \(kind) \(channel)")
        }
      }
    }
  }

  @Test(
    "an unknown channel is said after the sum, and a known channel keeps its place in the sentence",
    arguments: [
      ("zh-CN", "Zork", "到账五美元，通过 Zork"), ("zh-CN", "alipay", "支付宝到账五美元"),
      ("hi-IN", "Zork", "पाँच डॉलर प्राप्त हुए, Zork पर"), ("hi-IN", "paytm", "पेटीएम पर पाँच डॉलर प्राप्त हुए"),
      ("ja-JP", "ぞるく", "ごドルをうけとりました。ぞるくにて"), ("ja-JP", "paypay", "ペイペイで、ごドルをうけとりました"),
      ("ko-KR", "조르크", "오 달러 입금되었습니다. 결제 수단, 조르크"), ("ko-KR", "kakaopay", "카카오페이, 오 달러 입금되었습니다"),
      ("en-US", "Zork", "Received five dollars through Zork"),
      ("es-MX", "Zork", "Recibiste un pago de cinco dólares mediante Zork"),
    ])
  func otherChannels(locale: String, channel: String, text: String) throws {
    #expect(try writing(locale, channel: channel).script.text == text)
  }

  @Test("the digits of a name are spoken one by one, and digits masked by asterisks are not spoken")
  func digits() throws {
    #expect(
      try writing("zh-CN", payer: "138****1234").script.text == "到账五美元，来自幺三八 幺二三四")
    #expect(try writing("en-US", payer: "7-Eleven").script.text == "Received five dollars, from seven Eleven")
    #expect(try writing("ko-KR", payer: "김*수").script.text.hasSuffix("김 수 님"))
  }

  @Test("a form of address in the name is not spoken twice if the sentence adds it")
  func honorifics() throws {
    #expect(try writing("ja-JP", payer: "たなかさん").script.text == "ごドルをうけとりました。たなかさまより")
    #expect(try writing("ja-JP", payer: "たなか様").script.text == "ごドルをうけとりました。たなかさまより")
    #expect(try writing("ko-KR", payer: "김철수님").script.text == "오 달러 입금되었습니다. 보낸 분, 김철수 님")
  }

  @Test("a name that no voice can read is left out and reported")
  func unspoken() throws {
    let (script, remarks) = try writing("en-US", payer: "สมชาย", note: "lunch 🍜")
    #expect(script.text == "Received five dollars. Note, lunch")
    #expect(
      remarks.unspoken == [
        Remarks.Unspoken(field: "payer", text: "สมชาย"), Remarks.Unspoken(field: "note", text: "🍜"),
      ])
  }

  @Test("a family name in kanji is read in Japanese, and any other kanji name by a Chinese voice with a warning")
  func kanji() throws {
    let known = try writing("ja-JP", payer: "佐々木")
    #expect(known.script.text == "ごドルをうけとりました。佐々木さまより")
    #expect(known.script.runs.map(\.spelling) == ["ごドルをうけとりました。ささきさまより"])
    #expect(known.remarks.warnings.isEmpty)
    let unknown = try writing("ja-JP", payer: "凜")
    #expect(unknown.script.runs.map(\.voice) == ["ja+f2", "cmn-latn-pinyin+f2", "ja+f2"])
    #expect(
      unknown.remarks.warnings == [
        "payer: a part is read by a voice of another language (zh); give payer_reading to have it read in ja-JP"
      ])
  }

  @Test("a reading of the payer's name is spoken instead of the name, and the report's text keeps the name")
  func payerReading() throws {
    let (script, remarks) = try writing("ja-JP", payer: "凜", payerReading: "りん")
    #expect(script.text == "ごドルをうけとりました。凜さまより")
    #expect(script.runs.map(\.spelling) == ["ごドルをうけとりました。りんさまより"])
    #expect(remarks.warnings.isEmpty)
  }

  @Test("a note is spoken without a sentence break, and is introduced as a note")
  func note() throws {
    #expect(
      try writing("en-US", note: "Rent. $1,200.50 paid!").script.text
        == "Received five dollars. Note, Rent, one thousand two hundred dollars and fifty cents paid,")
  }

  @Test("the kind of a payment is said before the amount, unless money was received")
  func whatHappenedComesFirst() throws {
    for locale in try Books.all().locales {
      for kind in [Payment.Kind.pending, .refunded, .withdrawn, .failed] {
        let roles = try writing(locale, kind: kind).script.runs.flatMap(\.segments).map(\.role)
        #expect(roles.first == .phrase, "\(locale) \(kind)")
      }
    }
    #expect(try writing("hi-IN", "1", "INR", kind: .failed).script.text == "भुगतान विफल, एक रुपया")
    #expect(try writing("ja-JP", "1", "JPY", kind: .failed).script.text == "けっさいしっぱい、いちえん")
    #expect(try writing("ko-KR", "1000", "KRW", kind: .failed).script.text == "결제 실패, 천 원")
  }

  @Test(
    "each channel has its own preposition",
    arguments: [
      ("en-US", "cash", "Received five dollars in cash"), ("en-US", "card", "Received five dollars by card"),
      ("en-US", "alipay", "Received five dollars through Alipay"),
      ("es-MX", "cash", "Recibiste un pago de cinco dólares en efectivo"),
      ("es-MX", "card", "Recibiste un pago de cinco dólares con tarjeta"),
      ("hi-IN", "cash", "नकद पाँच डॉलर प्राप्त हुए"), ("hi-IN", "card", "कार्ड से पाँच डॉलर प्राप्त हुए"),
      ("hi-IN", "bharatpe", "भारत पे पर पाँच डॉलर प्राप्त हुए"), ("zh-CN", "wechat", "微信收款到账五美元"),
    ])
  func channels(locale: String, channel: String, text: String) throws {
    #expect(try writing(locale, channel: channel).script.text == text)
  }

  @Test("the Hindi verb agrees with one rupee and with one paisa")
  func agreement() throws {
    #expect(try writing("hi-IN", "1", "INR", payer: "राम").script.text == "एक रुपया प्राप्त हुआ, राम से")
    #expect(try writing("hi-IN", "2", "INR").script.text == "दो रुपये प्राप्त हुए")
    #expect(try writing("hi-IN", "0.01", "INR").script.text == "एक पैसा प्राप्त हुआ")
  }
}
