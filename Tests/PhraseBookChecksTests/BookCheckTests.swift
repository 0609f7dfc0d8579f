// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Announcements
import Foundation
import PhraseBookChecks
import TestSupport
import Testing

@Suite("The check of a phrase book")
struct BookCheckTests {
  private func check(_ locale: String = "en-US", _ changes: [(String, String)] = []) throws -> BookCheck {
    let books = try Copy.books(locale, changes)
    var check = BookCheck(
      writer: try books.writer(for: locale), reader: try Copy.readers.reader(for: locale))
    try check.checkAmounts()
    try check.checkDamage()
    try check.checkNames()
    return check
  }

  @Test("the check of a correct phrase book finds no problem, and notes the words that may be left out")
  func correct() throws {
    let check = try check()
    #expect(check.problemCount == 0)
    #expect(check.amountCount > 130_000)
    #expect(check.findings.map(\.kind) == [.note])
    #expect(
      check.findings.first?.text.hasSuffix("amounts also without “and”. That is right only if people leave it out.")
        == true)
  }

  @Test("a wrong word for a number is reported as a problem with an example")
  func unread() throws {
    let check = try check("en-US", [("60: sixty", "60: sixtee")])
    let first = try #require(check.findings.first)
    #expect(first.kind == .problem)
    #expect(first.text == "0.60 USD is said “sixtee cents”, and the reader cannot read it (unreadable).")
    #expect(check.problemCount > 10_000)
    #expect(check.findings.count < 10, "a few examples are enough")
  }

  @Test("the same word for two numbers is a problem, because one amount is heard as the other")
  func alike() throws {
    let texts = try check("en-US", [("twelve; thirteen;", "twelve; twelve;")]).findings.map(\.text)
    #expect(texts.contains("0.13 USD is said “twelve cents”, and the reader hears 0.12."))
    #expect(texts.contains("0.12 USD and 0.13 USD are both said “twelve cents”."))
  }
}

@Suite("Texts in a phrase book that were not translated")
struct ForeignTextTests {
  @Test("a sentence that is still in another book's language is found, and a single word that both books share is not")
  func found() {
    var foreign = ForeignTexts()
    foreign.add(
      Data(#"{"sentences": {"received": "{amount} was received"}, "banner": {"note": "Note: {note}"}}"#.utf8),
      locale: "en-US")
    foreign.add(Data("no JSON".utf8), locale: "xx-XX")
    let book =
      #"{"sentences": {"received": "{amount} was received", "paid": "Betalt"}, "banner": {"note": "Note: {note}"}}"#
    #expect(
      foreign.findings(in: Data(book.utf8)).map(\.text)
        == ["sentences.received is still the text of en-US: “{amount} was received”"])
    #expect(foreign.findings(in: Data("[]".utf8)).isEmpty)
  }

  @Test(
    "no phrase book of the project has a text that is still in another language",
    arguments: (try? Copy.books("en-US", []).locales) ?? [])
  func checkout(locale: String) throws {
    func data(_ locale: String) throws -> Data {
      try Data(contentsOf: Copy.templates.appending(path: "\(locale).json"))
    }
    var foreign = ForeignTexts()
    for other in try Copy.books("en-US", []).locales where other.prefix(2) != locale.prefix(2) {
      foreign.add(try data(other), locale: other)
    }
    #expect(foreign.findings(in: try data(locale)) == [])
  }
}

/// A copy of the checkout's books in which one book is changed.
enum Copy {
  static let templates = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Templates", directoryHint: .isDirectory).standardizedFileURL

  static let readers = AmountReaders(
    directory: templates.deletingLastPathComponent().appending(path: "Readers", directoryHint: .isDirectory))

  static func books(_ locale: String, _ changes: [(String, String)]) throws -> PhraseBooks {
    guard !changes.isEmpty else { return try PhraseBooks(directory: templates) }
    let folder = FileManager.default.temporaryDirectory.appending(path: "books-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.copyItem(at: templates, to: folder)
    let file = folder.appending(path: "\(locale).json")
    var text = try String(contentsOf: file, encoding: .utf8)
    for (old, new) in changes {
      try #require(text.contains(old))
      text = text.replacing(old, with: new)
    }
    try Data(text.utf8).write(to: file)
    return try PhraseBooks(directory: folder)
  }
}
