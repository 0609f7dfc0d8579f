// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Announcements
import Foundation
import TestSupport
import Testing

/// Sums in free text, in every notation of CLDR's patterns and of the six countries. The independent reader reads the
/// words back, and the result must equal the written sum.
@Suite("A sum in a text is spoken as the intended sum")
struct SumsInTextTests {
  /// The signs that mean one currency in a locale, as in the phrase books' `currencySigns`.
  static let currencies: [(locale: String, code: String, sign: String)] = [
    ("en-US", "USD", "$"), ("en-US", "EUR", "€"), ("en-US", "GBP", "£"), ("en-US", "INR", "₹"), ("en-US", "JPY", "¥"),
    ("zh-CN", "CNY", "¥"), ("zh-CN", "USD", "$"), ("zh-CN", "EUR", "€"),
    ("hi-IN", "INR", "₹"), ("hi-IN", "USD", "$"), ("es-MX", "MXN", "$"), ("es-MX", "EUR", "€"),
    ("ja-JP", "JPY", "¥"), ("ja-JP", "USD", "$"), ("ko-KR", "KRW", "₩"), ("ko-KR", "USD", "$"),
  ]

  /// A notation for sums. It returns `nil` for a sum that it cannot express.
  struct Way: Sendable {
    var name: String
    var write: @Sendable (_ sum: Money, _ sign: String, _ locale: String) -> String?
    var isNegative = false
  }

  /// Returns the digits of a sum: `1234567.50`, grouped in threes or as in India, with a decimal part if there is one.
  private static func digits(
    _ sum: Money, group: String = "", point: String = ".", isIndian: Bool = false
  ) -> String {
    var whole = Array(String(sum.majorPart))
    var groups: [String] = []
    var size = 3
    while whole.count > size {
      groups.insert(String(whole.suffix(size)), at: 0)
      whole.removeLast(size)
      if isIndian { size = 2 }
    }
    groups.insert(String(whole), at: 0)
    let decimals = sum.minorPartDigits.map(String.init).joined()
    return groups.joined(separator: group) + (sum.minorPart > 0 ? point + decimals : "")
  }

  /// Returns the sum as a decimal multiple of a power of ten, if two decimals are enough: 1.5 for 1,500,000.
  private static func multiple(_ sum: Money, _ power: Int) -> String? {
    var unit = sum.currency.minorUnitsPerMajor
    for _ in 0..<power { unit *= 10 }
    let hundredth = unit / 100
    guard sum.minorUnits >= unit, sum.minorUnits % hundredth == 0 else { return nil }
    let (whole, rest) = (sum.minorUnits / unit, sum.minorUnits % unit / hundredth)
    if rest == 0 { return String(whole) }
    return "\(whole)." + (rest % 10 == 0 ? "\(rest / 10)" : rest < 10 ? "0\(rest)" : "\(rest)")
  }

