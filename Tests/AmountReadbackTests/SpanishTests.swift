// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Testing

@Suite("Spanish amounts")
struct SpanishTests {
  let read: Reading

  init() throws { read = try Reading("es-MX") }

  static let good: [Good] = [
    ("doce dólares con cincuenta centavos", "USD", 2, 1250),
    ("doce dólares y cincuenta centavos", "USD", 2, 1250),
    ("doce dólares cincuenta centavos", "USD", 2, 1250),
    ("Doce DÓLARES Estadounidenses con Un Centavo", "USD", 2, 1201),
    ("un peso", "MXN", 2, 100),
    ("pesos mexicanos doce", "MXN", 2, 1200),
    ("pesos veintiuno", "MXN", 2, 2100),
    ("un centavo", "MXN", 2, 1),
    ("cero pesos con cinco centavos", "MXN", 2, 5),
    ("veintiún dólares con veintiún centavos", "USD", 2, 2121),
    ("treinta y un dólares y treinta y un centavos", "USD", 2, 3131),
    ("dieciséis euros con veintidós céntimos", "EUR", 2, 1622),
    ("veintitrés euros con veintiséis centavos", "EUR", 2, 2326),
    ("cien pesos", "MXN", 2, 10_000),
    ("ciento un pesos", "MXN", 2, 10_100),
    ("mil pesos", "MXN", 2, 100_000),
    ("mil cien pesos", "MXN", 2, 110_000),
    ("veintiún mil quinientos pesos", "MXN", 2, 2_150_000),
    ("cien mil pesos", "MXN", 2, 10_000_000),
    ("setecientos mil novecientos pesos", "MXN", 2, 70_090_000),
    ("un millón de pesos", "MXN", 2, 100_000_000),
    ("un millón un pesos", "MXN", 2, 100_000_100),
    ("dos millones quinientos mil pesos", "MXN", 2, 250_000_000),
    ("mil millones de dólares", "USD", 2, 100_000_000_000),
    ("veintiún mil millones de dólares", "USD", 2, 2_100_000_000_000),
    ("un billón de yenes", "JPY", 0, 1_000_000_000_000),
    ("dos billones un yenes", "JPY", 0, 2_000_000_000_001),
    ("una libra con un penique", "GBP", 2, 101),
    ("veintiuna libras esterlinas", "GBP", 2, 2100),
    ("doscientas mil trescientas una libras", "GBP", 2, 20_030_100),
    ("veintiún mil libras", "GBP", 2, 2_100_000),
    ("veintiuna mil libras", "GBP", 2, 2_100_000),
    ("doscientos millones quinientas rupias", "INR", 2, 20_000_050_000),
    ("doce punto cinco uno dólares de Hong Kong", "HKD", 2, 1251),
    ("doce coma cinco dólares", "USD", 2, 1250),
    ("doscientos uno punto cero cinco rupias", "INR", 2, 20_105),
    ("un millón de dólares de Hong Kong", "HKD", 2, 100_000_000),
    ("doce dinares kuwaitíes con trescientos cuarenta y cinco fils", "KWD", 3, 12_345),
    ("un franco suizo", "CHF", 2, 100),
    ("un millón de francos suizos", "CHF", 2, 100_000_000),
    ("francos suizos doce punto cero cinco", "CHF", 2, 1205),
    ("veintiuna coronas suecas", "SEK", 2, 2100),
    ("quinientos pesos colombianos", "COP", 2, 50_000),
    (
      "nueve billones novecientos noventa y nueve mil novecientos noventa y nueve millones novecientos noventa y nueve "
        + "mil novecientos noventa y nueve pesos con noventa y nueve centavos",
      "MXN", 2, 999_999_999_999_999
    ),
  ]

  @Test("Spanish amounts in words are read to the centavo", arguments: good)
  func reads(_ good: Good) {
    #expect(read(good.words, good.currency, good.minorDigits) == .amount(good.minorUnits))
  }

