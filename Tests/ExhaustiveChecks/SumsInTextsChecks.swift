// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import TestSupport
import Testing

/// Reads 10,000 texts with a sum in every currency of ISO 4217, written with its code, its sign or its abbreviation,
/// before or after the number, with and without commas.
@Suite("Sums in generated texts")
struct SumsInTextsChecks {
  private static let texts = 10_000
  private static let locales = ["en-US", "es-MX", "hi-IN", "ja-JP", "ko-KR", "zh-CN"]

  @Test("each sum in a text is said like the amount of a payment with the same sum", arguments: locales)
  func sums(locale: String) throws {
    let writer = try Checkout.phraseBooks().writer(for: locale)
    let file = Checkout.installation.templates.appending(path: "\(locale).json")
    let book = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any] ?? [:]
    var signs: [String: [String]] = [:]
    for (sign, code) in book["currencySigns"] as? [String: String] ?? [:] { signs[code, default: []].append(sign) }
    let currencies = Locale.commonISOCurrencyCodes.sorted().compactMap(Currency.init(code:))
    var random = SplitMix64(seed: 7)
    var (exact, asWritten, wrong) = (0, 0, 0)
    for index in 0..<Self.texts / Self.locales.count {
      let currency = currencies[index % currencies.count]
      let digits = Int.random(in: 1...7, using: &random)
      var units: Int64 = 0
      for _ in 0..<digits { units = units * 10 + Int64.random(in: 0...9, using: &random) }
      units = max(1, units)
      if Bool.random(using: &random), currency.minorUnitsPerMajor > 1 { units = units * currency.minorUnitsPerMajor }
      let money = try Money(minorUnits: units, currency: currency)
      var number = money.decimalText
      if Bool.random(using: &random), number.hasSuffix(".00") { number = String(number.dropLast(3)) }
      if Bool.random(using: &random) { number = Self.grouped(number) }
      let sign = signs[currency.code]?.sorted().randomElement(using: &random)
      // A name such as 원 or 港币 follows the number.
      let isName = sign?.contains(where: \.isLetter) == true
      let forms =
        ["\(currency.code) \(number)", "\(number) \(currency.code)"]
        + (sign.map { isName ? ["\(number)\($0)", "\(number) \($0)"] : ["\($0)\(number)", "\($0) \(number)"] } ?? [])
      let form = forms.randomElement(using: &random) ?? ""
      let text = (Self.carriers[locale] ?? "%").replacing("%", with: form)
      let words = try writer.script(for: .payment(Payment(amount: money))).amountText
      let (script, remarks) = try writer.writing(of: .text(text, locale: locale))
      // A long clause is parted by a comma, because the engine cuts longer ones.
      let plain = { (text: String) in text.filter { $0.isLetter || $0.isMark }.lowercased() }
      let carrier = Self.carriers[locale] ?? "%"
      if plain(script.text) == plain(carrier.replacing("%", with: words)), remarks.unspoken.isEmpty {
        exact += 1
      } else if Self.words.contains(currency.code), script.text.contains(" \(currency.code)") {
        asWritten += 1
      } else {
        wrong += 1
        if wrong <= 10 { print("  \(text): \(script.text), and not \(words)") }
      }
    }
    print("\(locale): \(exact) exact, \(asWritten) with a code that is a word, \(wrong) wrong")
    #expect(wrong == 0)
  }

  /// The codes that are English words. They are said as they are written: COFFEE CUP 2.25.
  private static let words: Set<String> = [
    "ALL", "BAM", "CUP", "GEL", "LAK", "MAD", "MOP", "PEN", "SOS", "TOP", "TRY",
  ]

  private static let carriers = [
    "en-US": "Table four paid % today", "es-MX": "La mesa pagó % hoy", "hi-IN": "आज % मिले", "ja-JP": "きょう、% です",
    "ko-KR": "오늘 % 받음", "zh-CN": "今天收到 %，谢谢",
  ]

  private static func grouped(_ number: String) -> String {
    let parts = number.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    var whole = ""
    for (index, digit) in parts[0].reversed().enumerated() {
      if index > 0, index % 3 == 0 { whole.append(",") }
      whole.append(digit)
    }
    return String(whole.reversed()) + parts.dropFirst().map { ".\($0)" }.joined()
  }
}

extension Character {
  fileprivate var isMark: Bool {
    unicodeScalars.allSatisfy { [.nonspacingMark, .spacingMark].contains($0.properties.generalCategory) }
  }
}
