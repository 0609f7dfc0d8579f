// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import Testing

@Suite("Books that extend other books")
struct PhraseBookFileTests {
  /// Returns the books of this checkout with further files.
  private func books(_ files: [String: String]) throws -> PhraseBooks {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.copyItem(at: Books.directory, to: folder)
    defer { try? FileManager.default.removeItem(at: folder) }
    for (name, text) in files { try Data(text.utf8).write(to: folder.appending(path: name)) }
    return try PhraseBooks(directory: folder)
  }

  private func text(_ books: PhraseBooks, _ locale: String, _ amount: String, _ code: String) throws -> String {
    try books.writer(for: locale).script(for: .payment(Payment(amount: try Books.money(amount, code)))).text
  }

  @Test("a phrase book replaces the entries that it has, and takes all others from the book that it extends")
  func patch() throws {
    let books = try books([
      "en-AU.json": """
      {"extends": "en-GB", "locale": "en-AU", "sentences": {"received": "You got {amount}"},
        "currencies": {"USD": {"major": {"one": "American dollar", "other": "American dollars"}}}}
      """
    ])
    #expect(try text(books, "en-AU", "101", "USD") == "You got one hundred and one American dollars")
    #expect(try text(books, "en-AU", "2.50", "GBP") == "You got two pounds and fifty pence")
    #expect(try text(books, "en-GB", "101", "USD") == "Received one hundred and one US dollars")
  }

  @Test("a null in a phrase book removes an entry of the book that it extends")
  func removal() throws {
    let books = try books([
      "en-AU.json": #"{"extends": "en-US", "locale": "en-AU", "currencies": {"USD": null}}"#
    ])
    // CLDR's name is used.
    #expect(try text(books, "en-AU", "2", "USD") == "Received two US dollars")
  }

  @Test(
    "a phrase book that extends itself, nothing or too many books is an error of that book only",
    arguments: [
      ("en-AU", #"{"extends": "en-AU", "locale": "en-AU"}"#, "extends too many books, or itself"),
      ("en-AU", #"{"extends": 5, "locale": "en-AU"}"#, "has no locale in extends"),
      ("en-AU", #"{"extends": "../en-US", "locale": "en-AU"}"#, "has no locale in extends"),
      ("en-AU", #"["extends"]"#, "is not a JSON object"),
      ("en-AU", #"{"extends": "en-US"}"#, "is for the locale en-US"),
    ])
  func faults(locale: String, text: String, problem: String) throws {
    let books = try books(["\(locale).json": text])
    let error = #expect(throws: AnnouncementError.self) { try books.book(for: locale) }
    #expect(error?.code == .phraseBookInvalid)
    #expect(error?.problem == problem)
    #expect(try books.book(for: "en-US").locale == "en-US")
  }

  @Test("a phrase book that extends a missing book is an error that names the missing file")
  func missing() throws {
    let books = try books(["en-AU.json": #"{"extends": "en-ZZ", "locale": "en-AU"}"#])
    let error = #expect(throws: AnnouncementError.self) { try books.book(for: "en-AU") }
    #expect(error?.subject == "en-ZZ.json")
  }

  @Test("a parents.json that is not an object of strings is refused")
  func parents() {
    let error = #expect(throws: AnnouncementError.self) { try books(["parents.json": #"{"en": 5}"#]) }
    #expect(error?.code == .phraseBookInvalid && error?.subject == "parents.json")
  }

  @Test("Tagalog uses the phrase book of Filipino", arguments: ["tl", "tl-PH", "fil", "fil-Latn-PH"])
  func tagalog(locale: String) throws {
    #expect(try Books.all().book(for: locale).locale == "fil-PH")
  }

  @Test("if a language has several books, the alphabetical order does not decide which one is used")
  func noParent() throws {
    let books = try books(["parents.json": "{}"])
    #expect(throws: AnnouncementError.self) { try books.book(for: "en") }
    #expect(try books.book(for: "fr").locale == "fr-FR")
  }
}
