// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Testing

@Suite("English amounts")
struct EnglishTests {
  let read: Reading

  init() throws { read = try Reading("en-US") }

  static let good: [Good] = [
    ("twelve dollars and fifty cents", "USD", 2, 1250),
    ("twelve dollars fifty cents", "USD", 2, 1250),
    ("Twelve US Dollars and Fifty Cents", "USD", 2, 1250),
    ("  one   dollar ", "USD", 2, 100),
    ("one cent", "USD", 2, 1),
    ("five euro cents", "EUR", 2, 5),
    ("zero dollars", "USD", 2, 0),
    ("zero dollars and five cents", "USD", 2, 5),
    ("twelve dollars and zero cents", "USD", 2, 1200),
    ("twenty-one euros", "EUR", 2, 2100),
    ("twenty one euros", "EUR", 2, 2100),
    ("twenty\u{2011}one euros", "EUR", 2, 2100),
    ("two million three hundred thousand and one dollars", "USD", 2, 230_000_100),
    ("two million three hundred thousand one dollars", "USD", 2, 230_000_100),
    ("one hundred and two thousand three hundred and four pounds and one penny", "GBP", 2, 10_230_401),
    ("one hundred one dollars", "USD", 2, 10_100),
    ("one hundred ten dollars", "USD", 2, 11_000),
    ("nineteen yuan five jiao five fen", "CNY", 2, 1955),
    ("nineteen yuan and five jiao", "CNY", 2, 1950),
    ("nineteen yuan and five fen", "CNY", 2, 1905),
    ("twelve dinars and three hundred forty-five fils", "KWD", 3, 12_345),
    ("twelve point three four five dinars", "KWD", 3, 12_345),
    ("twelve Bahraini dinars and five fils", "BHD", 3, 12_005),
    ("twelve point five zero Swiss francs", "CHF", 2, 1250),
    ("twelve point five Swiss francs", "CHF", 2, 1250),
    ("one Swiss franc", "CHF", 2, 100),
    ("Swiss francs twelve point zero five", "CHF", 2, 1205),
    ("twelve point zero five dollars", "USD", 2, 1205),
    ("twenty-five thousand won", "KRW", 0, 25_000),
    ("nine hundred ninety-nine yen", "JPY", 0, 999),
    ("twelve Hong Kong dollars and fifty cents", "HKD", 2, 1250),
    ("one new Taiwan dollar", "TWD", 2, 100),
    ("one lakh twenty-five thousand rupees and fifty paise", "INR", 2, 12_500_050),
    ("one hundred crore rupees", "INR", 2, 100_000_000_000),
    (
      "nine trillion nine hundred ninety-nine billion nine hundred ninety-nine million nine hundred ninety-nine "
        + "thousand nine hundred ninety-nine dollars and ninety-nine cents",
      "USD", 2, 999_999_999_999_999
    ),
  ]

  @Test("English amounts in words are read to the cent", arguments: good)
  func reads(_ good: Good) {
    #expect(read(good.words, good.currency, good.minorDigits) == .amount(good.minorUnits))
  }

