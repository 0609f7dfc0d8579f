// SPDX-License-Identifier: Apache-2.0

import Announcements
import Testing

@Suite("Amounts become words")
struct AmountWordsTests {
  @Test(
    "Chinese says 零 for a skipped place, uses 角 and 分, and says 两 before a unit",
    arguments: [
      ("1", "一元"), ("2", "两元"), ("10", "十元"), ("12.50", "十二元五角"), ("12.05", "十二元零五分"), ("12.55", "十二元五角五分"),
      ("0.05", "五分"), ("0.50", "五角"), ("2.02", "两元零二分"), ("0.22", "两角二分"), ("2.20", "两元两角"), ("101", "一百零一元"),
      ("110", "一百一十元"), ("1001", "一千零一元"), ("1010", "一千零一十元"),
      ("2222", "两千二百二十二元"), ("10000", "一万元"), ("10100", "一万零一百元"), ("20000", "两万元"), ("105000", "十万五千元"),
      ("100001000", "一亿零一千元"), ("1000000000000", "一万亿元"), ("1000000000001", "一万亿零一元"),
      ("100000100000000", nil),
    ] as [(String, String?)])
  func chinese(amount: String, words: String?) throws {
    guard let words else {
      #expect(throws: AnnouncementError.self) { try Books.words(amount, "CNY", "zh-CN") }
      return
    }
    #expect(try Books.words(amount, "CNY", "zh-CN") == words)
  }

  @Test(
    "Thai says เอ็ด for a one after any larger unit, and says ล้าน again for a million millions",
    arguments: [
      ("1", "หนึ่งบาท"), ("11", "สิบเอ็ดบาท"), ("20", "ยี่สิบบาท"), ("21", "ยี่สิบเอ็ดบาท"), ("101", "หนึ่งร้อยเอ็ดบาท"),
      ("1001", "หนึ่งพันเอ็ดบาท"), ("1000001", "หนึ่งล้านเอ็ดบาท"), ("21000000", "ยี่สิบเอ็ดล้านบาท"),
      ("12.50", "สิบสองบาทห้าสิบสตางค์"), ("0.25", "ยี่สิบห้าสตางค์"), ("1000000000000", "หนึ่งล้านล้านบาท"),
      ("1000001000000", "หนึ่งล้านเอ็ดล้านบาท"), ("1000000000001", "หนึ่งล้านล้านเอ็ดบาท"),
    ])
  func thai(amount: String, words: String) throws {
    #expect(try Books.words(amount, "THB", "th-TH") == words)
  }

  @Test(
    "Filipino adds a linker between a count and its noun, and says a larger unit before a smaller one",
    arguments: [
      ("1", "isang piso"), ("4", "apat na piso"), ("10", "sampung piso"), ("14", "labing-apat na piso"),
      ("20", "dalawampung piso"), ("21", "dalawampu't isang piso"), ("29", "dalawampu't siyam na piso"),
      ("100", "isang daang piso"), ("400", "apat na raang piso"), ("150", "isang daan at limampung piso"),
      ("1000", "isang libong piso"), ("1001", "isang libo't isang piso"),
      ("50100", "limampung libo't isang daang piso"), ("150000", "isang daan at limampung libong piso"),
      ("2500000", "dalawang milyon at limang daang libong piso"), ("12.50", "labindalawang piso at limampung sentimo"),
      ("0.04", "apat na sentimo"),
    ])
  func filipino(amount: String, words: String) throws {
    #expect(try Books.words(amount, "PHP", "fil-PH") == words)
  }

  @Test(
    "English amounts use the singular and the plural",
    arguments: [
      ("1", "USD", "one dollar"), ("0.01", "USD", "one cent"), ("12.50", "USD", "twelve dollars and fifty cents"),
      ("1.01", "USD", "one dollar and one cent"), ("0.50", "EUR", "fifty euro cents"),
      ("1.50", "EUR", "one euro and fifty cents"), ("0.50", "USD", "fifty cents"),
      ("12.345", "KWD", "twelve Kuwaiti dinars and three hundred forty-five fils"),
      ("12.50", "CHF", "twelve point five zero Swiss francs"), ("0.05", "CHF", "zero point zero five Swiss francs"),
      ("1", "CHF", "one Swiss franc"), ("3", "JPY", "three yen"), ("12.50", "CNY", "twelve point five zero yuan"),
    ])
  func english(amount: String, code: String, words: String) throws {
    #expect(try Books.words(amount, code, "en-US") == words)
  }

