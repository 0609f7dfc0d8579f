// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Foundation
import Testing

@testable import Announcements

@Suite("No currency's name is heard as a part of the number")
struct CurrencyNamesTests {
  @Test(
    "a currency's name that begins like a number is said before the number, with a pause",
    arguments: [
      ("20", "OMR", "ko-KR", "오만 리알, 이십"), ("10", "GEL", "ko-KR", "조지아 라리, 십"),
      ("20", "CLP", "ko-KR", "칠레 페소, 이십"), ("20", "EGP", "ko-KR", "이집트 파운드, 이십"),
      ("20", "SAR", "ko-KR", "사우디아라비아 리얄, 이십"), ("1.5", "IQD", "ko-KR", "이라크 디나르, 일 점 오 영 영"),
      ("2", "BMD", "zh-CN", "百慕大元，二"), ("200", "BMD", "zh-CN", "百慕大元，二百"),
      ("20", "IQD", "zh-CN", "伊拉克第纳尔，二十"), ("8.5", "BRL", "zh-CN", "巴西雷亚尔，八点五零"),
      ("20", "NZD", "ja-JP", "ニュージーランド ドル、にじゅう"), ("20", "KWD", "ja-JP", "クウェート ディナール、にじゅう"),
      ("20", "SGD", "ja-JP", "シンガポールドル、にじゅう"), ("20", "SHP", "ja-JP", "セントヘレナ ポンド、にじゅう"),
      ("20", "TND", "en-US", "Tunisian dinars, twenty"), ("1", "TND", "en-US", "Tunisian dinar, one"),
    ])
  func first(amount: String, code: String, locale: String, words: String) throws {
    let said = try Books.words(amount, code, locale)
    #expect(said == words)
  }

  @Test(
    "any other currency's name follows the number, even a name with a joining word",
    arguments: [
      ("20", "TTD", "es-MX", "veinte dólares de Trinidad y Tobago"), ("20", "KRW", "ko-KR", "이십 원"),
      ("20", "JPY", "ja-JP", "にじゅうえん"), ("2", "CNY", "zh-CN", "两元"), ("20", "CHF", "en-US", "twenty Swiss francs"),
    ])
  func last(amount: String, code: String, locale: String, words: String) throws {
    let said = try Books.words(amount, code, locale)
    #expect(said == words)
  }

  @Test(
    "every currency of ISO 4217 is spoken and read back, and no name is heard as a part of the number before it",
    arguments: BannerTests.locales)
  func every(locale: String) throws {
    let book = try Books.all().book(for: locale)
    let reader = try AmountReaders.ofCheckout.reader(for: locale)
    for code in Locale.commonISOCurrencyCodes {
      guard let currency = Currency(code: code) else { continue }
      for count: Int64 in [1, 2, 20] {
        let amount = try Money(minorUnits: count * currency.minorUnitsPerMajor, currency: currency)
        let words = try AmountGrammar(book: book).words(amount)
        let read = try? reader.minorUnits(in: words.joined(), currency: code, minorDigits: currency.minorDigits)
        #expect(read == amount.minorUnits, "\(code): \(words)")
        // If the name is first, the number is last.
        let isFirst = words.first?.contains { ",，、".contains($0) } == true
        #expect(book.isHeardAsNumber(words.last ?? "") == isFirst, "\(code): \(words)")
      }
    }
  }

  @Test("a phrase book is refused if a unit sounds like a number, and the error names the currency and the unit")
  func refused() throws {
    let json = try String(contentsOf: Books.directory.appending(path: "ko-KR.json"), encoding: .utf8)
    let bad = json.replacing(#""other": "달러""#, with: #""other": "오만 달러""#)
    #expect(bad != json)
    let error = #expect(throws: AnnouncementError.self) { try PhraseBook(data: Data(bad.utf8), name: "ko-KR.json") }
    #expect(error?.code == .phraseBookInvalid)
    #expect(error?.description.contains("currencies.USD has a unit, 오만 달러") == true)
  }
}
