// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import TestSupport

/// The phrase books of this checkout.
enum Books {
  static let directory = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Templates", directoryHint: .isDirectory).standardizedFileURL

  /// Returns the phrase books, which are read only once because they do not change.
  static func all() throws -> PhraseBooks { try books.get() }

  private static let books = Result { try PhraseBooks(directory: directory) }

  static func money(_ text: String, _ code: String) throws -> Money {
    let currency = try Currency(code: code).orThrow("\(code) is a currency")
    return try Money(decimalText: text, currency: currency)
  }

  /// Returns the words of an amount in a locale.
  static func words(_ text: String, _ code: String, _ locale: String) throws -> String {
    try all().writer(for: locale).script(for: .payment(Payment(amount: try money(text, code)))).amountText
  }

  static func script(_ announcement: Announcement, _ locale: String) throws -> Script {
    try all().writer(for: locale).script(for: announcement)
  }
}
