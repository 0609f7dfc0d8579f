// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Testing

@Suite("Filipino amounts")
struct FilipinoTests {
  let read: Reading

  init() throws { read = try Reading("fil-PH") }

  static let good: [Good] = [
    ("isang piso", "PHP", 2, 100),
    ("apat na piso", "PHP", 2, 400),
    ("limang sentimo", "PHP", 2, 5),
    ("labindalawang piso at limampung sentimo", "PHP", 2, 1250),
    ("labing-dalawang piso", "PHP", 2, 1200),
    ("dalawampu't isang piso", "PHP", 2, 2100),
    ("dalawampu’t isang piso", "PHP", 2, 2100),
    ("dalawampu at isang piso", "PHP", 2, 2100),
    ("isang daang piso", "PHP", 2, 10_000),
    ("apat na raan at siyam na piso", "PHP", 2, 40_900),
    ("isang libo't isang piso", "PHP", 2, 100_100),
    ("isang libo at isang piso", "PHP", 2, 100_100),
    ("isang daan at limampung libong piso", "PHP", 2, 15_000_000),
    ("limampung libo't isang daang piso", "PHP", 2, 5_010_000),
    ("isang milyon at isang daan at limampung libong piso", "PHP", 2, 115_000_000),
    ("isang daan at isang milyong piso", "PHP", 2, 10_100_000_000),
    ("siyam na trilyong piso", "PHP", 2, 900_000_000_000_000),
    ("labindalawa punto lima sero Swiss franc", "CHF", 2, 1250),
  ]

  @Test("Filipino amounts in words are read to the sentimo", arguments: good)
  func reads(_ good: Good) {
    #expect(read(good.words, good.currency, good.minorDigits) == .amount(good.minorUnits))
  }

  static let bad: [Bad] = [
    ("piso", "PHP", .unreadable),
    // The link between the count and its noun is missing, or is the wrong one.
    ("isa piso", "PHP", .unreadable),
    ("apat piso", "PHP", .unreadable),
    ("apatng piso", "PHP", .unreadable),
    ("isang na piso", "PHP", .unreadable),
    ("isang daan piso", "PHP", .unreadable),
    ("isang daan limang piso", "PHP", .unreadable),
    ("apat na daang piso", "PHP", .unreadable),
    ("limang raang piso", "PHP", .unreadable),
    ("dalawampu isang piso", "PHP", .unreadable),
    // A smaller number before a larger one.
    ("limang piso at isang daang piso", "PHP", .unreadable),
    ("isang daan at isang daang piso", "PHP", .unreadable),
    ("isang libo't isang libong piso", "PHP", .unreadable),
    ("limampu't isang daang piso", "PHP", .unreadable),
    ("isang libo't isang milyong piso", "PHP", .unreadable),
    ("daang piso", "PHP", .unreadable),
    ("limampung sentimo at isang piso", "PHP", .unreadable),
    ("isang piso at isang daang sentimo", "PHP", .unreadable),
    ("limampung piso at limampu", "PHP", .unreadable),
    // Spanish numbers are another way to speak.
    ("singkuwenta pesos", "PHP", .unreadable),
    ("50 piso", "PHP", .unreadable),
    ("limang dolyar", "PHP", .wrongCurrency),
  ]

  @Test("text that is not a correct Filipino amount is refused with the right reason", arguments: bad)
  func refuses(_ bad: Bad) {
    #expect(read(bad.words, bad.currency) == .refused(bad.code))
  }
}
