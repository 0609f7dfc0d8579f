// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import PaymentProviders
import ProviderSettings
import Testing

@Suite("Payments by a mapping file")
struct MappingOutcomeTests {
  private func payments(_ body: String, payment: String) throws -> [ProviderPayment] {
    try MappingTexts.outcomes(body, payment: payment).compactMap(\.payment)
  }

  private func refusal(_ body: String, payment: String = MappingTexts.payment) throws -> String? {
    let outcomes = try MappingTexts.outcomes(body, payment: payment)
    return outcomes.count == 1 ? outcomes[0].refusedReason : nil
  }

  @Test("a sum may be a JSON number or a string, and keeps its exact digits")
  func sums() throws {
    for (sum, currency, expected) in [
      ("12.5", "EUR", "12.50"), ("\"12.500\"", "EUR", "12.50"), ("9007199254740993", "JPY", "9007199254740993"),
      ("1.00", "INR", "1.00"), ("\"1\"", "inr", "1.00"),
    ] {
      let outcomes = try MappingTexts.outcomes(#"{"id":1,"sum":\#(sum),"currency":"\#(currency)"}"#)
      if expected == "9007199254740993" {
        #expect(outcomes.first?.refusedReason != nil, "a sum larger than any that is spoken")
      } else {
        #expect(outcomes.first?.payment?.amount.decimalText == expected)
      }
    }
  }

  @Test("an unclear sum is refused, and the reason does not contain the sum")
  func unclearSums() throws {
    for sum in ["1e2", "-5", "\"1,50\"", "\"12.345\"", "\"\"", "true", "[1]", "\"١٢\"", "\" 1\"", "98765.4321"] {
      let reason = try #require(try refusal(#"{"id":1,"sum":\#(sum),"currency":"EUR"}"#), "\(sum)")
      #expect(!reason.contains("98765"))
    }
    #expect(try refusal(#"{"id":1,"sum":1,"currency":"XXY"}"#) != nil)
    #expect(try refusal(#"{"id":1,"sum":1,"currency":978}"#) != nil)
  }

  @Test("a payment with a sum of zero is ignored")
  func zero() throws {
    #expect(try MappingTexts.outcomes(#"{"id":1,"sum":"0.00","currency":"EUR"}"#).first?.ignoredReason != nil)
  }

  @Test("a sum in minor units has the decimal places of the currency, or those that the mapping file gives")
  func minorUnits() throws {
    let payment = "{id: /id, amount: {minor: /sum, digits: {ISK: 2}, unclear: [KWD]}, currency: /currency}"
    func sum(_ sum: String, _ currency: String) throws -> String? {
      try payments(#"{"id":1,"sum":\#(sum),"currency":"\#(currency)"}"#, payment: payment).first?.amount.decimalText
    }
    #expect(try sum("1250", "EUR") == "12.50")
    #expect(try sum("1250", "JPY") == "1250")
    #expect(try sum("2000", "ISK") == "20")
    #expect(try sum("2001", "ISK") == nil)
    #expect(try sum("1250", "KWD") == nil)
    #expect(try sum("12.5", "EUR") == nil)
    #expect(try sum("\"1250\"", "EUR") == "12.50")
  }

  @Test("the id of a payment keeps all its digits, and an id in an invalid form is refused")
  func ids() throws {
    #expect(
      try payments(#"{"id":820982911946154509,"sum":1,"currency":"EUR"}"#, payment: MappingTexts.payment).first?.id
        == "820982911946154509")
    for id in ["1.5", "1e3", "\"\"", "\"a b\"", "\"é\"", "null", "{}", "\"\(String(repeating: "x", count: 201))\""] {
      #expect(try refusal(#"{"id":\#(id),"sum":1,"currency":"EUR"}"#) != nil, "\(id)")
    }
  }

  @Test("an id is joined from the parts in the mapping file, and another field may be the payment's identity")
  func composedIDs() throws {
    let payment = "{id: [/a, text: '-', /b], identity: /b, amount: {major: /sum}, currency: {text: EUR}}"
    let found = try payments(#"{"a":"x","b":7,"sum":1}"#, payment: payment).first
    #expect(found?.id == "x-7")
    #expect(found?.identity == "7")
    #expect(try refusal(#"{"a":"x","sum":1}"#, payment: payment) != nil)
  }

  @Test("a failed payment has another id and identity than a received payment with the same reference")
  func failedIDs() throws {
    let outcomes = try MappingTexts.outcomes(
      MappingTexts.body, payment: "{id: /id, identity: /sum, amount: {major: /sum}, currency: /currency}",
      kinds: "[{kind: failed}]")
    // The endpoint takes received payments and refunds only.
    #expect(outcomes.first?.ignoredReason == "kind failed, which is not among the endpoint's kinds")
    var endpoint = try MappingTexts.endpoint(MappingTexts.signed, kinds: "[{kind: failed}]")
    endpoint.kinds = [.failed]
    let request = try #require(
      endpoint.mapping?.signed(
        ProviderRequest(headers: [], body: Data(MappingTexts.body.utf8)), with: MappingTexts.secret,
        at: MappingTexts.now))
    let payment = endpoint.judge(request, at: MappingTexts.now).payments.first
    #expect(payment?.id == "p1/failed" && payment?.identity == "p1/failed" && payment?.reference == "p1")
  }

  @Test("the first row whose fields all match decides, and a row can match null and values of any type")
  func rows() throws {
    let kinds = """
      [{when: {/a: [x, y], /b: 1}, kind: received}, {when: {/a: null}, kind: ignored, because: no a},
      {when: {/c: true}, kind: refunded}, {when: {/a: z}, kind: refused, because: z is odd}]
      """
    func outcome(_ fields: String) throws -> ProviderOutcome? {
      try MappingTexts.outcomes(#"{"id":1,"sum":1,"currency":"EUR",\#(fields)}"#, kinds: kinds).first
    }
    #expect(try outcome(#""a":"x","b":1"#)?.payment?.kind == .received)
    #expect(try outcome(#""a":"y","b":"1""#)?.payment?.kind == .received)
    #expect(try outcome(#""b":1"#)?.ignoredReason == "no a")
    #expect(try outcome(#""a":null,"c":true"#)?.ignoredReason == "no a")
    #expect(try outcome(#""a":"x","b":2,"c":true"#)?.payment?.kind == .refunded)
    #expect(try outcome(#""a":"z","c":1"#)?.refusedReason == "z is odd")
    #expect(try outcome(#""a":"order.updated""#)?.ignoredReason == "order.updated")
    let unmatched = "a request that matches no row under 'kinds' in the mapping file"
    #expect(try outcome(#""a":["x"],"b":1"#)?.ignoredReason == unmatched)
    #expect(try outcome(#""a":"a name with spaces""#)?.ignoredReason == unmatched)
  }

  @Test("a mapping file can read each element of an array as a separate payment")
  func each() throws {
    let payment = "{each: /list, id: /id, amount: {major: /sum}, currency: root /currency}"
    let outcomes = try MappingTexts.outcomes(
      #"{"currency":"EUR","list":[{"id":1,"sum":1},{"id":2},{"id":3,"sum":3}]}"#, payment: payment)
    #expect(outcomes.map { $0.payment?.id } == ["1", nil, "3"])
    #expect(outcomes[1].refusedReason != nil)
    #expect(try MappingTexts.outcomes(#"{"list":[]}"#, payment: payment).first?.ignoredReason == "no payments")
    #expect(try refusal(#"{"list":{}}"#, payment: payment) == "The body has no array at /list.")
    #expect(try refusal(#"{}"#, payment: payment) == "The body has no array at /list.")
    let many = Array(repeating: "{}", count: 1_001).joined(separator: ",")
    #expect(try refusal(#"{"list":[\#(many)]}"#, payment: payment) != nil)
  }

  @Test("a value can be found in a list by its name, and is refused if the name occurs twice")
  func find() throws {
    let payment =
      "{id: /id, amount: {major: {find: /list, where: {/Name: Amount}, value: /Value}}, currency: {text: KES}}"
    let good = #"{"id":1,"list":[{"Name":"Balance"},7,{"Name":"Amount","Value":1.0}]}"#
    #expect(try payments(good, payment: payment).first?.amount.decimalText == "1.00")
    let twice = #"{"id":1,"list":[{"Name":"Amount","Value":1},{"Name":"Amount","Value":2}]}"#
    #expect(try refusal(twice, payment: payment)?.contains("twice") == true)
    #expect(try refusal(#"{"id":1,"list":[{"Name":"Amount"}]}"#, payment: payment) != nil)
    #expect(try refusal(#"{"id":1,"list":{"Name":"Amount"}}"#, payment: payment) != nil)
  }

  @Test("the time of a payment is read in every format that a mapping file may name")
  func times() throws {
    for (format, value) in [
      ("format: rfc3339", "\"2026-11-20T10:00:00+07:00\""), ("format: seconds", "1795143600"),
      ("format: milliseconds", "1795143600000"), ("format: local, offset: '+07:00'", "\"2026-11-20 10:00:00\""),
      ("format: local, offset: '+07:00'", "\"2026-11-20T10:00:00\""),
    ] {
      let payment = "{id: /id, amount: {major: /sum}, currency: {text: EUR}, time: {from: /t, \(format)}}"
      let found = try payments(#"{"id":1,"sum":1,"t":\#(value)}"#, payment: payment).first
      #expect(found?.occurredAt == Date(timeIntervalSince1970: 1_795_143_600), "\(format)")
      #expect(try refusal(#"{"id":1,"sum":1,"t":"yesterday"}"#, payment: payment) != nil)
      #expect(try payments(#"{"id":1,"sum":1}"#, payment: payment).first?.occurredAt == nil)
    }
  }

  @Test("a payment with a time after the year 9999 is refused", arguments: ["seconds", "milliseconds"])
  func farTime(format: String) throws {
    let payment = "{id: /id, amount: {major: /sum}, currency: {text: EUR}, time: {from: /t, format: \(format)}}"
    #expect(try refusal(#"{"id":1,"sum":1,"t":9223372036854775807}"#, payment: payment) != nil)
  }

  @Test("a request without a field that the mapping file requires is refused")
  func required() throws {
    let payment = "{id: /id, amount: {major: /sum}, currency: {text: EUR}, required: [/x]}"
    #expect(try refusal(#"{"id":1,"sum":1}"#, payment: payment) == "The request has nothing usable at /x.")
    #expect(try payments(#"{"id":1,"sum":1,"x":false}"#, payment: payment).count == 1)
  }

  @Test(
    "the field 'live' separates live payments from test payments, and a value that is neither of the two is refused")
  func live() throws {
    let payment =
      "{id: /id, amount: {major: /sum}, currency: {text: EUR}, live: {from: /l, live: 'true', test: 'false'}}"
    #expect(try payments(#"{"id":1,"sum":1,"l":true}"#, payment: payment).first?.isLive == true)
    #expect(try MappingTexts.outcomes(#"{"id":1,"sum":1,"l":false}"#, payment: payment).first?.ignoredReason != nil)
    #expect(try refusal(#"{"id":1,"sum":1,"l":"perhaps"}"#, payment: payment) != nil)
    #expect(try refusal(#"{"id":1,"sum":1,"l":{}}"#, payment: payment) != nil)
    #expect(try payments(#"{"id":1,"sum":1}"#, payment: payment).first?.isLive == nil)
  }

  @Test("the fields of a form are found by their keys")
  func form() throws {
    let outcomes = try MappingTexts.outcomes("id=a%2B1&sum=12.50&currency=EUR", more: "body: form")
    #expect(outcomes.first?.payment?.id == "a+1")
    #expect(try MappingTexts.outcomes("id=%FF&sum=1&currency=EUR", more: "body: form").first?.refusedReason != nil)
  }

  @Test(
    "a correctly signed body that is not strict JSON is refused",
    arguments: ["", "[", "{'id':1}", #"{"id":1,"id":2}"#, "{\"id\":\"\\ud800\"}", "id=1"])
  func unreadable(body: String) throws {
    #expect(try MappingTexts.outcomes(body).first?.refusedReason == "The body is not strict JSON.")
  }

  @Test("a row with only header conditions can ignore an unreadable body, and a row with a body condition cannot")
  func unreadableIgnored() throws {
    let kinds =
      "[{when: {/x: null}, kind: ignored}, {when: {header X-Ping: '1'}, kind: ignored, because: a ping}, {kind: received}]"
    #expect(
      try MappingTexts.outcomes("ping", kinds: kinds, headers: [("X-Ping", "1")]).first?.ignoredReason == "a ping")
    #expect(try MappingTexts.outcomes("ping", kinds: kinds).first?.refusedReason != nil)
  }

  @Test("a deeply nested body and a very long body are refused")
  func hostile() throws {
    let deep = String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000)
    #expect(try MappingTexts.outcomes(deep).first?.refusedReason != nil)
    #expect(try MappingTexts.outcomes("[" + String(repeating: "1,", count: 600_000) + "1]").first?.refusedReason != nil)
  }

  @Test("the mapping file decides the answers, and a request with an unknown key is answered with 500")
  func answers() throws {
    let endpoint = try MappingTexts.endpoint(
      MappingTexts.signed,
      more: """
        answer:
          accepted: {status: 201, type: application/json, body: '{"success": true}'}
          rejected: {status: 498}
        """)
    #expect(
      endpoint.answer(to: .accepted)
        == ProviderAnswer(status: 201, contentType: "application/json", body: #"{"success": true}"#))
    #expect(endpoint.answer(to: .rejected(ProviderRejection(.signatureInvalid, ""))).status == 498)
    #expect(endpoint.answer(to: .rejected(ProviderRejection(.keyUnknown, ""))).status == 500)
    #expect(endpoint.answer(to: .failed(status: 429)) == ProviderAnswer(status: 429))
    let plain = try MappingTexts.endpoint(MappingTexts.signed)
    #expect(plain.answer(to: .accepted).status == 200)
    #expect(plain.answer(to: .rejected(ProviderRejection(.signatureInvalid, ""))).status == 401)
  }
}
