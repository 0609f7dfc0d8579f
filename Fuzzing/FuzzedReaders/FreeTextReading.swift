// SPDX-License-Identifier: Apache-2.0

import Announcements

/// Checks that the engine receives only words from free text, in every locale and every field.
enum FreeTextReading {
  /// Checks an input. The first byte selects the locale and the field; the rest is the text.
  @Sendable static func check(_ bytes: [UInt8]) {
    guard let choice = bytes.first.map(Int.init), let dollar = Currency(code: "USD"),
      let amount = try? Money(minorUnits: 1250, currency: dollar)
    else { return }
    let text = String(decoding: bytes.dropFirst(), as: UTF8.self)
    // The decoder has the same limit.
    guard text.unicodeScalars.count <= 2_000 else { return }
    let writers = PhraseBooks.writers
    let writer = writers[choice % writers.count]
    var payment = Payment(amount: amount)
    let announcement: Announcement
    switch choice / writers.count % 5 {
    case 0: announcement = .text(text, locale: nil)
    case 1:
      payment.payer = String(String.UnicodeScalarView(text.unicodeScalars.prefix(80)))
      announcement = .payment(payment)
    case 2:
      payment.note = String(String.UnicodeScalarView(text.unicodeScalars.prefix(200)))
      announcement = .payment(payment)
    case 3:
      payment.payer = "张三"
      payment.payerReading = String(String.UnicodeScalarView(text.unicodeScalars.prefix(80)))
      announcement = .payment(payment)
    default:
      payment.channel = String(String.UnicodeScalarView(text.unicodeScalars.prefix(80)))
      announcement = .payment(payment)
    }
    guard let script = try? writer.script(for: announcement) else { return }
    script.requireSpeakable(characters: text.unicodeScalars.count)
    // Only one text in sixteen is checked here, because this check takes as long as all others together.
    guard bytes.count % 16 == 0 else { return }
    require((try? writer.script(for: announcement)) == script, "the same text has the same words")
  }
}
