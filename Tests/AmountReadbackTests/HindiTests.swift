// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Foundation
import Testing

@Suite("Hindi amounts")
struct HindiTests {
  let read: Reading

  init() throws { read = try Reading("hi-IN") }

  static let good: [Good] = [
    ("बारह रुपये पचास पैसे", "INR", 2, 1250),
    ("बारह रुपए और पाँच पैसे", "INR", 2, 1205),
    ("एक रुपया", "INR", 2, 100),
    ("एक पैसा", "INR", 2, 1),
    ("शून्य रुपये", "INR", 2, 0),
    ("एक लाख पच्चीस हज़ार रुपये", "INR", 2, 12_500_000),
    ("एक लाख पच्चीस हजार रुपये", "INR", 2, 12_500_000),
    ("एक लाख पच्चीस ह\u{095B}ार रुपये", "INR", 2, 12_500_000),
    ("एक सौ एक रुपये", "INR", 2, 10_100),
    ("एक सौ दस रुपये", "INR", 2, 11_000),
    ("दो करोड़ तीन लाख रुपये", "INR", 2, 2_030_000_000),
    (
      "निन्यानवे खरब निन्यानवे अरब निन्यानवे करोड़ निन्यानवे लाख निन्यानवे हज़ार नौ सौ निन्यानवे रुपये निन्यानवे पैसे",
      "INR", 2, 999_999_999_999_999
    ),
    ("एक नील रुपये", "INR", 2, 1_000_000_000_000_000),
    ("बारह दशमलव पाँच शून्य रुपये", "INR", 2, 1250),
    ("बारह दशमलव पांच डॉलर", "USD", 2, 1250),
    ("बारह अमेरिकी डॉलर पचास सेंट", "USD", 2, 1250),
    ("छः यूरो", "EUR", 2, 600),
    ("छे यूरो छह सेंट", "EUR", 2, 606),
    ("उन्यासी येन", "JPY", 0, 79),
    ("उनासी येन", "JPY", 0, 79),
    ("नवासी वॉन", "KRW", 0, 89),
    ("बारह दशमलव पाँच शून्य स्विस फ़्रैंक", "CHF", 2, 1250),
    ("स्विस फ्रैंक बारह दशमलव पाँच", "CHF", 2, 1250),
    ("बारह दशमलव पाँच संयुक्त अरब अमीरात दिरहाम", "AED", 2, 1250),
    ("बारह कुवैती दिनार तीन सौ पैंतालीस फ़िल्स", "KWD", 3, 12_345),
  ]

  @Test("Hindi amounts in words are read to the पैसा", arguments: good)
  func reads(_ good: Good) {
    #expect(read(good.words, good.currency, good.minorDigits) == .amount(good.minorUnits))
  }

  static let bad: [Bad] = [
    ("", "INR", .unreadable),
    ("रुपये", "INR", .unreadable),
    ("बारह", "INR", .wrongCurrency),
    ("बारह डॉलर", "INR", .wrongCurrency),
    ("बारह रुपये पचास सेंट", "INR", .wrongCurrency),
    ("बारह स्विस फ़्रैंक", "INR", .wrongCurrency),
    ("सौ रुपये", "INR", .unreadable),
    ("हज़ार रुपये", "INR", .unreadable),
    ("बारह सौ रुपये", "INR", .unreadable),
    ("डेढ़ सौ रुपये", "INR", .unreadable),
    ("एक लाख करोड़ रुपये", "INR", .unreadable),
    ("एक हज़ार एक लाख रुपये", "INR", .unreadable),
    ("एक सौ एक हज़ार रुपये", "INR", .unreadable),
    ("एक लाख एक लाख रुपये", "INR", .unreadable),
    ("बीस पाँच रुपये", "INR", .unreadable),
    ("एक सौ सौ रुपये", "INR", .unreadable),
    ("एक सौ शून्य रुपये", "INR", .unreadable),
    ("बारह रुपये एक सौ पचास पैसे", "INR", .unreadable),
    ("बारह रुपये पचास", "INR", .unreadable),
    ("पचास पैसे बारह रुपये", "INR", .unreadable),
    ("बारह रुपये और", "INR", .unreadable),
    ("बारह रुपये रुपये", "INR", .unreadable),
    ("रुपये बारह रुपये", "INR", .unreadable),
    ("बारह दशमलव रुपये", "INR", .unreadable),
    ("बारह दशमलव पचास रुपये", "INR", .unreadable),
    ("बारह दशमलव पाँच शून्य शून्य रुपये", "INR", .unreadable),
    ("बारह रुपये मिले", "INR", .unreadable),
    ("बारहरुपये", "INR", .unreadable),
    ("१२ रुपये", "INR", .unreadable),
    ("12 रुपये", "INR", .unreadable),
    ("twelve rupees", "INR", .unreadable),
    ("निन्यानवे शंख रुपये", "INR", .outOfRange),
  ]

  @Test("text that is not a correct Hindi amount is refused with the right reason", arguments: bad)
  func refuses(_ bad: Bad) {
    #expect(read(bad.words, bad.currency) == .refused(bad.code))
  }

  @Test("CLDR's spellings of Hindi numbers are read, from 0 to 9,999 and above 100,000")
  func spelledOut() throws {
    let formatter = NumberFormatter()
    formatter.locale = Locale(identifier: "hi")
    formatter.numberStyle = .spellOut
    for number in [0...9999 as ClosedRange<Int64>, 123_450...125_000].joined() {
      let words = try #require(formatter.string(from: NSNumber(value: number)))
      #expect(read(words + " येन", "JPY", 0) == .amount(number))
    }
  }
}
