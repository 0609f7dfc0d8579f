// SPDX-License-Identifier: Apache-2.0

import Announcements
import Crypto
import Foundation
import Ledger
import PaymentProviders

/// The announcement of a payment that a provider has reported, and the digests that identify the payment.
struct ProviderPayload {
  /// The time for which the identity of a payment is kept after the payment is too old to be spoken, in seconds: 90
  /// days. No provider is known to send an event again after that: Adyen and Stripe's dashboard send events again for
  /// up to 30 days.
  private static let keptIdentity: TimeInterval = 90 * 86_400

  let payment: ProviderPayment
  let endpoint: ProviderEndpoint

  /// The announcement's id: the endpoint's id, a colon, and the payment's identity, which is usually the payment's id.
  /// Two endpoints of an account may have payments with the same id, such as the orders of two shops. The id of a
  /// payment of any kind except received ends with the kind.
  var id: String {
    let suffix = payment.kind == .received ? "" : "/\(payment.kind.rawValue)"
    var own = payment.identity
    if own.hasSuffix(suffix) { own.removeLast(suffix.count) }
    let id = "\(endpoint.id):\(own)\(suffix)"
    guard id.unicodeScalars.count > Self.longestID else { return id }
    // People recognise the id by its beginning. The digest distinguishes two long ids with the same beginning.
    let digest = SignatureEncoding.hex.text(of: Data(SHA256.hash(data: Data(own.utf8)).prefix(8)))
    return "\(endpoint.id):\(own.prefix(32))~\(digest)\(suffix)"
  }

  /// The largest length of a payment's id in a payload, in characters.
  private static let longestID = 128

  /// Returns the announcement as a payload, as a backend would send it. Texts are cut to the lengths that a payload may
  /// have.
  ///
  /// The payload is written without `JSONEncoder`, which takes 15 µs for such a small object. That is a fifteenth of
  /// the time in which a webhook is processed.
  func body() -> Data {
    var fields = JSONText()
    fields.add("amount", payment.amount.decimalText)
    fields.add("channel", payment.channel.flatMap { Self.cut($0, Payment.longestChannel) })
    fields.add("currency", payment.amount.currency.code)
    fields.add("id", id)
    fields.add("kind", payment.kind.rawValue)
    fields.add("locale", endpoint.locale)
    fields.add("note", payment.note.flatMap { Self.cut($0, Payment.longestNote) })
    fields.add("occurred_at", payment.occurredAt.map { Date.ISO8601FormatStyle().format($0) })
    fields.add("payer", payment.payer.flatMap { Self.cut($0, Payment.longestPayer) })
    var body = JSONText()
    body.add("deliver", endpoint.deliver.map(\.rawValue).sorted())
    body.add("device", endpoint.device)
    body.add("payment", fields)
    return body.data
  }

  private static func cut(_ text: String, _ length: Int) -> String? {
    let cut = String(String.UnicodeScalarView(text.unicodeScalars.prefix(length)))
    return cut.allSatisfy(\.isWhitespace) ? nil : cut
  }

  /// The digests that recognise the payment when it is reported again. They include the kind, because a refund may have
  /// the payment's id.
  var identity: Ledger.NewProviderPayment.Identity {
    var identity = Ledger.NewProviderPayment.Identity(
      id: digest(of: payment.identity, payment.kind),
      sum: Data(
        SHA256.hash(data: Data("\(payment.amount.minorUnits) \(payment.amount.currency.code)".utf8)).prefix(8)))
    if payment.kind == .failed || payment.kind == .pending {
      identity.success = digest(of: payment.reference, .received)
    }
    // If the time is not signed, nothing shows that a repeated report is old, so the identity is kept forever. The
    // identity of a refund is kept forever too: some providers report a refund again whenever something about it
    // changes, with the time of the change.
    identity.until =
      payment.kind == .refunded
      ? nil
      : payment.occurredAt.map { $0.addingTimeInterval(TimeInterval(endpoint.maximumAge) + Self.keptIdentity) }
    return identity
  }

  private func digest(of id: String, _ kind: Payment.Kind) -> Data {
    Self.digest(of: id, kind.rawValue, endpoint)
  }

  private static func digest(of id: String, _ kind: String, _ endpoint: ProviderEndpoint) -> Data {
    // No part can contain a zero byte.
    let parts = [endpoint.account, endpoint.id, id, kind].joined(separator: "\0")
    return Data(SHA256.hash(data: Data(parts.utf8)).prefix(16))
  }

  /// Returns the report of a payment that cannot be announced. The ledger stores it once, however often the provider
  /// sends it.
  ///
  /// - Parameters:
  ///   - id: The payment's id, if it could be read.
  ///   - body: The request, which stands for the payment if its id could not be read.
  static func refusal(
    _ reason: String, of id: String?, in body: Data, for endpoint: ProviderEndpoint, at now: Date
  ) -> Ledger.NewProviderPayment {
    var report = Ledger.NewProviderPayment(account: endpoint.account, endpoint: endpoint.id, refusal: reason)
    report.id = id
    let known = id ?? Data(SHA256.hash(data: body)).base64EncodedString()
    // This report announces nothing, so its identity may be forgotten. A payment with the same id has another identity,
    // so it does not count as a repetition of this report.
    report.identity = Ledger.NewProviderPayment.Identity(
      id: digest(of: known, id == nil ? "refused body" : "refused", endpoint), sum: Data(count: 8),
      until: now.addingTimeInterval(keptIdentity))
    return report
  }

  /// Returns the report of the payment for the ledger.
  ///
  /// - Parameter now: The time of its arrival. A payment whose own time is signed and too long ago is late.
  func report(at now: Date) -> Ledger.NewProviderPayment {
    var report = Ledger.NewProviderPayment(account: endpoint.account, endpoint: endpoint.id)
    report.identity = identity
    report.id = payment.id
    report.kind = payment.kind.rawValue
    report.amount = payment.amount.decimalText
    report.currency = payment.amount.currency.code
    let isLate = endpoint.isLate(payment, at: now)
    if !isLate { report.payload = body() }
    return report
  }
}