  @Test(
    "Japanese amounts are written in kana with the correct sound changes",
    arguments: [
      ("1", "いちえん"), ("4", "よえん"), ("14", "じゅうよえん"), ("300", "さんびゃくえん"), ("600", "ろっぴゃくえん"), ("800", "はっぴゃくえん"),
      ("1000", "せんえん"), ("3000", "さんぜんえん"), ("8000", "はっせんえん"), ("10000", "いちまんえん"), ("10000000", "いっせんまんえん"),
      ("20000000", "にせんまんえん"), ("100000000", "いちおくえん"), ("1000000000000", "いっちょうえん"),
      ("8000000000000", "はっちょうえん"), ("1250", "せんにひゃくごじゅうえん"),
    ])
  func japanese(amount: String, words: String) throws {
    #expect(try Books.words(amount, "JPY", "ja-JP") == words)
  }

  @Test(
    "Korean amounts are counted in ten thousands",
    arguments: [
      ("1", "KRW", "일 원"), ("10000", "KRW", "만 원"), ("12345", "KRW", "만 이천삼백사십오 원"), ("100000000", "KRW", "일억 원"),
      ("100017000", "KRW", "일억 일만 칠천 원"),
      ("12.50", "USD", "십이 달러 오십 센트"), ("0.05", "CNY", "영 점 영 오 위안"),
    ])
  func korean(amount: String, code: String, words: String) throws {
    #expect(try Books.words(amount, code, "ko-KR") == words)
  }

  @Test(
    "Hindi amounts are counted in lakh and crore",
    arguments: [
      ("1", "एक रुपया"), ("0.01", "एक पैसा"), ("1.50", "एक रुपया पचास पैसे"), ("12.50", "बारह रुपये पचास पैसे"),
      ("125000.50", "एक लाख पच्चीस हज़ार रुपये पचास पैसे"),
      ("10000000", "एक करोड़ रुपये"), ("0.05", "पाँच पैसे"),
    ])
  func hindi(amount: String, words: String) throws {
    #expect(try Books.words(amount, "INR", "hi-IN") == words)
  }

  @Test(
    "for a currency whose name comes from CLDR, the minor unit is said after a major unit",
    arguments: [
      ("12.50", "HKD", "en-US", "twelve Hong Kong dollars and fifty cents"),
      ("1.01", "AUD", "en-US", "one Australian dollar and one cent"),
      ("2.50", "AED", "en-US", "two UAE dirhams and fifty fils"),
      ("1.005", "BHD", "en-US", "one Bahraini dinar and five fils"),
      ("8.25", "THB", "en-US", "eight Thai baht and twenty-five satang"),
      ("21.50", "CHF", "es-MX", "veintiún francos suizos con cincuenta céntimos"),
      ("1.01", "PEN", "es-MX", "un sol peruano con un céntimo"),
      ("2.50", "AED", "hi-IN", "दो यूएई दिरहम पचास फ़िल्स"), ("1.01", "GBP", "hi-IN", "एक पाउंड एक पेनी"),
      ("2.50", "EUR", "ja-JP", "にユーロごじゅっセント"), ("1.08", "GBP", "ja-JP", "いちポンドはっペンス"),
      ("2.50", "AUD", "ko-KR", "이 호주 달러 오십 센트"), ("3.5", "TWD", "ko-KR", "삼 대만 달러 오십 센트"),
    ])
  func sharedMinorUnits(amount: String, code: String, locale: String, words: String) throws {
    #expect(try Books.words(amount, code, locale) == words)
  }

  @Test(
    "the name of a minor unit that does not identify its currency is never said alone",
    arguments: [
      ("0.50", "AUD", "en-US", "zero point five zero Australian dollars"),
      ("0.50", "PEN", "es-MX", "cero punto cinco cero soles peruanos"),
      ("0.50", "EUR", "ko-KR", "영 점 오 영 유로"),
    ])
  func sharedMinorUnitAlone(amount: String, code: String, locale: String, words: String) throws {
    #expect(try Books.words(amount, code, locale) == words)
  }

