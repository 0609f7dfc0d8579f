// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import TestSupport
import Testing

/// The key `summary` of a phrase book.
@Suite("Summaries are data")
struct SummaryPhrasesTests {
  private static let other = "\"other\": \"Received {count} payments, {amount} in total\""

  private func book(_ locale: String, _ good: String, _ bad: String) throws -> PhraseBook {
    let text = try String(contentsOf: Books.directory.appending(path: "\(locale).json"), encoding: .utf8)
    guard text.contains(good) else { throw Missing(what: good) }
    return try PhraseBook(data: Data(text.replacing(good, with: bad).utf8), name: "\(locale).json")
  }

  @Test(
    "what is wrong in a book's summary is named",
    arguments: [
      ("\"summary\"", "\"sum\"", "does not read as a phrase book (no summary)"),
      ("    \"separator\": \". \"\n  },", "  },", "does not read as a phrase book (no separator)"),
      (other, "\"others\": \"\"", "does not read as a phrase book (no other)"),
      (other, "\"other\": \"{count} payments\"", "summary.other does not say {amount} exactly once"),
      (other, "\"other\": \"{amount} in total\"", "summary.other does not say {count} exactly once"),
      (other, "\"other\": \"{count} and {count} for {amount}\"", "summary.other does not say {count} exactly once"),
      (
        other, "\"other\": \"{count} payments, {amount}[ through {channel}]\"",
        "summary.other has brackets, and nothing in it may be absent"
      ),
      (
        other, "\"other\": \"{count} payments, {amount} from {payer}\"",
        "summary.other has the place {payer}, which a summary does not fill"
      ),
      (
        other, "\"other\": \"{number} payments, {amount}\"", "summary.other has a place that is not a name in braces"
      ),
      (other, "\"other\": \"{count} of ２, {amount}\"", "summary.other has a digit; write it as a word"),
      (
        other, "\"other\": \"Received {count}: {amount}\"",
        "summary.other has no word between {count} and {amount}, which would be heard as one number"
      ),
      ("Received {count} payment of", "Received a payment of", "summary.one does not say {count} exactly once"),
      (
        "\"separator\": \". \"", "\"separator\": \"\"", "summary.separator is not the punctuation between two sentences"
      ),
      (
        "\"separator\": \". \"", "\"separator\": \" and \"",
        "summary.separator is not the punctuation between two sentences"
      ),
      (
        "\"separator\": \". \"", "\"separator\": \"1\"",
        "summary.separator is not the punctuation between two sentences"
      ),
      (
        "\"separator\": \". \"", "\"separator\": \". \", \"belowHundred\": { \"tens\": [], \"ones\": [] }",
        "summary.belowHundred.tens has 0 words and not nine"
      ),
      (
        "\"separator\": \". \"", "\"separator\": \". \", \"contractions\": { \"one\": \"1st\" }",
        "summary has a word of a count that is no word"
      ),
      (
        "Received {amount}", "Received {amount} for {count}",
        "sentences.received has the place {count}, which a payment does not fill"
      ),
    ])
  func faults(good: String, bad: String, problem: String) throws {
    let error = #expect(throws: AnnouncementError.self) { try book("en-US", good, bad) }
    #expect(error?.code == .phraseBookInvalid && error?.subject == "en-US.json")
    #expect(error?.problem == problem)
  }

  @Test("what is counted may be feminine")
  func feminine() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.copyItem(at: Books.directory, to: folder)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "es-MX.json")
    let text = try String(contentsOf: file, encoding: .utf8)
      .replacing("{count} pagos", with: "{count} operaciones")
      .replacing("\"summary\": {", with: "\"summary\": { \"feminine\": true,")
    try Data(text.utf8).write(to: file)
    let writer = try PhraseBooks(directory: folder).writer(for: "es-MX")
    for (count, words) in [(21, "veintiuna"), (201, "doscientas una"), (1_000_000, "un millón de")] {
      let total = try PaymentSummary.Total(count: count, amount: Books.money("5", "MXN"))
      let script = try writer.script(for: .summary(PaymentSummary(totals: [total])))
      #expect(script.text == "Recibiste \(words) operaciones, cinco pesos en total")
    }
  }
}
