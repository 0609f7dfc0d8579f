// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import TestSupport
import Testing

/// The key `summary` of a phrase book.
@Suite("The wording of summaries is data")
struct SummaryPhrasesTests {
  private static let other = "\"other\": \"Received {count} payments, {amount} in total\""

  private func book(_ locale: String, _ good: String, _ bad: String) throws -> PhraseBook {
    let text = try String(contentsOf: Books.directory.appending(path: "\(locale).json"), encoding: .utf8)
    guard text.contains(good) else { throw Missing(what: good) }
    return try PhraseBook(data: Data(text.replacing(good, with: bad).utf8), name: "\(locale).json")
  }

  @Test(
    "the error for an invalid summary in a phrase book names the fault",
    arguments: [
      ("\"summary\"", "\"sum\"", "is not a valid phrase book (no summary)"),
      ("    \"separator\": \". \"\n  },", "  },", "is not a valid phrase book (no summary.separator)"),
      (other, "\"others\": \"\"", "is not a valid phrase book (no summary.other)"),
      (other, "\"other\": \"{count} payments\"", "summary.other must have {amount} exactly once"),
      (other, "\"other\": \"{amount} in total\"", "summary.other must have {count} exactly once"),
      (other, "\"other\": \"{count} and {count} for {amount}\"", "summary.other must have {count} exactly once"),
      (
        other, "\"other\": \"{count} payments, {amount}[ through {channel}]\"",
        "summary.other has brackets, but cannot have optional parts"
      ),
      (
        other, "\"other\": \"{count} payments, {amount} from {payer}\"",
        "summary.other has the place {payer}, which does not exist in a summary"
      ),
      (
        other, "\"other\": \"{number} payments, {amount}\"", "summary.other has a brace outside a place like {amount}"
      ),
      (other, "\"other\": \"{count} of ２, {amount}\"", "summary.other has a digit; write it as a word"),
      (
        other, "\"other\": \"Received {count}: {amount}\"",
        "summary.other has no word between {count} and {amount}, so they would be heard as one number"
      ),
      ("Received {count} payment of", "Received a payment of", "summary.one must have {count} exactly once"),
      (
        "\"separator\": \". \"", "\"separator\": \"\"",
        "summary.separator must be the punctuation between two sentences"
      ),
      (
        "\"separator\": \". \"", "\"separator\": \" and \"",
        "summary.separator must be the punctuation between two sentences"
      ),
      (
        "\"separator\": \". \"", "\"separator\": \"1\"",
        "summary.separator must be the punctuation between two sentences"
      ),
      (
        "\"separator\": \". \"", "\"separator\": \". \", \"belowHundred\": { \"tens\": [], \"ones\": [] }",
        "summary.belowHundred.tens has 0 words instead of nine"
      ),
      (
        "\"separator\": \". \"", "\"separator\": \". \", \"contractions\": { \"one\": \"1st\" }",
        "summary contains an invalid word for a count"
      ),
      (
        "Received {amount}", "Received {amount} for {count}",
        "sentences.received has the place {count}, which does not exist in a payment"
      ),
    ])
  func faults(good: String, bad: String, problem: String) throws {
    let error = #expect(throws: AnnouncementError.self) { try book("en-US", good, bad) }
    #expect(error?.code == .phraseBookInvalid && error?.subject == "en-US.json")
    #expect(error?.problem == problem)
  }

  @Test("the counted noun of a Spanish summary may be feminine")
  func feminine() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.copyItem(at: Books.directory, to: folder)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "es-MX.json")
    let text = try String(contentsOf: file, encoding: .utf8)
      .replacing("{count} pagos", with: "{count} operaciones")
      .replacing("\"summary\": {", with: "\"summary\": { \"gender\": \"feminine\",")
    try Data(text.utf8).write(to: file)
    let writer = try PhraseBooks(directory: folder).writer(for: "es-MX")
    for (count, words) in [(21, "veintiuna"), (201, "doscientas una"), (1_000_000, "un millón de")] {
      let total = try PaymentSummary.Total(count: count, amount: Books.money("5", "MXN"))
      let script = try writer.script(for: .summary(PaymentSummary(totals: [total])))
      #expect(script.text == "Recibiste \(words) operaciones, cinco pesos en total")
    }
  }
}