  @Test(
    "a phrase book's own name for a currency replaces CLDR's name, and may be said before and after the number",
    arguments: [
      ("1", "VED", "en-US", "one digital bolívar"), ("4.50", "VED", "en-US", "four point five zero digital bolívars"),
      ("20", "ILS", "ko-KR", "이스라엘 셰켈, 이십"), ("5", "IDR", "zh-CN", "五印尼盾"),
      ("2", "TWD", "zh-CN", "新台币两元"), ("2.50", "TWD", "zh-CN", "新台币二点五零元"),
    ])
  func ownNames(amount: String, code: String, locale: String, words: String) throws {
    #expect(try Books.words(amount, code, locale) == words)
  }

  @Test(
    "Spanish numbers have their short form before a unit, and round millions are followed by de",
    arguments: [
      ("1", "MXN", "un peso"), ("0.01", "USD", "un centavo de dólar"), ("0.50", "MXN", "cincuenta centavos"),
      ("12.50", "USD", "doce dólares con cincuenta centavos"),
      ("21.21", "USD", "veintiún dólares con veintiún centavos"), ("31", "MXN", "treinta y un pesos"),
      ("100", "MXN", "cien pesos"), ("116", "MXN", "ciento dieciséis pesos"), ("1000", "MXN", "mil pesos"),
      ("21000", "MXN", "veintiún mil pesos"), ("1000000", "USD", "un millón de dólares"),
      ("1000001", "USD", "un millón un dólares"), ("2000000000", "USD", "dos mil millones de dólares"),
      ("1000000000000", "USD", "un billón de dólares"), ("12.51", "JOD", "doce punto cinco uno cero dinares jordanos"),
      ("1.05", "EUR", "un euro con cinco céntimos"), ("1000000", "CHF", "un millón de francos suizos"),
      ("21.50", "QAR", "veintiuno punto cinco cero riales cataríes"),
    ])
  func spanish(amount: String, code: String, words: String) throws {
    #expect(try Books.words(amount, code, "es-MX") == words)
  }

  @Test(
    "a Spanish number agrees with a feminine unit, and the number of millions stays masculine",
    arguments: [
      ("1", "GBP", "una libra"), ("21.21", "GBP", "veintiuna libras con veintiún peniques"),
      ("200", "INR", "doscientas rupias"), ("231021", "GBP", "doscientas treinta y un mil veintiuna libras"),
      ("201000221", "GBP", "doscientos un millones doscientas veintiuna libras"),
      ("200000000", "GBP", "doscientos millones de libras"), ("501", "SEK", "quinientas una coronas suecas"),
      ("200.50", "INR", "doscientos punto cinco cero rupias"),
    ])
  func feminineSpanish(amount: String, code: String, words: String) throws {
    #expect(try Books.words(amount, code, "es-MX") == words)
  }

  @Test("an amount in Chinese, Japanese, Korean or Hindi words has no digit, sign or Latin letter")
  func wordsOnly() throws {
    for (locale, code) in [("zh-CN", "CNY"), ("ja-JP", "JPY"), ("ko-KR", "KRW"), ("hi-IN", "INR")] {
      for amount in ["1", "20", "345", "6789", "1234567", "9999999999999"] {
        let words = try Books.words(amount, code, locale)
        #expect(words.unicodeScalars.allSatisfy { !$0.isASCII || $0 == " " }, "\(locale): \(words)")
      }
    }
  }

  @Test("a currency whose name the voice cannot read is refused, and the error says where to add a name")
  func unspeakableCurrency() throws {
    let writer = try Books.writerWithoutCurrencyNames("ja-JP")
    // CLDR's Japanese name of the first begins with kanji, and that of the second is only a code.
    for code in ["KPW", "ZWG"] {
      let payment = Payment(amount: try Books.money("5", code))
      let error = #expect(throws: AnnouncementError.self) { try writer.script(for: .payment(payment)) }
      #expect(error?.code == .currencyUnspeakable)
      #expect(error?.remedy == "add \(code) under currencyNames in ja-JP.json")
    }
  }
}
