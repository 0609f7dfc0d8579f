// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import PaymentProviders

extension MappingSample {
  init(_ node: SettingsNode) throws(ProviderSettingsError) {
    let fields = try node.fields(["name", "secret", "public_key", "now", "headers", "query", "body", "expect"])
    var headers: [(name: String, value: String)] = []
    for (name, value) in try fields["headers"]?.entries() ?? [] {
      for one in try value.listOrOne() { headers.append((name, try one.text())) }
    }
    let body = try fields.required("body", remedy: "add the request's body").text()
    let query = try fields["query"]?.text()
    let now = try fields["now"]?.integer(in: 0...99_999_999_999) ?? 1_700_000_000
    self.init(
      name: try fields.required("name", remedy: "say what the sample shows").text(),
      now: Date(timeIntervalSince1970: TimeInterval(now)),
      request: ProviderRequest(headers: headers, body: Data(body.utf8), query: query),
      expectation: try Expectation(fields.required("expect", remedy: "state the expected result")))
    if let secret = try fields["secret"]?.text() { self.secret = ProviderSecret(secret) }
    publicKey = try fields["public_key"]?.text()
  }
}

extension MappingSample.Expectation {
  private enum Word: String, CaseIterable { case ignored, refused }

  fileprivate init(_ node: SettingsNode) throws(ProviderSettingsError) {
    guard node.isMapping else {
      switch try node.choice(Word.self) {
      case .ignored: self = .ignored
      case .refused: self = .refused
      }
      return
    }
    let fields = try node.fields(["payments", "rejected"])
    switch (fields["payments"], fields["rejected"]) {
    case (let payments?, nil):
      var expected: [MappingSample.ExpectedPayment] = []
      for payment in try payments.listOrOne() { expected.append(try MappingSample.ExpectedPayment(payment)) }
      self = .payments(expected)
    case (nil, let rejected?): self = .rejected(try rejected.choice())
    default:
      throw node.error(
        "does not state exactly one result",
        remedy: "write payments: [...], rejected: CODE, or expect: ignored or refused")
    }
  }
}

extension MappingSample.ExpectedPayment {
  fileprivate init(_ node: SettingsNode) throws(ProviderSettingsError) {
    let fields = try node.fields([
      "id", "kind", "amount", "currency", "identity", "payer", "note", "channel", "merchant", "occurred_at", "live",
    ])
    let amount = try fields.required("amount", remedy: "add the sum in major units: amount: 12.50")
    let code = try fields.required("currency", remedy: "add the currency").currencyCode()
    guard let currency = try? Currency.named(code, field: "currency"),
      let money = try? Money(decimalText: try amount.text(), currency: currency)
    else {
      throw amount.error("is not an amount in this currency", remedy: "write it in major units: 12.50")
    }
    self.init(
      id: try fields.required("id", remedy: "add the id").text(),
      kind: try fields.required("kind", remedy: "add kind: received").choice(), amount: money)
    identity = try fields["identity"]?.text()
    payer = try fields["payer"]?.text()
    note = try fields["note"]?.text()
    channel = try fields["channel"]?.text()
    merchant = try fields["merchant"]?.text()
    isLive = try fields["live"]?.boolean()
    if let time = fields["occurred_at"] {
      guard let date = Timestamp.date(try time.text()) else {
        throw time.error("is not a time", remedy: "write it as 2026-11-27T18:05:00Z")
      }
      occurredAt = date
    }
  }
}
