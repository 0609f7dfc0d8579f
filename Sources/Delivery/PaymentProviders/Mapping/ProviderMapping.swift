// SPDX-License-Identifier: Apache-2.0

package import Announcements

/// The description of a provider by a mapping file.
package struct ProviderMapping: Sendable {
  package enum BodyFormat: String, Sendable, Hashable, CaseIterable {
    case json, form
  }

  /// The provider's name.
  package var name: String
  package var verification: MappingVerification
  package var body = BodyFormat.json
  /// The rows of the table that decides the meaning of a request. The first row that fits counts. If none fits, the
  /// request is ignored.
  package var kinds: [MappingRow] = []
  package var payment: PaymentFields
  package var accepted = ProviderAnswer(status: 200)
  package var rejected = ProviderAnswer(status: 401)
  /// The text that the provider appends to the URL: `/pix`.
  package var pathSuffix: String?
  /// The only key of the form body that the provider sends to test whether the URL answers, such as WooCommerce's
  /// `webhook_id`. The body is not signed. The service answers it with success and does nothing else.
  package var unsignedPing: String?
  /// The requests that test the mapping.
  package var samples: [MappingSample] = []

  package init(name: String, verification: MappingVerification, payment: PaymentFields) {
    (self.name, self.verification, self.payment) = (name, verification, payment)
  }

  /// Whether the announced values are signed. Otherwise anybody who has seen one request can make others.
  package var isSigned: Bool { verification.coverage != .nothing }
}

/// A row of the table that decides the meaning of a request.
package struct MappingRow: Sendable, Hashable {
  package enum Meaning: Sendable, Hashable {
    case payment(Payment.Kind)
    case ignored, refused
  }

  package struct Condition: Sendable, Hashable {
    package var source: ValueSource
    /// The allowed values of the source; nil stands for a missing value or null.
    package var values: [String?]

    package init(_ source: ValueSource, _ values: [String?]) { (self.source, self.values) = (source, values) }
  }

  /// The conditions, all of which must hold.
  package var when: [Condition]
  package var meaning: Meaning
  /// Why the request is ignored or refused.
  package var because: String?

  package init(when: [Condition], _ meaning: Meaning, because: String? = nil) {
    (self.when, self.meaning, self.because) = (when, meaning, because)
  }
}

/// The places of a payment's fields.
package struct PaymentFields: Sendable, Hashable {
  package enum Amount: Sendable, Hashable {
    /// Decimal text or a number: `12.50`.
    case major(ValueSource)
    /// A whole number of the provider's minor units.
    case minor(ValueSource, MinorUnitDigits)

    package var source: ValueSource {
      switch self {
      case .major(let source), .minor(let source, _): source
      }
    }
  }

  package enum TimeFormat: Sendable, Hashable {
    case rfc3339, seconds, milliseconds
    /// `2026-11-27 18:05:00`, with a space or a T, in a zone such as `+07:00`.
    case local(offset: String)
  }

  package struct Time: Sendable, Hashable {
    package var source: ValueSource
    package var format: TimeFormat

    package init(_ source: ValueSource, _ format: TimeFormat) { (self.source, self.format) = (source, format) }
  }

  /// The values that mean that the money is real, and those that mean a test.
  package struct Live: Sendable, Hashable {
    package var source: ValueSource
    package var live: Set<String>
    package var test: Set<String>

    package init(_ source: ValueSource, live: Set<String>, test: Set<String>) {
      (self.source, self.live, self.test) = (source, live, test)
    }
  }

  /// An array in the body. Each of its elements is a payment.
  package var each: JSONPointer?
  /// The parts of the id, in their order.
  package var id: [ValueSource]
  /// The parts of the text that identifies the payment if its id is not signed; empty if the id is signed.
  package var identity: [ValueSource] = []
  package var amount: Amount
  package var currency: ValueSource
  /// Further values that must be present.
  package var required: [ValueSource] = []
  package var time: Time?
  package var live: Live?
  package var merchant: ValueSource?
  package var payer: ValueSource?
  package var note: ValueSource?
  package var channel: ValueSource?

  package init(id: [ValueSource], amount: Amount, currency: ValueSource) {
    (self.id, self.amount, self.currency) = (id, amount, currency)
  }
}
