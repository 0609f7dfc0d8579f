// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Announcements
import Foundation

/// Checks that a payload or a request is refused with an error, or gives words that match its amount.
enum PayloadReading {
  @Sendable static func check(_ bytes: [UInt8]) {
    let data = Data(bytes)
    let request = try? PayloadDecoder.request(data)
    guard let announcement = try? PayloadDecoder.decode(data) else { return }
    // A request has the same requirements as a payload, but its options may be invalid.
    if let request, case .payment(let payment) = announcement {
      require(request.id == payment.id, "a request has the id of its payment")
    }
    let locale = announcement.locale
    let writer = locale.flatMap { try? PhraseBooks.ofCheckout.writer(for: $0) } ?? PhraseBooks.writers[0]
    guard let script = try? writer.script(for: announcement) else { return }
    script.requireSpeakable(characters: bytes.count)
    guard case .payment(let payment) = announcement else { return }
    let currency = payment.amount.currency
    let heard = try? AmountReaders.ofCheckout.reader(for: script.locale)
      .minorUnits(in: script.amountText, currency: currency.code, minorDigits: currency.minorDigits)
    require(heard == payment.amount.minorUnits, "the words of the amount match the amount")
  }
}
