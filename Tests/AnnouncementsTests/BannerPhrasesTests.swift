// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import TestSupport
import Testing

/// The key `banner` of a phrase book.
@Suite("The wording of banners is data")
struct BannerPhrasesTests {
  @Test(
    "the error for an invalid banner in a phrase book names the fault",
    arguments: [
      ("\"banner\"", "\"banners\"", "is not a valid phrase book (no banner)"),
      ("    \"note\": \"Note: {note}\",\n", "", "is not a valid phrase book (no banner.note)"),
      ("\"note\": \"Note: {note}\"", "\"note\": 5", "is not a valid phrase book (at banner.note)"),
      (", \"total\": \"Total: {amount}\"", "", "is not a valid phrase book (no banner.summary.total)"),
      ("      \"refunded\": \"Refunded {amount}\",\n", "", "banner.titles.refunded is missing"),
      ("\"Refunded {amount}\",\n", "\"Refunded\",\n", "banner.titles.refunded must have {amount} exactly once"),
      (
        "\"Refunded {amount}\",\n", "\"Refunded {amount} to {payer}\",\n",
        "banner.titles.refunded has the place {payer}, which does not exist in a phrase with {amount}"
      ),
      (
        "\"Refunded {amount}\",\n", "\"Refunded {amount}[ to {payer}]\",\n",
        "banner.titles.refunded has brackets, but cannot have optional parts"
      ),
      (
        "\"Refunded {amount}\",\n", "\"Refunded 2 {amount}\",\n",
        "banner.titles.refunded has a digit; write it as a word"
      ),
      (
        "\"Payment failed: {amount}\"", "\"The payment failed: {amount}\"",
        "banner.titles.failed has 20 characters without {amount}; at most 18 are allowed"
      ),
      ("\"refunded\": \"To {payer}\"", "\"refund\": \"To {payer}\"", "banner.payer.refund is not a kind of payment"),
      ("\"To {payer}\"", "\"To\"", "banner.payer.refunded must have {payer} exactly once"),
      (
        "\"Note: {note}\"", "\"Note: {text}\"",
        "banner.note has the place {text}, which does not exist in a phrase with {note}"
      ),
      (
        "\"separator\": \". \",\n    \"channels\"", "\"separator\": \" and \",\n    \"channels\"",
        "banner.separator must be the punctuation between the payer and the note"
      ),
      (
        "\"Received {count} payment\"", "\"Received a payment\"", "banner.summary.one must have {count} exactly once"
      ),
      ("\"Total: {amount}\"", "\"Total\"", "banner.summary.total must have {amount} exactly once"),
      ("      \"paypal\": \"PayPal\", ", "      ", "banner.channels.paypal is missing"),
      (
        "\"card\": \"Card\"", "\"card\": \"Card\", \"cards\": \"Cards\"",
        "banner.channels.cards is not in the book's channels"
      ),
      (
        "\"PayPal\"", "\"Pay\\u200BPal\"",
        "banner.channels.paypal is empty, is too long, or has white space or invisible characters to remove"
      ),
    ])
  func faults(good: String, bad: String, problem: String) throws {
    let text = try String(contentsOf: Books.directory.appending(path: "en-US.json"), encoding: .utf8)
    guard text.contains(good) else { throw Missing(what: good) }
    let error = #expect(throws: AnnouncementError.self) {
      try PhraseBook(data: Data(text.replacing(good, with: bad).utf8), name: "en-US.json")
    }
    #expect(error?.code == .phraseBookInvalid && error?.subject == "en-US.json")
    #expect(error?.problem == problem)
  }
}
