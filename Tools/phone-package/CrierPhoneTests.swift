// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Announcements
import CrierPhone
import Foundation
import Testing

@Suite("The languages of the package")
struct CrierPhoneTests {
  @Test("each phrase book says an amount that a reader of the package reads back")
  func readBack() throws {
    let books = try PhraseBooks(directory: #require(CrierPhone.phraseBooks))
    let readers = AmountReaders(directory: try #require(CrierPhone.readers))
    #expect(books.locales.contains("zh-CN"))
    for locale in books.locales {
      let writer = try books.writer(for: locale)
      let currency = try #require(writer.ownCurrency)
      let minorUnits = 1_234 * currency.minorUnitsPerMajor
      let payment = Payment(amount: try Money(minorUnits: minorUnits, currency: currency), locale: locale)
      let words = try writer.script(for: .payment(payment)).amountText
      let read = try readers.reader(for: locale)
        .minorUnits(in: words, currency: currency.code, minorDigits: currency.minorDigits)
      #expect(read == minorUnits, "\(locale): \(words)")
    }
  }

  @Test("the package says for which reasons it uses Apple's listed functions")
  func privacy() throws {
    let folder = try #require(CrierPhone.phraseBooks).deletingLastPathComponent()
    let file = folder.appending(path: "PrivacyInfo.xcprivacy")
    let list = try PropertyListSerialization.propertyList(from: Data(contentsOf: file), format: nil)
    #expect((list as? [String: Any])?["NSPrivacyTracking"] as? Bool == false)
  }
}
