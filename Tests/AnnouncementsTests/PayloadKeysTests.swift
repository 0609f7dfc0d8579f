// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import TestSupport
import Testing

@Suite("Unknown keys are never ignored silently")
struct PayloadKeysTests {
  /// Returns a payment with additional keys.
  private func payment(_ more: String) -> Data { Data(#"{"id":"p1","amount":"12.00","currency":"USD",\#(more)}"#.utf8) }

  private func fault(_ body: () throws(AnnouncementError) -> Void) -> AnnouncementError? {
    do throws(AnnouncementError) {
      try body()
      return nil
    } catch { return error }
  }

  /// Returns the errors for JSON as a payload, as a request, and as a line of a list.
  private func faults(_ json: Data) -> [AnnouncementError?] {
    let row: AnnouncementError? =
      if case .failure(let error) = PayloadDecoder.row(json: json).announcement { error } else { nil }
    return [
      fault { () throws(AnnouncementError) in _ = try PayloadDecoder.payload(json) },
      fault { () throws(AnnouncementError) in _ = try PayloadDecoder.request(json) }, row,
    ]
  }

  @Test(
    "a payload key that is similar to a known key is an error that names the known key",
    arguments: [
      ("Kind", "kind"), ("KIND", "kind"), ("knid", "kind"), ("kid", "kind"), ("kinds", "kind"), ("kond", "kind"),
      ("кind", "kind"), ("ID", "id"), ("Amount", "amount"), ("ammout", "amount"), ("amout", "amount"),
      ("mount", "amount"), ("curency", "currency"), ("currncey", "currency"), ("chanel", "channel"),
      ("payerReading", "payer_reading"), ("payer-reading", "payer_reading"), ("payers", "payer"), ("notes", "note"),
      ("Locale", "locale"), ("loacle", "locale"), ("seqence", "sequence"), ("occuredAt", "occurred_at"),
      ("OccurredAt", "occurred_at"), ("APS", "aps"), ("Payment", "payment"), ("paymnet", "payment"),
    ])
  func near(key: String, meant: String) {
    for fault in faults(payment(#""\#(key)":"refunded""#)) {
      #expect(fault?.code == .fieldUnknown)
      #expect(fault?.description == "\(key): is not a key; did you mean \(meant)?")
    }
  }

  @Test(
    "an unknown payload key that is similar to no known key is ignored and named in a warning",
    arguments: [
      "memo", "_id", "ref", "ids", "name", "date", "account", "count", "test", "payee", "service", "payment_id",
      "amountPaid", "merchant", "colour", "customer_name", "pid", "stage", "stats", "trade_type", "order_date",
    ])
  func unknown(key: String) throws {
    let json = payment(#""\#(key)":{"a":[1]}"#)
    let warnings = ["\(key): unknown key, ignored"]
    #expect(try PayloadDecoder.payload(json).warnings == warnings)
    #expect(try PayloadDecoder.request(json).warnings == warnings)
    #expect(PayloadDecoder.row(json: json).warnings == warnings)
    #expect(try PayloadDecoder.payload(payment(#""\#(key)":null"#)).warnings.isEmpty, "null counts as absent")
  }

  @Test("if the settings refuse unknown keys, an unknown key of a payload is an error, and known keys are accepted")
  func refused() throws {
    for json in [payment(#""memo":1"#), Data(#"{"payment":{"id":"1","amount":"1","currency":"USD","memo":1}}"#.utf8)] {
      #expect(
        fault { () throws(AnnouncementError) in _ = try PayloadDecoder.payload(json, unknownKeys: .refuse) }?.code
          == .fieldUnknown)
      #expect(
        fault { () throws(AnnouncementError) in _ = try PayloadDecoder.request(json, unknownKeys: .refuse) }?.subject
          .hasSuffix("memo") == true)
      let row = PayloadDecoder.row(json: json, unknownKeys: .refuse)
      #expect(throws: AnnouncementError.self) { try row.announcement.get() }
    }
    let request = payment(#""kind":"refunded","deliver":["clip"],"rate":160,"channel":"card","sequence":1"#)
    #expect(try PayloadDecoder.request(request, unknownKeys: .refuse).warnings.isEmpty)
    let alert = Data(#"{"aps":{"alert":"Hello","badge":1,"interruption-level":"active"},"id":"a1"}"#.utf8)
    #expect(try PayloadDecoder.request(alert, unknownKeys: .refuse).id == "a1", "keys that Apple defines are known")
  }

  @Test(
    "a payload key that other systems use for the state of a payment is an error that recommends the key 'kind'",
    arguments: [
      #""type":"refund""#, #""type":"REFUND""#, #""type":"payment.refunded""#, #""type":7"#, #""status":"failed""#,
      #""payment_status":"declined""#, #""transactionType":"withdrawal""#, #""direction":"out""#, #""event":"x""#,
      #""refund":true"#, #""refunded":"2026-11-22""#, #""is_refund":1"#, #""chargeback":{}"#, #""isRefund":"yes""#,
    ])
  func synonyms(more: String) {
    for fault in faults(payment(more))
      + faults(Data(#"{"payment":\#(String(decoding: payment(more), as: UTF8.self))}"#.utf8))
    {
      #expect(fault?.code == .fieldUnknown)
      #expect(fault?.remedy == "set kind to one of received, pending, refunded, withdrawn, failed")
    }
  }

  @Test(
    "a key for the state of a payment is accepted if the value means received money, or if 'kind' is given",
    arguments: [
      #""type":"payment""#, #""type":"payment.succeeded""#, #""status":"PAID""#, #""refunded":false"#,
      #""is_refund":0"#, #""type":"refund","kind":"refunded""#, #""status":"failed","kind":"received""#,
      #""type":null"#,
    ])
  func agreeing(more: String) throws {
    for fault in faults(payment(more)) { #expect(fault == nil) }
  }

  @Test(
    "a key beside 'payment' that reports a refund is an error, and a key beside 'aps' belongs to the app")
  func envelope() throws {
    let inner = #""payment":{"id":"1","amount":"1","currency":"USD"}"#
    for fault in faults(Data(#"{"type":"refund",\#(inner)}"#.utf8)) { #expect(fault?.code == .fieldUnknown) }
    let push = Data(#"{"aps":{"alert":"x"},"type":"refund","Kind":"chat"}"#.utf8)
    #expect(
      try PayloadDecoder.payload(push).warnings == ["Kind: unknown key, ignored", "type: unknown key, ignored"])
  }

  @Test("beside 'aps', a misspelling of the key 'payment' is an error, and every other unknown key belongs to the app")
  func besideAPNs() throws {
    for key in ["Payment", "paymet", "payments", "PAYMENT"] {
      for fault in faults(Data(#"{"aps":{"alert":"x"},"\#(key)":{"id":"1","amount":"1","currency":"USD"}}"#.utf8)) {
        #expect(fault?.description == "\(key): is not a key; did you mean payment?")
      }
    }
    let json = Data(#"{"aps":{"alert":"x","Badge":1,"custom":2},"Amount":"5","payment_id":"7","notes":1}"#.utf8)
    #expect(
      try PayloadDecoder.payload(json).warnings == [
        "Amount: unknown key, ignored", "notes: unknown key, ignored", "payment_id: unknown key, ignored",
      ])
  }

  @Test(
    "an amount, a kind or a currency beside the object 'aps' or 'payment' is a conflict",
    arguments: [
      (#"{"aps":{"alert":"x"},"amount":"5","currency":"USD","id":"1"}"#, "aps and amount"),
      (#"{"aps":{},"minor":5}"#, "aps and minor"),
      (#"{"amount":"5","payment":{"id":"1","amount":"6","currency":"USD"}}"#, "payment and amount"),
      (#"{"amount":"6","payment":{"id":"1","amount":"6","currency":"USD"}}"#, "payment and amount"),
      (#"{"minor":5,"aps":{"alert":"x"},"payment":{"id":"1","amount":"6","currency":"USD"}}"#, "payment and minor"),
      (#"{"kind":"refunded","payment":{"id":"1","amount":"6","currency":"USD"}}"#, "payment and kind"),
      (#"{"currency":"JPY","payment":{"id":"1","amount":"6","currency":"USD"}}"#, "payment and currency"),
    ])
  func conflicts(json: String, subject: String) {
    for fault in faults(Data(json.utf8)) {
      #expect(fault?.code == .fieldsConflict && fault?.subject == subject)
    }
  }

  @Test(
    "an empty value in a payload is an error",
    arguments: ["id", "currency", "kind", "channel", "payer", "payer_reading", "note", "locale", "occurred_at"])
  func empty(key: String) {
    for (value, shape) in [("", "an empty string"), (" \u{3000}\\n", "white space")] {
      var fields = ["id": "p1", "amount": "12.00", "currency": "USD"]
      fields[key] = value
      let json = "{" + fields.map { "\"\($0)\":\"\($1)\"" }.joined(separator: ",") + "}"
      for fault in faults(Data(json.utf8)) {
        #expect(fault?.code == .fieldInvalid)
        #expect(fault?.description == "\(key): is \(shape); give a value, or leave the key out if it is not required.")
      }
    }
  }

  @Test(
    "beside 'aps' and 'payment', a key that may contradict the kind is an error, and other keys belong to the app",
    arguments: [
      #""Kind":"refunded""#, #""knid":"refunded""#, #""k.i.n.d":"refunded""#, #""\u043a\u0456nd":"refunded""#,
      #""type":"refund""#, #""refunded":true"#, #""payment_kind":"refunded""#,
    ])
  func besideAPNsAndPayment(more: String) throws {
    let (start, inner) = (#"{"aps":{"alert":"x"},"#, #""payment":{"id":"1","amount":"1","currency":"USD""#)
    for fault in faults(Data(#"\#(start)\#(more),\#(inner)}}"#.utf8)) { #expect(fault?.code == .fieldUnknown) }
    let own = Data(#"\#(start)"Amount":"5","notes":1,"type":"refund",\#(inner),"kind":"refunded"}}"#.utf8)
    #expect(
      try PayloadDecoder.payload(own).warnings == [
        "Amount: unknown key, ignored", "notes: unknown key, ignored", "type: unknown key, ignored",
      ])
  }

  @Test(
    "a text together with a key of a payment is a conflict, and a text with a misspelt key of a payment is an error",
    arguments: [
      (#""kind":"refunded""#, .fieldsConflict), (#""amount":"5""#, .fieldsConflict), (#""minor":5"#, .fieldsConflict),
      (#""knid":"refunded""#, .fieldUnknown), (#""Amount":"5""#, .fieldUnknown), (#""minro":5"#, .fieldUnknown),
      (#""curency":"USD""#, .fieldUnknown), (#""k\u0456nd":"refunded""#, .fieldUnknown),
    ] as [(String, AnnouncementError.Code)])
  func besideText(more: String, code: AnnouncementError.Code) {
    for fault in faults(Data(#"{"text":"Hello","id":"1",\#(more)}"#.utf8)).dropFirst() { #expect(fault?.code == code) }
  }

  @Test("an empty text together with a payment is an error", arguments: ["", "   ", "\u{3000}"])
  func emptyText(text: String) {
    let texts = [
      payment(#""text":"\#(text)""#), Data(#"{"text":"\#(text)","aps":{"alert":"x"}}"#.utf8),
      Data(#"{"text":"\#(text)","payment":{"id":"1","amount":"1","currency":"USD"}}"#.utf8),
    ]
    for fault in texts.flatMap({ faults($0).dropFirst() }) {
      #expect(fault?.code == .fieldInvalid && fault?.subject == "text")
    }
  }

  @Test("a payload that was accepted under earlier rules is still read")
  func accepted() throws {
    let long = String(repeating: "é", count: 100)
    let json = payment(#""knid":"x","type":"refund","channel":"","payer":"\#(long)","deliver":["play"]"#)
    #expect(throws: AnnouncementError.self) { try PayloadDecoder.request(json) }
    let request = try PayloadDecoder.storedRequest(json)
    guard case .payment(let payment) = request.announcement else { throw Missing(what: "a payment") }
    #expect(payment.channel == nil && payment.payer == String(repeating: "é", count: 80))
    let text = Data(#"{"text":"Hello","kind":"refunded","\u043a":1}"#.utf8)
    #expect(try PayloadDecoder.storedRequest(text).announcement == .text("Hello", locale: nil))
    let empty = try PayloadDecoder.storedRequest(self.payment(#""text":"""#))
    #expect(empty.id == "p1")
  }

  @Test("the warnings about unknown keys name at most twenty keys, each shortened, and count the others")
  func bounded() throws {
    let many = (0..<300).map { #""k\#($0 + 1000)":1"# }.joined(separator: ",")
    let warnings = try PayloadDecoder.payload(payment(many)).warnings
    #expect(warnings.count == 21 && warnings.first == "k1000: unknown key, ignored")
    #expect(warnings.last == "280 more unknown keys, ignored")
    let long = try PayloadDecoder.payload(payment(#""\#(String(repeating: "x", count: 50_000))":1"#)).warnings
    #expect(long == ["\(String(repeating: "x", count: 40))…: unknown key, ignored"])
    let control = #"{"aps":{"alert":"x"},"a\u001b[2J\u202e\nb":1}"#
    #expect(try PayloadDecoder.payload(Data(control.utf8)).warnings == ["a?[2J??b: unknown key, ignored"])
  }
}

@Suite("Unknown columns are never ignored silently")
struct PayloadColumnsTests {
  @Test("in a list with the column 'kind', each payment needs a kind, and in other lists, payments count as received")
  func emptyKind() throws {
    let row = PayloadDecoder.row(cells: ["amount": "5", "currency": "CNY", "kind": ""])
    let error = #expect(throws: AnnouncementError.self) { try row.announcement.get() }
    #expect(error?.subject == "kind" && error?.problem == "is an empty string")
    _ = try PayloadDecoder.row(cells: ["amount": "5", "currency": "CNY"]).announcement.get()
    _ = try PayloadDecoder.row(cells: ["amount": "", "text": "Hello", "kind": ""]).announcement.get()
  }

  @Test("a cell with another system's word for a refund makes its row an error")
  func synonyms() throws {
    let refund = PayloadDecoder.row(cells: ["amount": "5", "currency": "CNY", "type": "refund"])
    #expect(throws: AnnouncementError.self) { try refund.announcement.get() }
    _ = try PayloadDecoder.row(cells: ["amount": "5", "currency": "CNY", "type": "payment"]).announcement.get()
  }

  @Test("each payment of a list with a state column needs a state, but a column that only refunds use may be empty")
  func emptyState() throws {
    for column in ["type", "status", "refunded", "paid", "payment_kind"] {
      let row = PayloadDecoder.row(cells: ["amount": "5", "currency": "CNY", column: ""])
      let error = #expect(throws: AnnouncementError.self) { try row.announcement.get() }
      #expect(error?.code == .fieldUnknown && error?.subject == column)
      _ = try PayloadDecoder.row(cells: ["amount": "", "text": "Hello", column: ""]).announcement.get()
    }
    for column in ["refund_id", "amount_refunded"] {
      _ = try PayloadDecoder.row(cells: ["amount": "5", "currency": "CNY", column: ""]).announcement.get()
      let refund = PayloadDecoder.row(cells: ["amount": "5", "currency": "CNY", column: "5"])
      #expect(throws: AnnouncementError.self) { try refund.announcement.get() }
    }
  }

  @Test("a row of a list has a text or the fields of a payment, but not both")
  func textAndKind() throws {
    let row = PayloadDecoder.row(cells: ["text": "Hello", "kind": "refunded", "currency": "CNY"])
    let error = #expect(throws: AnnouncementError.self) { try row.announcement.get() }
    #expect(error?.code == .fieldsConflict && error?.subject == "text and kind")
    let blank = PayloadDecoder.row(cells: ["text": "  ", "amount": "5", "currency": "CNY"])
    #expect(throws: AnnouncementError.self) { try blank.announcement.get() }
    _ = try PayloadDecoder.row(cells: ["text": "Hello", "kind": "", "currency": "CNY"]).announcement.get()
  }
}
