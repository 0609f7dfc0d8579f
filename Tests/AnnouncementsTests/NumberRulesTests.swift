// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TestSupport

@testable import Announcements

@Suite("Number rules")
struct NumberRulesTests {
  private static let small = "0: zero; one; two; three; four; five; six; seven; eight; nine; 10: ten"

  private func text(_ rules: String..., number: Int64) throws -> String {
    try NumberRules(rules).words(number).map { $0.text + ($0.isBound ? "+" : "") }.joined(separator: " ")
  }

  @Test(
    "a number rule writes the quotient and the remainder, and the text in brackets only if there is a remainder",
    arguments: [
      (7, "seven"), (20, "twenty"), (21, "twenty-+ one"), (100, "one hundred"), (305, "three hundred five"),
      (999, "nine hundred twenty-+ seventynine"),
    ])
  func parts(number: Int64, words: String) throws {
    #expect(
      try text(Self.small, "; 20: twenty[->>]; 90: twenty-seventy[>>]; 100: << hundred[ >>];", number: number) == words)
  }

  @Test("a rule without a number has the previous rule's number plus one, and the numbers of rules may contain commas")
  func bases() throws {
    #expect(try text("0: a; b; 5: c; d; 1,000: e;", number: 6) == "d")
    #expect(try text("0: a; b; 5: c; d; 1,000: e;", number: 1_000) == "e")
    #expect(try text("0: a; b; 5: c; d; 1,000: e;", number: 4) == "b")
  }

  @Test("in a number rule, a radix after a slash is the divisor")
  func radix() throws {
    let rules = Self.small + "; eleven; twelve; 20/20: <<score[ >>];"
    #expect(try text(rules, number: 67) == "threescore seven")
    #expect(try text(rules, number: 40) == "twoscore")
  }

  @Test("a rule set may write a part of a number, or the whole number, by the rules of another set")
  func sets() throws {
    let rules = "%all: 0: zero; one; two; three; 10: <%short< ten[ >>]; %short: 0: =%all=; a; 2: =%all=;"
    #expect(try text(rules, number: 11) == "a ten one")
    #expect(try text(rules, number: 23) == "two ten three")
  }

  @Test("a number rule with quotient and remainder does not apply to multiples of its divisor; the previous rule does")
  func multiples() throws {
    let rules = Self.small + "; 100: << hundred; 101: << hundred and >>;"
    #expect(try text(rules, number: 300) == "three hundred")
    #expect(try text(rules, number: 302) == "three hundred and two")
  }

  @Test(
    "a soft hyphen and a zero-width space join two words, and are not written", arguments: ["\u{AD}", "\u{200B}"])
  func joints(joint: String) throws {
    #expect(try text("0: null; ein; 10: <<\(joint)zehn[\(joint)>>];", number: 11) == "ein+ zehn+ ein")
    #expect(try text("0: null; ein; 10: <<\(joint)zehn[\(joint)>>];", number: 10) == "ein+ zehn")
  }

  @Test(
    "an apostrophe keeps the space at the beginning of a number rule, and CLDR's arrows mean quotient and remainder")
  func notation() throws {
    #expect(try text("0: a; 10: b[>%n>]; %n: 0: zero; ' one;", number: 11) == "b one")
    #expect(try text("0: a; 10: b[>%n>]; %n: 0: zero; one;", number: 11) == "bone")
    #expect(try text("0: a; 10: ←%n← ten[ →%n→]; %n: 0: zero; one;", number: 11) == "one ten one")
  }

  @Test("a plural form in a number rule follows the plural category of the quotient")
  func pluralForms() throws {
    let rules = "0: zero; one; two; 10: << $(cardinal,one{ten}other{tens of things})$[ >>];"
    #expect(try text(rules, number: 11) == "one ten one")
    #expect(try text(rules, number: 20) == "two tens of things")
  }

  @Test("an optional part of a number rule may have another text for a remainder of 0")
  func instead() throws {
    #expect(try text("0: zero; one; 10: ten[ and >>| exactly];", number: 10) == "ten exactly")
    #expect(try text("0: zero; one; 10: ten[ and >>| exactly];", number: 11) == "ten and one")
  }

  @Test(
    "number rules with a mistake are refused, and the error names the place",
    arguments: [
      ("", "has no rules"), ("1: one;", "has no rule for 0"), ("%a: 0: a; %b: 5: b;", "has no rule for 0 in %b"),
      ("0: a; 10: <<;  5: b;", "has the rule for 5 after that for 10"),
      ("0: a; 5: <<;", "has “<<” or “>>” in the rule for 5"),
      ("0: >>;", "has “<<” or “>>” in the rule for 0"),
      ("0: a; 10: < b;", "has one “<” without a second one"), ("0: a; 10: <%b<;", "has no set “%b”"),
      ("0: ನ; 10: ನ[ >>|ು];", "has a combining mark without its letter"), ("0: a; 10: <<[ >>;", "has a “[” without “]”"),
      ("0: a; 10: <<] >>;", "has “]” where it cannot stand"),
      ("0: a; 10: [<<[ >>]];", "has “[” where it cannot stand"), ("0: =#,##0=;", "has no set “#,##0”"),
      ("0: $(cardinal,one{a})$;", "has no form “other” after a “$”"), ("0: $x;", "that is not $(cardinal"),
      ("0: $(cardinal,some{a}other{b})$;", "which is not a plural category"), ("%a: 0: ==;", "has “==” in %a"),
      ("%a: 0: =%b=; %b: 0: =%a=;", "has a circle of “=%…=” from %a"), ("1/1: a;", "which is not a number"),
      ("99999999999999999999: a;", "which is not a number"), ("1/2/3: a;", "which is not a number"),
    ])
  func faults(rules: String, fault: String) {
    let error = #expect(throws: NumberRules.Fault.self) { try NumberRules([rules]) }
    #expect(error?.text.contains(fault) == true, "\(error?.text ?? "no fault")")
  }

  /// The distance of the numbers that are compared. With `CRIER_NUMBER_STEP=1`, all numbers are compared.
  private static let step = Int(ProcessInfo.processInfo.environment["CRIER_NUMBER_STEP"] ?? "") ?? 997

  /// The books whose rules began from CLDR. In Korean, 만 after 억 or 조 is 일만, as people say it.
  private static let books: [(locale: String, corrections: [(String, String)])] = [
    ("en-US", []), ("es-MX", []), ("hi-IN", []), ("ko-KR", [("억 만", "억 일만"), ("조 만", "조 일만")]),
  ]

  @Test(
    "the phrase books write numbers in the same words as Foundation, apart from known corrections", arguments: books)
  func witness(locale: String, corrections: [(String, String)]) throws {
    let formatter = NumberFormatter()
    formatter.locale = Locale(identifier: locale)
    formatter.numberStyle = .spellOut
    let numbers = try Books.all().book(for: locale).numbers
    var random = SplitMix64(seed: 20_261_129)
    let chosen =
      stride(from: Int64(0), through: 999_999, by: Self.step)
      + (0..<100_000 / Self.step).map { _ in Int64.random(in: 0...9_999_999_999_999, using: &random) }
    for number in chosen {
      // CLDR allows a break of the line within some Spanish words.
      let spelled = corrections.reduce(formatter.string(from: NSNumber(value: number)) ?? "") {
        $0.replacing($1.0, with: $1.1)
      }.replacing("\u{AD}", with: "")
      let words = numbers.words(number)
      let text = words.enumerated().map { index, word in
        word.text + (word.isBound || index == words.count - 1 ? "" : " ")
      }.joined()
      #expect(text == spelled)
    }
  }
}
