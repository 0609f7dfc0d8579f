// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Announcements

@Suite("Numbers, signs and words about orders in texts")
struct TextKindsTests {
  private func reading(_ text: String, _ locale: String) throws -> (words: String, remarks: Remarks) {
    let (script, remarks) = try Books.all().writer(for: locale).writing(of: .text(text, locale: nil))
    return (script.text, remarks)
  }

  private static let uncertain = "text: a sum can be read in two ways, so its digits are said one by one"

  @Test(
    "a sum in a text that has two readings is said digit by digit with its unit, and a warning says so",
    arguments: [
      ("en-US", "€1.234", "one, two three four euros"), ("en-US", "100.000 €", "one zero zero, zero zero zero euros"),
      ("en-US", "$1.000", "one, zero zero zero dollars"),
      ("en-US", "IDR 50.000", "five zero, zero zero zero Indonesian rupiahs"),
      ("en-US", "¥12.50", "one two point five zero yen"), ("es-MX", "$1.000", "uno, cero cero cero pesos"),
      ("es-MX", "1.000 pesos", "uno, cero cero cero pesos"), ("ja-JP", "0.5円", "ゼロ てん ご えん"),
      ("ko-KR", "0.5원", "영 점 오 원"), ("en-US", "₫15.000", "one five, zero zero zero Vietnamese dong"),
      ("en-US", "15.000₫", "one five, zero zero zero Vietnamese dong"),
      ("en-US", "₺1.250", "one, two five zero Turkish Lira"),
      ("en-US", "Rp 50.000", "five zero, zero zero zero Indonesian rupiahs"),
    ])
  func uncertain(locale: String, text: String, words: String) throws {
    let (said, remarks) = try reading(text, locale)
    #expect(said == words)
    #expect(remarks.warnings == [Self.uncertain] && remarks.unspoken.isEmpty)
  }

  @Test(
    "a currency's sign or abbreviation, before or after the number, is said as the currency's name",
    arguments: [
      ("en-US", "฿170", "one hundred seventy Thai baht"), ("en-US", "₽500", "five hundred Russian rubles"),
      ("en-US", "500 руб.", "five hundred Russian rubles."), ("en-US", "5 ₪", "five Israeli new shekels"),
      ("en-US", "\u{20C1}5", "five Saudi riyals"), ("es-MX", "₡5", "cinco colones costarricenses"),
      ("en-US", "KSh 500", "five hundred Kenyan shillings"), ("en-US", "RM50", "fifty Malaysian ringgit"),
      ("hi-IN", "रु 250", "दो सौ पचास रुपये"), ("hi-IN", "रु. 250", "दो सौ पचास रुपये"),
      ("hi-IN", "रु. 1,50,000", "एक लाख पचास हज़ार रुपये"),
      ("hi-IN", "250 रु", "दो सौ पचास रुपये"), ("hi-IN", "रु.50", "पचास रुपये"), ("zh-CN", "50人民币", "五十元"),
      ("zh-CN", "20美金", "二十美元"), ("zh-CN", "人民币50", "人民币 五十"),
    ])
  func signs(locale: String, text: String, words: String) throws {
    let (said, remarks) = try reading(text, locale)
    #expect(said == words)
    #expect(remarks == Remarks())
  }

  @Test(
    "the path of a web address is left out and reported, and an address without a path is spoken whole",
    arguments: [("http://shop.example/x?y", ["/x?y"]), ("www.example.com", []), ("a.b@example.org", [])])
  func paths(address: String, unspoken: [String]) throws {
    let (_, remarks) = try reading("See \(address) please", "en-US")
    #expect(remarks.unspoken.map(\.text) == unspoken)
  }

  @Test(
    "if the voice has no name for a currency, its sign and the number beside it are left out, and a warning says so",
    arguments: [("₿0.5", "₿0.5"), ("0.5 ₿", "0.5 ₿"), ("₿ 1,000", "₿ 1,000")])
  func unknown(sum: String, unspoken: String) throws {
    let (said, remarks) = try reading("Tip \(sum) thanks", "en-US")
    #expect(said == "Tip thanks")
    #expect(remarks.unspoken == [Remarks.Unspoken(field: "text", text: unspoken)])
    #expect(remarks.warnings == ["text: a sum is not spoken, because the voice has no name for its currency"])
  }

  @Test(
    "every currency sign of the phrase books is said as a currency, or is left out together with its number",
    arguments: BannerTests.locales)
  func everySign(locale: String) throws {
    let signs = try Books.all().book(for: locale).content.currencySigns
    #expect(signs.count > 30)
    for (sign, code) in signs {
      #expect(Currency(code: code) != nil, "\(sign)")
      let isWord = sign.unicodeScalars.contains { $0.isWordPart && $0.isUnspaced }
      let (_, remarks) = try reading(isWord ? "OK 7\(sign)" : "OK \(sign) 7", locale)
      // Japanese has no name for some currencies that its voice can read.
      let isLeftOut = remarks.warnings == ["text: a sum is not spoken, because the voice has no name for its currency"]
      #expect(isLeftOut ? locale == "ja-JP" && !remarks.unspoken.isEmpty : remarks == Remarks(), "\(sign): \(remarks)")
    }
  }