  static let bad: [Bad] = [
    ("", "USD", .unreadable),
    (" ", "USD", .unreadable),
    ("twelve", "USD", .wrongCurrency),
    ("twelve point five", "USD", .wrongCurrency),
    ("dollars", "USD", .unreadable),
    ("twelve euros", "USD", .wrongCurrency),
    ("twelve dollars", "HKD", .wrongCurrency),
    ("twelve dollars", "CHF", .wrongCurrency),
    ("twelve dollars Swiss francs", "CHF", .wrongCurrency),
    ("twelve yen Tunisian dinars", "TND", .wrongCurrency),
    ("Tunisian dinars twelve yen", "TND", .wrongCurrency),
    ("twelve Swiss francs", "USD", .wrongCurrency),
    ("twelve Swiss francs", "SEK", .wrongCurrency),
    ("five cents", "HKD", .ambiguous), ("five cents", "EUR", .ambiguous),
    ("twelve dollars and fifty pence", "USD", .wrongCurrency),
    ("twelve dollars and one hundred fifty cents", "USD", .unreadable),
    ("one hundred cents", "USD", .unreadable),
    ("twelve yuan ten jiao", "CNY", .unreadable),
    ("twelve yuan five jiao ten fen", "CNY", .unreadable),
    ("twelve yuan five fen five jiao", "CNY", .unreadable),
    ("fifty cents twelve dollars", "USD", .unreadable),
    ("dollars twelve dollars", "USD", .unreadable),
    ("dollars five cents", "USD", .unreadable),
    ("twelve dollars dollars", "USD", .unreadable),
    ("twelve dollars and", "USD", .unreadable),
    ("and twelve dollars", "USD", .unreadable),
    ("twelve dollars and fifty", "USD", .unreadable),
    ("twelve dollars and fifty cents please", "USD", .unreadable),
    ("received twelve dollars", "USD", .unreadable),
    ("twelve twelve dollars", "USD", .unreadable),
    ("twenty eleven dollars", "USD", .unreadable),
    ("twenty zero dollars", "USD", .unreadable),
    ("one two dollars", "USD", .unreadable),
    ("hundred dollars", "USD", .unreadable),
    ("twelve hundred dollars", "USD", .unreadable),
    ("one hundred hundred dollars", "USD", .unreadable),
    ("one hundred five hundred dollars", "USD", .unreadable),
    ("one hundred and dollars", "USD", .unreadable),
    ("one hundred and and one dollars", "USD", .unreadable),
    ("one hundred and two thousand and three hundred dollars", "USD", .unreadable),
    ("two thousand and one million dollars", "USD", .unreadable),
    ("hundred thousand two million dollars", "USD", .unreadable),
    ("one hundred thousand two million dollars", "USD", .unreadable),
    ("one thousand thousand dollars", "USD", .unreadable),
    ("one lakh two million dollars", "USD", .unreadable),
    ("one hundred lakh rupees", "INR", .unreadable),
    ("one crore one hundred lakh rupees", "INR", .unreadable),
    ("twelve point dollars", "USD", .unreadable),
    ("point five dollars", "USD", .unreadable),
    ("twelve point five zero zero dollars", "USD", .unreadable),
    ("twelve point fifty dollars", "USD", .unreadable),
    ("twelve point five dollars and five cents", "USD", .unreadable),
    ("twelve point five cents", "USD", .unreadable),
    ("twelve dollars point five", "USD", .unreadable),
    ("12 dollars", "USD", .unreadable),
    ("twelve $", "USD", .unreadable),
    ("minus twelve dollars", "USD", .unreadable),
    ("-twelve dollars", "USD", .unreadable),
    ("twelve- dollars", "USD", .unreadable),
    ("twelve--one dollars", "USD", .unreadable),
    ("twelvedollars", "USD", .unreadable),
    ("twelve, dollars", "USD", .unreadable),
    ("twelve dollars\n", "USD", .unreadable),
    ("fourty dollars", "USD", .unreadable),
    ("doce dólares", "USD", .unreadable),
    ("十二美元", "USD", .unreadable),
    ("ten quintillion dollars", "USD", .outOfRange),
    ("nine quintillion dollars", "USD", .outOfRange),
    ("five XYZ", "XYZ", .unreadable),
    ("twelve dollars", "", .wrongCurrency),
    ("twelve dollars", "usd", .wrongCurrency),
    ("twelve Swiss francs", "chf", .wrongCurrency),
  ]

  @Test("text that is not a correct English amount is refused with the right reason", arguments: bad)
  func refuses(_ bad: Bad) {
    #expect(read(bad.words, bad.currency) == .refused(bad.code))
  }

  @Test("for a currency without minor digits, words with a point or with cents are refused")
  func noMinorDigits() {
    #expect(read("twelve point zero yen", "JPY", 0) == .refused(.unreadable))
    #expect(read("twelve dollars and five cents", "USD", 0) == .refused(.unreadable))
    #expect(read("twelve dollars", "USD", 0) == .amount(12))
  }

  @Test("an amount in a currency with three minor digits may have up to 999 fils")
  func threeMinorDigits() {
    #expect(read("nine hundred ninety-nine fils", "KWD", 3) == .amount(999))
    #expect(read("one thousand fils", "KWD", 3) == .refused(.unreadable))
    #expect(read("five fils", "KWD", 2) == .refused(.unreadable))
  }
}
