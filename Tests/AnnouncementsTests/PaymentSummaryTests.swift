// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import TestSupport
import Testing

@Suite("Several payments become a summary")
struct PaymentSummaryTests {
  private func payment(
    _ amount: String, _ code: String = "CNY", kind: Payment.Kind = .received, locale: String? = nil
  ) throws -> Payment {
    Payment(amount: try Books.money(amount, code), kind: kind, locale: locale)
  }

  private func read(_ json: String) throws -> PaymentSummary { try PaymentSummary(json: Data(json.utf8)) }

  @Test("the amounts of a summary's payments are added exactly")
  func sum() throws {
    let summary = PaymentSummary(of: try ["12.50", "0.01", "19.99", "5", "20"].map { try payment($0) })
    #expect(summary?.totals == [try PaymentSummary.Total(count: 5, amount: Books.money("57.50", "CNY"))])
  }

  @Test("a summary adds each currency separately, in the order in which the currencies first occur")
  func currencies() throws {
    let summary = PaymentSummary(
      of: [try payment("5", "USD"), try payment("500", "JPY"), try payment("1", "CNY"), try payment("7", "USD")])
    #expect(
      summary?.totals == [
        try PaymentSummary.Total(count: 2, amount: Books.money("12", "USD")),
        try PaymentSummary.Total(count: 1, amount: Books.money("500", "JPY")),
        try PaymentSummary.Total(count: 1, amount: Books.money("1", "CNY")),
      ])
  }

  @Test(
    "a summary has the most frequent locale of its payments, and the earliest of equally frequent locales",
    arguments: [
      (["zh-CN", "en-US", "en-US"], "en-US"), (["zh-CN", "en-US"], "zh-CN"), (["en-US", "zh-CN"], "en-US"),
      ([nil, nil, "en-US"], nil), ([nil, "en-US"], nil), (["en-US", nil], "en-US"), ([nil, "ja-JP", "ja-JP"], "ja-JP"),
    ] as [([String?], String?)])
  func locale(locales: [String?], expected: String?) throws {
    let summary = PaymentSummary(of: try locales.map { try payment("1", locale: $0) })
    #expect(summary != nil && summary?.locale == expected)
    #expect(summary.map { Announcement.summary($0).locale } == .some(expected))
  }

  @Test("no payments give no summary, and one payment gives a summary")
  func tooFew() throws {
    #expect(PaymentSummary(of: []) == nil)
    #expect(PaymentSummary(of: [try payment("5")])?.totals.map(\.count) == [1])
  }

  @Test(
    "a payment that was not received is not counted in a summary",
    arguments: [Payment.Kind.pending, .refunded, .withdrawn, .failed])
  func otherKinds(kind: Payment.Kind) throws {
    #expect(PaymentSummary(of: [try payment("5"), try payment("5"), try payment("5", kind: kind)]) == nil)
  }

  @Test("a summary is not made if its total is too large to be spoken, and is made for the largest total")
  func tooLarge() throws {
    let largest = "\(Money.largestMajorUnits)"
    #expect(PaymentSummary(of: [try payment(largest), try payment("1")]) == nil)
    let nearly = PaymentSummary(of: [try payment("9999999999998.99"), try payment("1")])
    #expect(nearly?.totals.map(\.amount.decimalText) == ["9999999999999.99"])
  }

  @Test("a summary is not made if its total exceeds 64 bits")
  func overflow() throws {
    // Each payment is 9,999,999,999,999,999 minor units of three digits, and 923 of them exceed 2^63.
    let payments = try Array(repeating: payment("9999999999999.999", "KWD"), count: 1_000)
    #expect(PaymentSummary(of: payments) == nil)
  }

  @Test("a total that cannot be spoken prevents the whole summary, including the other currencies")
  func oneTooLarge() throws {
    let largest = "\(Money.largestMajorUnits)"
    #expect(PaymentSummary(of: [try payment("5", "USD"), try payment(largest), try payment(largest)]) == nil)
  }

  @Test("the JSON of a summary has the documented form")
  func json() throws {
    let summary = try PaymentSummary(
      locale: "zh-CN", totals: [PaymentSummary.Total(count: 5, amount: Books.money("57.5", "CNY"))])
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    #expect(
      String(decoding: try encoder.encode(summary), as: UTF8.self)
        == #"{"locale":"zh-CN","totals":[{"amount":"57.50","count":5,"currency":"CNY"}]}"#)
    #expect(try read(#"{"locale":"zh-CN","totals":[{"count":5,"currency":"CNY","amount":"57.50"}]}"#) == summary)
  }

  @Test("a summary is read back from its JSON with every digit and in the same order")
  func roundTrip() throws {
    let all = try [
      PaymentSummary(
        totals: [
          PaymentSummary.Total(count: 1, amount: Books.money("0.001", "KWD")),
          PaymentSummary.Total(count: PaymentSummary.largestCount, amount: Books.money("9999999999999", "JPY")),
          PaymentSummary.Total(count: 2, amount: Books.money("9999999999999.99", "CNY")),
        ]),
      PaymentSummary(of: [payment("1", locale: "zh-CN"), payment("2", "USD")]).orThrow("a summary"),
    ]
    for summary in all {
      let json = try JSONEncoder().encode(summary)
      #expect(try PaymentSummary(json: json) == summary)
    }
  }

  @Test("unknown keys and an empty locale in a summary's JSON are ignored")
  func unknownKeys() throws {
    let summary = try read(
      #"{"locale": " ", "x": [1], "totals": [{"count": 2, "currency": "JPY", "amount": "5", "y": {}}]}"#)
    #expect(summary.locale == nil && summary.totals.count == 1)
  }

  @Test(
    "the error for an invalid summary names the field",
    arguments: [
      ("", "summary", AnnouncementError.Code.payloadMalformed), ("{", "summary", .payloadMalformed),
      ("[]", "summary", .payloadMalformed), ("null", "summary", .payloadMalformed),
      ("{}", "totals", .fieldMissing), (#"{"totals": null}"#, "totals", .fieldMissing),
      (#"{"totals": {}}"#, "totals", .fieldInvalid), (#"{"totals": "none"}"#, "totals", .fieldInvalid),
      (#"{"totals": []}"#, "totals", .fieldInvalid), (#"{"totals": [5]}"#, "totals[0]", .fieldInvalid),
      (#"{"totals": [null]}"#, "totals[0]", .fieldInvalid), (#"{"totals": [{}]}"#, "totals[0].count", .fieldMissing),
      (#"{"totals": [], "totals": []}"#, "totals", .payloadMalformed),
      (#"{"locale": 5, "totals": [{"count": 2, "currency": "JPY", "amount": "5"}]}"#, "locale", .fieldInvalid),
    ])
  func faults(json: String, subject: String, code: AnnouncementError.Code) {
    let error = #expect(throws: AnnouncementError.self) { try read(json) }
    #expect(error?.subject == subject && error?.code == code)
  }

  @Test(
    "an error in a summary's total names its place in the list",
    arguments: [
      (#""count": 0, "currency": "CNY", "amount": "5""#, "count", AnnouncementError.Code.fieldInvalid),
      (#""count": -1, "currency": "CNY", "amount": "5""#, "count", .fieldInvalid),
      (#""count": 1.5, "currency": "CNY", "amount": "5""#, "count", .fieldInvalid),
      (#""count": "5", "currency": "CNY", "amount": "5""#, "count", .fieldInvalid),
      (#""count": 10000000, "currency": "CNY", "amount": "5""#, "count", .fieldInvalid),
      (#""count": 9223372036854775807, "currency": "CNY", "amount": "5""#, "count", .fieldInvalid),
      (#""count": 5, "currency": "XXX", "amount": "5""#, "currency", .fieldInvalid),
      (#""count": 5, "currency": "cny", "amount": "5""#, "currency", .fieldInvalid),
      (#""count": 5, "amount": "5""#, "currency", .fieldMissing),
      (#""count": 5, "currency": "JPY", "amount": "5""#, "currency", .fieldInvalid),
      (#""count": 5, "currency": "CNY""#, "amount", .fieldMissing),
      (#""count": 5, "currency": "CNY", "amount": 5"#, "amount", .fieldInvalid),
      (#""count": 5, "currency": "CNY", "amount": "0.00""#, "amount", .fieldInvalid),
      (#""count": 5, "currency": "CNY", "amount": "-5""#, "amount", .fieldInvalid),
      (#""count": 5, "currency": "CNY", "amount": "５""#, "amount", .fieldInvalid),
      (#""count": 5, "currency": "CNY", "amount": "5.001""#, "amount", .fieldInvalid),
      (#""count": 5, "currency": "CNY", "amount": "10000000000000""#, "amount", .fieldInvalid),
    ])
  func totalFaults(total: String, field: String, code: AnnouncementError.Code) {
    let json = #"{"totals": [{"count": 2, "currency": "JPY", "amount": "500"}, {\#(total)}]}"#
    let error = #expect(throws: AnnouncementError.self) { try read(json) }
    #expect(error?.subject == "totals[1].\(field)" && error?.code == code)
  }

  @Test(
    "a summary that is created without JSON follows the same rules", arguments: [0, -1, Int.min, 10_000_000, Int.max])
  func byHand(count: Int) throws {
    let amount = try Books.money("5", "CNY")
    let error = #expect(throws: AnnouncementError.self) { try PaymentSummary.Total(count: count, amount: amount) }
    #expect(error?.subject == "count" && error?.code == .fieldInvalid)
    let total = try PaymentSummary.Total(count: 1, amount: amount)
    #expect(throws: AnnouncementError.self) { try PaymentSummary(totals: [total, total]) }
    #expect(throws: AnnouncementError.self) { try PaymentSummary(totals: []) }
  }
}