  @Test(
    "dates, times, ordinals and counted things in a text are said as people say them",
    arguments: [
      ("zh-CN", "1998年", "一九九八 年"), ("zh-CN", "1998年5月6日", "一九九八 年 五 月 六 日"), ("zh-CN", "05年", "零五 年"),
      ("zh-CN", "2000年", "二零零零 年"), ("zh-CN", "10年", "十 年"), ("zh-CN", "1000年", "一千 年"),
      ("zh-CN", "2点", "两点"), ("zh-CN", "2间房", "两间 房"), ("zh-CN", "2毛2分", "两毛 二 分"), ("zh-CN", "2角", "两角"),
      ("zh-CN", "3块5", "三块 五"), ("zh-CN", "No. 5", "编号 五"), ("zh-CN", "№5", "编号 五"),
      ("es-MX", "3er lugar", "tercer lugar"), ("es-MX", "1er piso", "primer piso"), ("es-MX", "3ro", "tercero"),
      ("es-MX", "21 mujeres", "veintiuna mujeres"), ("es-MX", "200 flores", "doscientas flores"),
      ("es-MX", "21 hombres", "veintiún hombres"), ("es-MX", "Nº 5", "número cinco"), ("es-MX", "N° 3", "número tres"),
      ("es-MX", "No. 5", "número cinco"), ("es-MX", "13:00", "trece horas"), ("es-MX", "12:00", "doce en punto"),
      ("en-US", "Table No. 5", "Table number five"), ("en-US", "№5", "number five"), ("en-US", "#5", "number five"),
      ("en-US", "Yes or no. 5 pieces", "Yes or no. five pieces"), ("en-US", "the 1990s", "the nineteen nineties"),
      ("en-US", "the 90s", "the nineties"), ("en-US", "Nov 3", "Nov third"),
      ("en-US", "November 3, 2026", "November third, twenty twenty-six"),
      ("en-US", "Nov. 3", "Nov. third"), ("en-US", "Nov 3:30", "Nov three thirty"),
      ("en-US", "we may 5 times", "we may five times"),
      ("en-US", "20:23:58", "twenty twenty-three and fifty-eight seconds"),
      ("en-US", "10:30:45 am", "ten thirty and forty-five seconds a m"), ("en-US", "10:30:00", "ten thirty"),
      ("es-MX", "20:23:58", "veinte veintitrés con cincuenta y ocho segundos"),
      ("zh-CN", "20:23:58", "二十点二十三分五十八秒"), ("ja-JP", "20:23:58", "にじゅうじにじゅうさんぷんごじゅうはちびょう"),
      ("ko-KR", "20:23:58", "이십 시 이십삼 분 오십팔 초"), ("hi-IN", "20:23:58", "बीस बजकर तेईस मिनट अट्ठावन सेकंड"),
      ("hi-IN", "10वीं", "दसवीं"), ("hi-IN", "2री", "दूसरी"), ("hi-IN", "1ली", "पहली"), ("hi-IN", "3रे", "तीसरे"),
      ("hi-IN", "5वाँ", "पाँचवाँ"), ("ko-KR", "2개월", "이 개월"), ("ko-KR", "4달", "네 달"), ("ko-KR", "3판", "세 판"),
      ("ko-KR", "2세트", "두 세트"), ("ko-KR", "3인분", "삼 인분"), ("ja-JP", "2人前", "ににんまえ"), ("ja-JP", "1人前", "いちにんまえ"),
      ("ja-JP", "4人前", "よにんまえ"), ("ja-JP", "0時", "れいじ"), ("ja-JP", "2皿", "ふたさら"), ("ja-JP", "3丁目", "さんちょうめ"),
    ])
  func kinds(locale: String, text: String, words: String) throws {
    let (said, remarks) = try reading(text, locale)
    #expect(said == words)
    #expect(remarks == Remarks())
  }

  @Test(
    "Japanese words that are common in orders are read by the Japanese voice, and not by a Chinese voice",
    arguments: ["午後7時", "第2便", "税込 1,100円", "ご注文 2人前", "大盛り 1杯", "お持ち帰り", "豚肉 3品"])
  func japanese(text: String) throws {
    let script = try Books.all().writer(for: "ja-JP").script(for: .text(text, locale: nil))
    let foreign = script.runs.filter { $0.voice != "ja+f2" }.map(\.text)
    #expect(foreign == (text == "第2便" ? ["便"] : []))
  }

  @Test("trade mark signs in a text are listed as unspoken", arguments: ["™", "®", "©", "℠"])
  func marks(sign: String) throws {
    let payment = Payment(amount: try Books.money("5", "USD"), payer: "Acme\(sign)")
    let (script, remarks) = try Books.all().writer(for: "en-US").writing(of: .payment(payment))
    #expect(script.text == "Received five dollars, from Acme")
    #expect(remarks.unspoken == [Remarks.Unspoken(field: "payer", text: sign)])
  }
}
