// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Announcements

@Suite("Plural rules")
struct PluralRulesTests {
  private static let russian = [
    "one": "v = 0 and i % 10 = 1 and i % 100 != 11 @integer 1, 21, 31, …",
    "few": "v = 0 and i % 10 = 2..4 and i % 100 != 12..14",
    "many": "v = 0 and i % 10 = 0 or v = 0 and i % 10 = 5..9 or v = 0 and i % 100 = 11..14",
  ]

  @Test(
    "a number has the first plural category whose CLDR rule it fits",
    arguments: [
      (russian, 1, .one), (russian, 21, .one), (russian, 11, .many), (russian, 2, .few), (russian, 22, .few),
      (russian, 12, .many), (russian, 0, .many), (russian, 100, .many), (russian, 1_000_003, .few),
      (["one": "i = 0,1"], 0, .one), (["one": "i = 0,1"], 1, .one), (["one": "i = 0,1"], 2, .other),
      (["many": "e = 0 and i != 0 and i % 1000000 = 0"], 2_000_000, .many),
      (["many": "i != 0 and i % 1000000 = 0"], 0, .other), (["one": "n=1", "two": "n = 2"], 2, .two),
      (["one": "v != 0"], 1, .other), ([:], 1, .other),
    ] as [([String: String], Int64, PluralCategory)])
  func category(rules: [String: String], number: Int64, category: PluralCategory) throws {
    #expect(try PluralRules(rules).category(of: number) == category)
  }

  @Test("a phrase book without plural rules has one form for 1 and another form for all other numbers")
  func usual() {
    #expect(PluralRules.usual.category(of: 1) == .one)
    #expect(PluralRules.usual.category(of: 0) == .other)
  }

  @Test(
    "a plural rule that is not in CLDR's notation is an error that names the plural category",
    arguments: [
      (["one": "n"], "plurals.one has “n”"), (["one": "x = 1"], "plurals.one has “x = 1”"),
      (["few": "n % 0 = 1"], "plurals.few"), (["few": "n = 3..1"], "plurals.few"), (["few": "n = a"], "plurals.few"),
      (["few": "n within 1..2"], "plurals.few"), (["some": "n = 1"], "plurals.some is not one of the categories"),
      (["other": "n = 1"], "plurals.other is not one of the categories"),
    ])
  func faults(rules: [String: String], fault: String) {
    let error = #expect(throws: PluralRules.Fault.self) { try PluralRules(rules) }
    #expect(error?.text.hasPrefix(fault) == true, "\(error?.text ?? "no fault")")
  }
}
