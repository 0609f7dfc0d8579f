// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation

/// The names of currencies in CLDR, folded: the display name and the plural forms. Each currency is looked up once for
/// each locale, which takes some hundred µs. The results are kept for a limited number of locales, because locales come
/// from outside.
final class CurrencyNames: Sendable {
  static let shared = CurrencyNames()

  private static let mostLocales = 64

  /// The names by locale and by currency.
  private let known = Locked<[String: [String: [[UInt32]]]]>([:])

  /// Returns the names of a currency, the longest first. The result is empty if `currency` is not three capital
  /// letters, or if CLDR has no name. (CLDR then returns the code, which is not a word.)
  func names(of currency: String, locale: String, separatesWords: Bool) -> [[UInt32]] {
    guard currency.utf8.count == 3, currency.utf8.allSatisfy({ (0x41...0x5A).contains($0) }) else { return [] }
    return known.withLock { known in
      if let names = known[locale]?[currency] { return names }
      let names = Self.load(currency, Locale(identifier: locale))
        .filter { $0 != currency }
        .map { Folding.scalars(of: $0, separatesWords: separatesWords) }
        .filter { !$0.isEmpty }
        .sorted { $0.count > $1.count }
      if known[locale] == nil, known.count >= Self.mostLocales { known.removeAll() }
      known[locale, default: [:]][currency] = names
      return names
    }
  }

  /// Returns whether the text contains the name of any currency in use, together with other text. The first call for a
  /// locale loads all names, which takes some 20 ms.
  func someCurrencyIsNamed(in text: [UInt32], locale: String, separatesWords: Bool) -> Bool {
    Locale.commonISOCurrencyCodes.contains { currency in
      let names = names(of: currency, locale: locale, separatesWords: separatesWords)
      return Self.range(of: names, in: text, separatesWords: separatesWords) != nil
    }
  }

  /// Returns the range of one of the names in the text, with the spaces around it. The end of the text is searched
  /// first, then its beginning, then all other places. The result is `nil` if the text contains none of the names, or
  /// nothing except a name.
  static func range(of names: [[UInt32]], in text: [UInt32], separatesWords: Bool) -> Range<Int>? {
    for name in names where name.count < text.count {
      let last = text.count - name.count
      for turn in 0...last {
        // The search begins with the last place, and continues with the first place and those after it.
        let start = turn == 0 ? last : turn - 1
        let end = start + name.count
        guard text[start] == name[0], text[start..<end].elementsEqual(name) else { continue }
        if !separatesWords { return start..<end }
        guard start == 0 || text[start - 1] == Folding.space, end == text.count || text[end] == Folding.space else {
          continue
        }
        return max(0, start - 1)..<min(text.count, end + 1)
      }
    }
    return nil
  }

  /// Sample numbers, one for each plural class that CLDR has for any language. The fraction is included because some
  /// languages have a separate form for fractions.
  private static let samples: [Decimal] = [0, 1, 2, 3, 5, 11, 20, 100, 1_000_000, Decimal(15) / 10]

  private static func load(_ currency: String, _ locale: Locale) -> Set<String> {
    var names: Set<String> = []
    if let name = locale.localizedString(forCurrencyCode: currency) { names.insert(name) }
    let style = Decimal.FormatStyle.Currency(code: currency, locale: locale)
      .presentation(.fullName)
      .precision(.fractionLength(0...1))
    for sample in samples {
      names.insert(name(in: style.format(sample), of: currency))
    }
    return names
  }

  /// Returns the name in a text such as "2 Swiss francs", with the number at either end. In Turkish, such a text also
  /// contains the currency's code or its sign.
  private static func name(in text: String, of code: String) -> String {
    let isOutside = { (scalar: Unicode.Scalar) in
      switch scalar.properties.generalCategory {
      case .decimalNumber, .spaceSeparator, .format, .otherPunctuation, .currencySymbol: true
      default: false
      }
    }
    let rest = text.hasPrefix(code) ? text.dropFirst(code.count) : text[...]
    var scalars = (rest.first?.isWhitespace == true ? rest : text[...]).unicodeScalars[...]
    scalars = scalars.drop(while: isOutside)
    while let last = scalars.last, isOutside(last) { scalars.removeLast() }
    return String(scalars)
  }
}