  static let bad: [Bad] = [
    ("", "MXN", .unreadable),
    ("doce", "MXN", .wrongCurrency),
    ("un millón de", "MXN", .wrongCurrency),
    ("doce pesos", "USD", .wrongCurrency),
    ("doce dólares", "HKD", .wrongCurrency),
    ("doce pesos colombianos", "MXN", .wrongCurrency),
    ("doce pesos", "COP", .wrongCurrency),
    ("doce dólares con cincuenta peniques", "USD", .wrongCurrency),
    ("cincuenta centavos", "HKD", .ambiguous), ("cincuenta centavos", "USD", .ambiguous),
    ("doce dólares con cien centavos", "USD", .unreadable),
    ("cien centavos", "MXN", .unreadable),
    ("cincuenta centavos doce pesos", "MXN", .unreadable),
    ("doce dólares con", "USD", .unreadable),
    ("con doce dólares", "USD", .unreadable),
    ("doce dólares con cincuenta", "USD", .unreadable),
    ("doce dólares de cincuenta centavos", "USD", .unreadable),
    ("recibiste doce dólares", "USD", .unreadable),
    // The number does not agree with its unit.
    ("uno dólares", "USD", .unreadable),
    ("veintiuno dólares", "USD", .unreadable),
    ("treinta y uno dólares", "USD", .unreadable),
    ("una dólares", "USD", .unreadable),
    ("doscientas dólares", "USD", .unreadable),
    ("un libra", "GBP", .unreadable),
    ("veintiún libras", "GBP", .unreadable),
    ("doscientos libras", "GBP", .unreadable),
    ("doscientos mil libras", "GBP", .unreadable),
    ("doscientos trescientas libras", "GBP", .unreadable),
    ("doscientas millones de libras", "GBP", .unreadable),
    ("doscientos una coronas suecas", "SEK", .unreadable),
    ("doscientas mil trescientos coronas suecas", "SEK", .unreadable),
    ("dólares un", "USD", .unreadable),
    ("una coma cinco libras", "GBP", .unreadable),
    // These cases concern cien and ciento, y, and mil.
    ("ciento dólares", "USD", .unreadable),
    ("ciento mil dólares", "USD", .unreadable),
    ("cien uno dólares", "USD", .unreadable),
    ("cien y un dólares", "USD", .unreadable),
    ("cien cien dólares", "USD", .unreadable),
    ("treinta un dólares", "USD", .unreadable),
    ("treinta con un dólares", "USD", .unreadable),
    ("treinta y dólares", "USD", .unreadable),
    ("treinta y diez dólares", "USD", .unreadable),
    ("veinte y un dólares", "USD", .unreadable),
    ("treinta veinte dólares", "USD", .unreadable),
    ("diez uno dólares", "USD", .unreadable),
    ("un mil dólares", "USD", .unreadable),
    ("mil mil dólares", "USD", .unreadable),
    ("mil y un dólares", "USD", .unreadable),
    // Millions are nouns.
    ("un millón dólares", "USD", .unreadable),
    ("millón de dólares", "USD", .unreadable),
    ("uno millón de dólares", "USD", .unreadable),
    ("un millones de dólares", "USD", .unreadable),
    ("dos millón de dólares", "USD", .unreadable),
    ("un millón de un dólares", "USD", .unreadable),
    ("un millón millón de dólares", "USD", .unreadable),
    ("un millón dos millones de dólares", "USD", .unreadable),
    ("un millón un billón de dólares", "USD", .unreadable),
    ("doce de dólares", "USD", .unreadable),
    ("mil de dólares", "USD", .unreadable),
    ("doce dólares de", "USD", .unreadable),
    ("dólares un millón de", "USD", .unreadable),
    ("doce de francos suizos", "CHF", .unreadable),
    ("un millón de punto cinco dólares", "USD", .unreadable),
    ("dos punto cinco millones de dólares", "USD", .unreadable),
    ("doce punto dólares", "USD", .unreadable),
    ("punto cinco dólares", "USD", .unreadable),
    ("doce punto cinco cero cero dólares", "USD", .unreadable),
    ("doce punto cincuenta dólares", "USD", .unreadable),
    ("doce punto un dólares", "USD", .unreadable),
    // Letters with accents are distinct.
    ("doce dolares", "USD", .unreadable),
    ("veintidos dólares", "USD", .unreadable),
    ("un millon de dólares", "USD", .unreadable),
    ("doce do\u{301}lares", "USD", .unreadable),
    ("12 dólares", "USD", .unreadable),
    ("menos doce dólares", "USD", .unreadable),
    ("doce, dólares", "USD", .unreadable),
    ("docedólares", "USD", .unreadable),
    ("twelve dollars", "USD", .unreadable),
    ("diez trillones de dólares", "USD", .outOfRange),
    ("nueve trillones de dólares", "USD", .outOfRange),
  ]

  @Test("text that is not a correct Spanish amount is refused with the right reason", arguments: bad)
  func refuses(_ bad: Bad) {
    #expect(read(bad.words, bad.currency) == .refused(bad.code))
  }
}
