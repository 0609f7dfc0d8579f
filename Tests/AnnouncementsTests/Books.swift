// SPDX-License-Identifier: Apache-2.0

import AmountReadback
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

  /// Returns the phrase books with a voice for the languages that have none, so that names and texts can be written too.
  static func withVoices() throws -> PhraseBooks { try booksWithVoices.get() }

  private static let booksWithVoices = Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.copyItem(at: directory, to: folder)
    defer { try? FileManager.default.removeItem(at: folder) }
    for (locale, voice) in [("th-TH", "th"), ("fil-PH", "id")] {
      let file = folder.appending(path: "\(locale).json")
      let book = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
      let spoken = try book.orThrow("the book is an object").merging(["voice": voice]) { $1 }
      try JSONSerialization.data(withJSONObject: spoken).write(to: file)
    }
    let books = try PhraseBooks(directory: folder)
    for locale in books.locales { _ = try books.writer(for: locale) }  // A book is read when it is first needed.
    return books
  }

  /// Returns a writer whose book has no names for currencies beside those of ``PhraseBook/Content/currencies``.
  static func writerWithoutCurrencyNames(_ locale: String) throws -> ScriptWriter {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.copyItem(at: directory, to: folder)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "\(locale).json")
    let book = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
    let bare = try book.orThrow("the book is an object").filter { $0.key != "currencyNames" }
    try JSONSerialization.data(withJSONObject: bare).write(to: file)
    return try PhraseBooks(directory: folder).writer(for: locale)
  }

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

extension AmountReaders {
  /// The readers of this checkout.
  static let ofCheckout = AmountReaders(
    directory: Books.directory.deletingLastPathComponent().appending(path: "Readers", directoryHint: .isDirectory))
}
