// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Announcements

@Suite("The scripts of letters")
struct WritingSystemTests {
  @Test(
    "a letter and a combining mark belong to the script of their alphabet",
    arguments: [
      ("ก", "Thai"), ("\u{E31}", "Thai"), ("\u{E49}", "Thai"), ("ๆ", "Thai"), ("ກ", "Laoo"), ("ក", "Khmr"),
      ("\u{17D2}", "Khmr"),
      ("က", "Mymr"), ("ꩡ", "Mymr"), ("ཀ", "Tibt"), ("ක", "Sinh"), ("あ", "Hira"), ("字", "Hani"), ("a", "Latn"),
    ] as [(Unicode.Scalar, String)])
  func letters(letter: Unicode.Scalar, script: String) {
    #expect(WritingSystem.of(letter) == script)
  }

  @Test("a currency sign and a space belong to no script", arguments: ["฿", "៛", " ", "$"] as [Unicode.Scalar])
  func signs(sign: Unicode.Scalar) {
    #expect(WritingSystem.of(sign) == nil)
  }

  @Test(
    "Thai, Lao, Khmer and Burmese are written without spaces between words, and Tibetan has marks between syllables")
  func unspaced() {
    let alphabets: [Unicode.Scalar] = ["ก", "ກ", "ក", "က", "\u{E49}"]
    #expect(alphabets.allSatisfy { $0.isUnspaced && $0.isOfUnspacedAlphabet })
    #expect((["字", "あ", "가"] as [Unicode.Scalar]).allSatisfy { $0.isUnspaced && !$0.isOfUnspacedAlphabet })
    #expect((["ཀ", "a", "ක", "฿"] as [Unicode.Scalar]).allSatisfy { !$0.isUnspaced && !$0.isOfUnspacedAlphabet })
  }

  @Test("the Thai or Lao letter am stays one letter, and is not divided into two characters")
  func am() {
    #expect(FoldedText("น้ำ").scalars.elementsEqual("น้ำ".unicodeScalars))
    #expect(FoldedText("ນ້ຳ").scalars.elementsEqual("ນ້ຳ".unicodeScalars))
  }
}
