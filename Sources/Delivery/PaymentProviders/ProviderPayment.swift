// SPDX-License-Identifier: Apache-2.0

package import Announcements
package import Foundation

/// A payment that a provider's webhook reports.
package struct ProviderPayment: Sendable, Hashable {
  /// The provider's own id of the payment or refund. It is never the id of an event or a delivery, because several
  /// events and deliveries can be about one payment. The id of a failed payment is its ``reference`` and `/failed`,
  /// because the payment may still succeed under its own id.
  package var id: String
  package var kind: Payment.Kind
  package var amount: Money
  /// The identity of the payment or refund that this value reports. For a failed payment, it is the identity that the
  /// payment has if it succeeds after all.
  package var reference: String
  /// The text that identifies the payment, so that it is announced once. It is the ``id`` if the provider signs the id.
  /// An unsigned id (Midtrans) is not used, because anybody who has seen one request could give the payment another id.
  package var identity: String
  package var payer: String?
  package var note: String?
  package var channel: String?
  /// The payment's own time; nil if the time is missing or not signed.
  package var occurredAt: Date?
  /// The provider's account that received the money; nil if the request does not name one.
  package var merchant: String?
  /// Whether the money is real; nil if the request does not say this in a signed value.
  package var isLive: Bool?

  /// - Parameter id: The id of the payment. The id of a failed one gets `/failed` at its end.
  package init(id: String, kind: Payment.Kind, amount: Money) {
    (reference, self.kind, self.amount) = (id, kind, amount)
    self.id = kind == .failed ? id + "/failed" : id
    identity = self.id
  }
}

/// The meaning of one entry of a genuine request.
package enum ProviderOutcome: Sendable, Hashable {
  case payment(ProviderPayment)
  /// The entry is not about a payment to announce. The text says what the entry is about: `customer.created`.
  case ignored(String)
  /// The entry may be about money, but cannot be announced without guessing. The text says why, without amounts and
  /// names. The id of the payment is included if it could be read, so that somebody can look the payment up.
  case refused(String, id: String? = nil)

  package var payment: ProviderPayment? { if case .payment(let payment) = self { payment } else { nil } }
  package var ignoredReason: String? { if case .ignored(let reason) = self { reason } else { nil } }
  package var refusedReason: String? { if case .refused(let reason, _) = self { reason } else { nil } }
}

extension ProviderOutcome {
  /// Creates the outcome of a payment whose sum is a number of the provider's minor units. A sum of zero is ignored,
  /// because it only verifies a card. A sum that is not clear is refused.
  ///
  /// - Parameter digits: How the provider counts minor units.
  package init(
    id: String, _ kind: Payment.Kind, minor units: Int64, _ currency: String,
    _ digits: MinorUnitDigits = MinorUnitDigits()
  ) {
    guard units != 0 else { self = .ignored("a sum of zero"); return }
    do throws(AnnouncementError) {
      self = .payment(ProviderPayment(id: id, kind: kind, amount: try digits.money(units, currency)))
    } catch {
      self = .refused(error.description, id: id)
    }
  }

  /// Creates the outcome of a payment whose sum is written in major units, such as `12.50`. It may have more decimals
  /// than its currency if they are zeros. A sum of zero is ignored, and an unclear sum is refused.
  package init(id: String, _ kind: Payment.Kind, major text: String, _ currency: String) {
    do throws(AnnouncementError) {
      let currency = try Currency.named(currency.uppercased(), field: "currency")
      var text = text
      if let point = text.firstIndex(of: "."), text.index(after: point) < text.endIndex {
        while text.utf8.count - text[...point].utf8.count > currency.minorDigits, text.hasSuffix("0") {
          text.removeLast()
        }
        if text.hasSuffix(".") { text.removeLast() }
      }
      guard text.contains(where: { $0 != "0" && $0 != "." }) || text.isEmpty else {
        self = .ignored("a sum of zero"); return
      }
      self = .payment(ProviderPayment(id: id, kind: kind, amount: try Money(decimalText: text, currency: currency)))
    } catch {
      self = .refused(error.description, id: id)
    }
  }

  /// Returns the outcome with a change of its payment. Outcomes without a payment stay as they are.
  package func with(_ change: (inout ProviderPayment) -> Void) -> ProviderOutcome {
    guard var payment else { return self }
    change(&payment)
    return .payment(payment)
  }
}