  private static func fullWidth(_ text: String) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.map { scalar in
          guard (0x21...0x7E).contains(scalar.value) else { return scalar }
          return Unicode.Scalar(scalar.value + 0xFEE0) ?? scalar
        }))
  }

  private static func devanagari(_ text: String) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.map { scalar in
          (0x30...0x39).contains(scalar.value) ? Unicode.Scalar(scalar.value - 0x30 + 0x966) ?? scalar : scalar
        }))
  }

  private static let scaleWords: [(locale: String, word: String, power: Int)] = [
    ("", " million", 6), ("", "M", 6), ("", "bn", 9), ("", " billion", 9), ("", "k", 3), ("", " lakh", 5),
    ("", " crore", 7), ("zh-CN", "万", 4), ("zh-CN", "亿", 8), ("zh-CN", "百万", 6), ("ja-JP", "万", 4),
    ("ja-JP", "億", 8), ("ko-KR", "만", 4), ("ko-KR", "억", 8), ("hi-IN", " लाख", 5), ("hi-IN", " करोड़", 7),
    ("hi-IN", " हज़ार", 3), ("es-MX", " mil", 3), ("es-MX", " millones", 6), ("es-MX", " mil millones", 9),
  ]

  static let ways: [Way] =
    [
      Way(name: "sign before") { sum, sign, _ in sign + digits(sum) },
      Way(name: "sign before, grouped") { sum, sign, _ in sign + digits(sum, group: ",") },
      Way(name: "sign and space before") { sum, sign, _ in sign + " " + digits(sum, group: ",") },
      Way(name: "sign behind") { sum, sign, _ in digits(sum, group: ",") + sign },
      Way(name: "sign behind a space that does not break") { sum, sign, _ in digits(sum) + "\u{A0}" + sign },
      Way(name: "grouped by spaces") { sum, sign, _ in sign + digits(sum, group: " ") },
      Way(name: "grouped by narrow spaces") { sum, sign, _ in sign + digits(sum, group: "\u{202F}") },
      Way(name: "grouped by thin spaces, sign behind") { sum, sign, _ in digits(sum, group: "\u{2009}") + " " + sign },
      Way(name: "grouped by apostrophes") { sum, sign, _ in sign + digits(sum, group: "'") },
      Way(name: "grouped as in India") { sum, sign, _ in sign + digits(sum, group: ",", isIndian: true) },
      Way(name: "grouped by points, a decimal comma") { sum, sign, _ in
        sum.majorPart >= 1_000 && sum.minorPart > 0 ? digits(sum, group: ".", point: ",") + " " + sign : nil
      },
      Way(name: "grouped by spaces, a decimal comma") { sum, sign, _ in
        sum.majorPart >= 1_000 && sum.minorPart > 0 ? digits(sum, group: "\u{A0}", point: ",") + " " + sign : nil
      },
      Way(name: "code before") { sum, _, _ in sum.currency.code + " " + digits(sum, group: ",") },
      Way(name: "code behind") { sum, _, _ in digits(sum, group: ",") + " " + sum.currency.code },
      Way(name: "code behind, and a sign") { sum, sign, _ in sign + digits(sum) + " " + sum.currency.code },
      Way(name: "full width") { sum, sign, _ in fullWidth(sign + digits(sum, group: ",")) },
      Way(name: "digits of Devanagari") { sum, sign, _ in sign + devanagari(digits(sum)) },
      Way(name: "minus before") { sum, sign, _ in "-" + sign + digits(sum) },
      Way(name: "minus behind the sign") { sum, sign, _ in sign + "-" + digits(sum) },
      Way(name: "dash before") { sum, sign, _ in "\u{2013}" + sign + digits(sum) },
      Way(name: "mathematical minus before") { sum, sign, _ in "\u{2212}" + sign + digits(sum, group: ",") },
      Way(name: "brackets of accounting") { sum, sign, _ in "(" + sign + digits(sum, group: ",") + ")" },
      Way(name: "letter sign behind") { sum, _, locale in
        ["zh-CN CNY": "元", "ja-JP JPY": "円", "ko-KR KRW": "원"]["\(locale) \(sum.currency.code)"]
          .map { digits(sum, group: ",") + $0 }
      },
      Way(name: "letter sign behind a space") { sum, _, locale in
        ["zh-CN CNY": "元", "ja-JP JPY": "円", "ko-KR KRW": "원"]["\(locale) \(sum.currency.code)"]
          .map { digits(sum, group: ",") + " " + $0 }
      },
      Way(name: "元, 角 and 分") { sum, _, locale in
        guard locale == "zh-CN", sum.currency.code == "CNY", sum.majorPart > 0, sum.minorPart >= 10 else { return nil }
        let parts = sum.minorPartDigits
        return "\(sum.majorPart)元\(parts[0])角" + (parts[1] > 0 ? "\(parts[1])分" : "")
      },
      Way(name: "万 and 千") { sum, sign, locale in
        guard ["zh-CN", "ja-JP"].contains(locale), sum.minorPart == 0, (10_000...99_999_999).contains(sum.majorPart),
          sum.majorPart % 1_000 == 0, sum.majorPart % 10_000 > 0
        else { return nil }
        return "\(sign)\(sum.majorPart / 10_000)万\(sum.majorPart % 10_000 / 1_000)千"
      },
      Way(name: "cents") { sum, _, locale in
        ["en-US USD", "es-MX MXN"].contains("\(locale) \(sum.currency.code)") && sum.majorPart == 0
          ? "\(sum.minorPart)¢" : nil
      },
      Way(name: "Rs") { sum, _, _ in sum.currency.code == "INR" ? "Rs. " + digits(sum, group: ",", isIndian: true) : nil
      },
      Way(name: "US$") { sum, sign, _ in
        sum.currency.code == "USD" && sign == "$" ? "US$" + digits(sum, group: ",") : nil
      },
    ].map { way in
      var way = way
      way.isNegative = ["minus", "dash", "mathematical", "brackets"].contains { way.name.hasPrefix($0) }
      return way
    }
    + scaleWords.map { scale in
      Way(name: "scale '\(scale.word)' \(scale.locale)") { sum, sign, locale in
        guard scale.locale.isEmpty || scale.locale == locale, let number = multiple(sum, scale.power) else {
          return nil
        }
        return sign + number + scale.word
      }
    }

  /// Returns a random sum for the notations: of any length, with and without a decimal part, round or not.
  private static func sum(_ currency: Currency, _ random: inout SplitMix64) throws -> Money {
    let length = Int.random(in: 0...10, using: &random)
    let highest = (0..<length).reduce(Int64(1)) { power, _ in power * 10 }
    var major = Int64.random(in: 0...highest, using: &random)
    if Bool.random(using: &random), length > 3 {
      let round = (0..<(length - 2)).reduce(Int64(1)) { power, _ in power * 10 }
      major = max(round, major / round * round)
    }
    let hasMinor = Int.random(in: 0..<3, using: &random) == 0
    let minor = hasMinor ? Int64.random(in: 0..<currency.minorUnitsPerMajor, using: &random) : 0
    return try Money(minorUnits: max(1, major * currency.minorUnitsPerMajor + minor), currency: currency)
  }

  @Test("more than 5,000 sums in texts are read back, in every notation")
  func readBack() throws {
    var random = SplitMix64(seed: 12)
    var checked = 0
    var byWay: [String: Int] = [:]
    var wrong: [String: String] = [:]
    while checked < 6_000 {
      for (locale, code, sign) in Self.currencies {
        let currency = try Currency(code: code).orThrow(code)
        for way in Self.ways {
          let sum = try Self.sum(currency, &random)
          guard let text = way.write(sum, sign, locale) else { continue }
          checked += 1
          byWay[way.name, default: 0] += 1
          if let words = try misreading(of: text, meaning: sum, in: locale, isNegative: way.isNegative) {
            wrong["\(way.name), \(locale)"] = "'\(text)' is said '\(words)'"
          }
        }
      }
    }
    #expect(wrong == [:])
    #expect(Set(Self.ways.map(\.name)) == Set(byWay.keys))
  }

  /// Returns the words of a text that do not read back as the intended sum; `nil` when they do.
  private func misreading(
    of text: String, meaning sum: Money, in locale: String, isNegative: Bool
  ) throws -> String? {
    let (script, remarks) = try Books.all().writer(for: locale).writing(of: .text(text, locale: nil))
    var words = script.text
    let minus = [
      "en-US": "minus ", "zh-CN": "负 ", "hi-IN": "माइनस ", "es-MX": "menos ", "ja-JP": "マイナス ", "ko-KR": "마이너스 ",
    ]
    if isNegative {
      let sign = minus[locale] ?? ""
      guard words.hasPrefix(sign) else { return words }
      words.removeFirst(sign.count)
    }
    // A long sum contains a pause, so that the engine speaks all of it.
    words = words.replacing(",", with: "")
    let reader = try AmountReaders.ofCheckout.reader(for: locale)
    let read = try? reader.minorUnits(
      in: words, currency: sum.currency.code, minorDigits: sum.currency.minorDigits)
    return read == sum.minorUnits && remarks.warnings.isEmpty ? nil : words
  }

  @Test(
    "a sum in a text that can be read in two ways is spoken digit by digit, and the report says so",
    arguments: [
      ("$12,50", "en-US", "one two, five zero dollars"), ("€1.234", "en-US", "one, two three four euros"),
      ("¥12.50", "ja-JP", "いちに てん ごゼロ えん"), ("$1,23,4", "es-MX", "uno, dos tres, cuatro pesos"),
      ("1万5元", "zh-CN", "一 万 五 元"), ("¥1万2.5", "zh-CN", "一 万 二. 五 元"), ("$5 mil", "en-US", "five mil dollars"),
      ("€1 Mrd", "en-US", "one Mrd euros"), ("1.5¢", "en-US", "one point five cents"),
      ("Table 4 350 dollars", "en-US", "Table four, three five zero dollars"),
      ("paid $20 100 times", "en-US", "paid two zero, one zero zero dollars times"),
      ("€1.234,567", "en-US", "one, two three four, five six seven euros"),
      ("1,234 €", "de-DE", "eins, zwei drei vier Euro"), ("€20 trillion", "en-US", "two zero trillion euros"),
      ("20 Billionen Euro", "de-DE", "zwei null Billionen Euro"),
      ("$1.234567k", "en-US", "one point two three four five six seven k dollars"),
      ("1 Trillion Euro", "de-DE", "eins Trillion Euro"), ("1.500 €", "fr-FR", "un, cinq zéro zéro euros"),
      ("12.500 KWD", "de-DE", "eins zwei, fünf null null Kuwait-Dinar"), ("€ 5 mil", "de-DE", "fünf mil Euro"),
    ])
  func uncertain(text: String, locale: String, words: String) throws {
    let (script, remarks) = try Books.all().writer(for: locale).writing(of: .text(text, locale: nil))
    #expect(script.text == words)
    #expect(remarks.warnings == ["text: a sum can be read in two ways, so its digits are said one by one"])
  }

  @Test(
    "numbers next to each other are separated by a pause, because they would be heard as one number",
    arguments: [
      ("$5-10", "en-US", "five dollars, ten"), ("50-60%", "en-US", "fifty, sixty percent"),
      ("Table 20 $5", "en-US", "Table twenty, five dollars"), ("12:30 $5", "en-US", "twelve thirty, five dollars"),
      ("5-10元", "zh-CN", "五, 十元"), ("套餐2 10元", "zh-CN", "套餐 二, 十元"), ("5～10円", "ja-JP", "ご, じゅうえん"),
      ("5~10원", "ko-KR", "오, 십 원"), ("5-10 pesos", "es-MX", "cinco, diez pesos"),
      ("5-10 रुपये", "hi-IN", "पाँच, दस रुपये"),
    ])
  func neighbours(text: String, locale: String, words: String) throws {
    #expect(try Books.script(.text(text, locale: nil), locale).text == words)
  }

  @Test(
    "a sum within a sentence is spoken as the intended sum",
    arguments: [
      ("Lunch $½", "en-US", "Lunch fifty cents"), ("$.50", "en-US", "fifty cents"),
      ("It costs $.", "en-US", "It costs dollars."),
      ("$3½ million", "en-US", "three million five hundred thousand dollars"),
      ("$2 hundred thousand", "en-US", "two hundred thousand dollars"),
      ("$1.5 B", "en-US", "one billion five hundred million dollars"),
      ("$5 k rent", "en-US", "five thousand dollars rent"), ("$5-million", "en-US", "five million dollars"),
      ("₹1.5 lakh crore", "en-US", "one trillion five hundred billion rupees"), ("− $5", "en-US", "minus five dollars"),
      ("Coffee, ($5)", "en-US", "Coffee, five dollars"), ("$5 million dollars", "en-US", "five million dollars"),
      ("$1 000 for rent", "en-US", "one thousand dollars for rent"),
      ("$2 millones de pesos", "es-MX", "dos millones de pesos"),
      ("$1 millón 500 mil", "es-MX", "un millón quinientos mil pesos"), ("₹1 लाख 50 हज़ार", "hi-IN", "एक लाख पचास हज़ार रुपये"),
      ("¥5元", "zh-CN", "五元"), ("¥1億2千万", "ja-JP", "いちおくにせんまんえん"), ("thanks :(", "en-US", "thanks,"),
      ("- $5 milk", "en-US", "five dollars milk"), ("12.50 €", "de-DE", "zwölf Euro und fünfzig Cent"),
      ("1.500 Stück, 0,5 l", "de-DE", "eintausendfünfhundert Stück, null Komma fünf l"),
      ("0.500 kg", "de-DE", "null Komma fünf null null kg"), ("₺5B", "tr-TR", "beş bin lira"),
      ("Rp5M", "id-ID", "lima miliar rupiah"), ("5 Mio. €", "de-DE", "fünf Millionen Euro"),
      ("1 Billion Euro", "de-DE", "eine Billion Euro"), ("R$ 5 mil", "pt-BR", "cinco mil reais"),
      ("1,5 млн ₽", "ru-RU", "один миллион пятьсот тысяч рублей"), ("Rp15rb", "id-ID", "lima belas ribu rupiah"),
      ("₹1.5 কোটি", "bn-IN", "এক কোটি পঞ্চাশ লাখ টাকা"),
    ])
  func inSentences(text: String, locale: String, words: String) throws {
    #expect(try Books.script(.text(text, locale: nil), locale).text == words)
  }

  @Test(
    "numbers in a text that are not sums are not spoken as sums",
    arguments: [
      ("9:00 am", "en-US", "nine a m"), ("12:30", "en-US", "twelve thirty"), ("9:05", "zh-CN", "九点零五分"),
      ("9:05", "ja-JP", "くじごふん"), ("3:05", "ko-KR", "세 시 오 분"), ("12:30", "es-MX", "doce treinta"),
      ("9:30", "hi-IN", "नौ बजकर तीस मिनट"), ("25:61", "en-US", "twenty-five, sixty-one"),
      ("2026-11-21", "en-US", "November twenty-first, twenty twenty-six"),
      ("21/11/2026", "es-MX", "veintiuno de noviembre de dos mil veintiséis"),
      ("11/21/2026", "es-MX", "veintiuno de noviembre de dos mil veintiséis"),
      ("2026-11-21", "zh-CN", "二零二六年十一月二十一日"), ("2026/11/21", "ko-KR", "이천이십육년 십일월 이십일일"),
      ("2026-13-41", "en-US", "two zero two six, one three, four one"),
      ("2nd", "en-US", "second"), ("21st", "en-US", "twenty-first"), ("2º piso", "es-MX", "segundo piso"),
      ("2nd", "hi-IN", "दूसरा"), ("½", "en-US", "a half"), ("1/2", "zh-CN", "二分之一"), ("3½", "es-MX", "tres y medio"),
      ("24/7", "en-US", "twenty-four, seven"), ("5/16", "en-US", "five over sixteen"), ("10%", "zh-CN", "百分之十"),
      ("20 %", "es-MX", "veinte por ciento"), ("2杯", "zh-CN", "两杯"), ("2杯", "ja-JP", "にはい"), ("2잔", "ko-KR", "두 잔"),
      ("2つ", "ja-JP", "ふたつ"), ("1 torta", "es-MX", "una torta"), ("1 día", "es-MX", "un día"),
      ("555-123-4567", "en-US", "five five five, one two three, four five six seven"),
      ("138****1234", "zh-CN", "幺三八, 幺二三四"), ("尾号1234", "zh-CN", "尾号 幺二三四"),
      ("010-1234-5678", "ko-KR", "공 일 공, 일 이 삼 사, 오 육 칠 팔"),
      ("Order #2026", "en-US", "Order number two zero two six"), ("INV-0042", "en-US", "INV zero zero four two"),
      ("playera XL", "es-MX", "playera X L"), ("World War II", "en-US", "World War I I"),
      ("Xi Jinping", "en-US", "Xi Jinping"),
      ("MIX", "en-US", "MIX"), ("part iii", "en-US", "part i i i"),
      ("a.b@example.org", "en-US", "a dot b at example dot org"),
      ("https://example.com/pay?id=42", "en-US", "example dot com"), ("8.5", "ja-JP", "はってんご"),
      ("1.5", "ja-JP", "いってんご"),
      ("10.5", "ja-JP", "じゅってんご"), ("v2.0.1", "en-US", "v two, zero, one"),
      ("2+2=4", "en-US", "two plus two equals four"),
      ("Coffee ($5)", "en-US", "Coffee five dollars"), ("TOP 10", "en-US", "TOP ten"),
      ("5 m cable", "en-US", "five m cable"),
    ])
  func otherNumbers(text: String, locale: String, words: String) throws {
    #expect(try Books.script(.text(text, locale: nil), locale).text == words)
  }

  @Test(
    "a number beside a word in capitals, a room or a length is not taken for a sum",
    arguments: [
      ("en-US", "HAIR GEL 2.50"), ("en-US", "BLUE PEN 1.50 each"), ("en-US", "COFFEE CUP 2.25"),
      ("en-US", "Meet us at 5.30 ALL welcome"), ("en-US", "OPEN 9.30 ALL DAY"), ("en-US", "TOP 10"), ("en-US", "TRY 1"),
      ("zh-CN", "房间RM5"), ("zh-CN", "5rm房间"), ("zh-CN", "6ft高"), ("zh-CN", "3Rp计划"),

    ])
  func noSums(locale: String, text: String) throws {
    let said = try Books.script(.text(text, locale: locale), locale).text
    // The words that are left are those of the text: nothing was taken for a currency.
    for word in text.split(whereSeparator: { !$0.isLetter }).filter({ $0.allSatisfy(\.isASCII) }) {
      #expect(said.contains(word), "\(said)")
    }
  }

  @Test(
    "the Taiwan dollar is named, whether its sign or name stands before the number, after it, or on both sides",
    arguments: [
      ("NT$100元", "新台币一百元"), ("100新台币", "新台币一百元"), ("NT$1.234", "一, 二三四新台币"), ("100元", "一百元"),
    ])
  func bothSides(text: String, said: String) throws {
    let words = try Books.script(.text("收到\(text)", locale: "zh-CN"), "zh-CN").text.replacing(" ", with: "")
    #expect(words == "收到\(said.replacing(" ", with: ""))")
  }
}
