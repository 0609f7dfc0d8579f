// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import TestSupport
import Testing

@Suite("A payload becomes an announcement")
struct PayloadDecoderTests {
  private func decode(_ json: String) throws -> Announcement { try PayloadDecoder.decode(Data(json.utf8)) }

  private func payment(_ json: String) throws -> Payment {
    guard case .payment(let payment) = try decode(json) else { throw Missing(what: "a payment") }
    return payment
  }

  private func fault(_ json: String) -> AnnouncementError? {
    do {
      _ = try decode(json)
      return nil
    } catch { return error as? AnnouncementError }
  }

  @Test("a payment at the top level may have all of a payment's fields")
  func barePayment() throws {
    let payment = try payment(
      """
      {"id": "20261120", "amount": "12.50", "currency": "CNY", "kind": "refunded", "channel": "alipay", "payer": "张三",
       "note": "午餐", "locale": "zh-CN", "sequence": 42, "occurred_at": "2026-11-20T20:23:58Z", "unknown": [1, {"a": 2}]}
      """)
    #expect(payment.id == "20261120")
    #expect(payment.amount == (try Books.money("12.50", "CNY")))
    #expect(payment.kind == .refunded)
    #expect(payment.channel == "alipay")
    #expect(payment.payer == "张三")
    #expect(payment.note == "午餐")
    #expect(payment.locale == "zh-CN")
    #expect(payment.sequence == 42)
    #expect(payment.occurredAt == Date(timeIntervalSince1970: 1_795_206_238))
  }

  @Test("a payment inside an APNs payload takes precedence over the alert")
  func paymentInAPNs() throws {
    let payment = try payment(
      #"{"aps": {"alert": "hello", "mutable-content": 1}, "payment": {"id": "1", "minor": 1250, "currency": "JPY"}}"#)
    #expect(payment.amount == (try Books.money("1250", "JPY")))
    #expect(payment.kind == .received)
  }

  @Test(
    "an APNs payload without a payment has its alert spoken",
    arguments: [
      (#"{"aps": {"alert": "Paid"}}"#, "Paid"), (#"{"aps": {"alert": {"body": "Paid"}}}"#, "Paid"),
      (#"{"aps": {"alert": {"title": "Shop", "body": "Paid"}}}"#, "Shop. Paid"),
    ])
  func alert(json: String, text: String) throws {
    #expect(try decode(json) == .text(text, locale: nil))
  }

  @Test("a number in a payload is read from its decimal digits", arguments: ["12.5", "12.50", "1.25e1", "1250e-2"])
  func numbers(number: String) throws {
    #expect(try payment(#"{"id": "1", "amount": \#(number), "currency": "CNY"}"#).amount.minorUnits == 1250)
  }

  @Test("a null in a payload counts as absent")
  func null() throws {
    #expect(try payment(#"{"id": "1", "amount": "1", "currency": "CNY", "payer": null, "minor": null}"#).payer == nil)
  }

  @Test(
    "an error of a payload names the field, the shape of its value, and a correct value",
    arguments: [
      (#"{}"#, "id: is missing; give an id that is unique in the account."),
      (#"{"id": 7, "amount": "1", "currency": "CNY"}"#, "id: is a number; give a string."),
      (
        #"{"id": "1", "currency": "CNY"}"#,
        "amount: is missing; give amount as a decimal string, or minor as a whole number of minor units."
      ),
      (
        #"{"id": "1", "amount": "1", "minor": 100, "currency": "CNY"}"#,
        "amount and minor: are both given; give one of them."
      ),
      (
        #"{"id": "1", "amount": true, "currency": "CNY"}"#,
        #"amount: is true or false; give a decimal string such as "12.50", or a number."#
      ),
      (
        #"{"id": "1", "amount": -3, "currency": "CNY"}"#,
        "amount: is negative; give the sum paid as a number above zero; set kind to the direction of the payment."
      ),
      (
        #"{"id": "1", "minor": 1.5, "currency": "CNY"}"#,
        "minor: is a number; give a whole number below 2^63, without quotation marks."
      ),
      (
        #"{"id": "\u202eabc", "amount": "1", "currency": "USD"}"#,
        "id: holds invisible characters; use printable characters only."
      ),
      (
        #"{"id": "a\u200b", "amount": "1", "currency": "USD"}"#,
        "id: holds invisible characters; use printable characters only."
      ),
      (
        #"{"id": "1", "amount": "1", "currency": "usd"}"#,
        "currency: is not an active ISO 4217 code; did you mean USD?"
      ),
      (
        #"{"id": "1", "amount": "1", "currency": "CLF"}"#,
        "currency: is the ISO 4217 code of a fund, a metal or another unit that no shop receives; "
          + "give the currency in which the payer paid, such as CNY, USD or INR."
      ),
      (
        #"{"payment": {"id": "1", "amount": "1", "currency": "yuan"}}"#,
        "payment.currency: is not an active ISO 4217 code; give three upper-case letters, such as CNY, USD or INR."
      ),
      (
        #"{"id": "1", "amount": "1", "currency": "CNY", "kind": "paid"}"#,
        "kind: is not a kind of payment; give one of received, pending, refunded, withdrawn, failed."
      ),
      (
        #"{"id": "1", "amount": "1", "currency": "CNY", "occurred_at": "yesterday"}"#,
        "occurred_at: is not a time; write an RFC 3339 time such as 2026-11-20T20:23:58Z."
      ),
      (#"{"payment": []}"#, "payment: is an array; give an object with id, amount and currency."),
      (#"[1]"#, "payload: is an array; send one JSON object: a payment, or an APNs payload."),
      (
        #"{"aps": {}}"#,
        "aps.alert: has no text and there is no payment; send the key payment, or an alert with a body."
      ),
      ("", "payload: is empty; send one JSON object: a payment, or an APNs payload."),
      (
        "{",
        "payload: is not valid JSON (RFC 8259): the text ends too early; send one JSON object: a payment, or an APNs payload."
      ),
    ])
  func errors(json: String, description: String) {
    #expect(fault(json)?.description == description)
  }

  @Test("names and notes have a maximum length, and the error for a longer text does not contain the text")
  func limits() {
    let long = String(repeating: "x", count: 201)
    #expect(
      fault(#"{"id": "1", "amount": "1", "currency": "CNY", "note": "\#(long)"}"#)?.description
        == "note: is a string of 201 characters; give at most 200 characters.")
    #expect(
      fault(#"{"id": "1", "amount": "1", "currency": "CNY", "payer": "\#(long.dropLast(120))"}"#)?.description
        == "payer: is a string of 81 characters; give at most 80 characters.")
  }

  @Test("a repeated key in a payload is refused, because JSON readers differ in which value they use")
  func duplicateKeys() {
    #expect(fault(#"{"id": "1", "amount": "1.00", "amount": "100.00", "currency": "CNY"}"#)?.subject == "amount")
    #expect(fault(#"{"payment": {"id": "1", "id": "2", "amount": "1", "currency": "CNY"}}"#)?.subject == "id")
    // An escape is another spelling of the same key.
    #expect(
      fault(#"{"id": "1", "amount": "1.00", "\u0061mount": "100.00", "currency": "CNY"}"#)?.subject == "amount")
    // The same key in two objects is valid.
    #expect(fault(#"{"a": {"id": 1}, "id": "1", "amount": "1", "currency": "CNY"}"#) == nil)
  }

  @Test("a number that a JSON decoder would round is refused")
  func overlongNumber() {
    let number = "1." + String(repeating: "0", count: 44) + "1"
    #expect(fault(#"{"id": "1", "amount": \#(number), "currency": "CNY"}"#)?.code == .payloadMalformed)
  }

  @Test(
    "only payloads in UTF-8 are accepted, so that every check sees the text that the decoder reads",
    arguments: [String.Encoding.utf16, .utf16LittleEndian, .utf32])
  func encodings(encoding: String.Encoding) throws {
    let json = #"{"id": "1", "amount": "1.00", "currency": "CNY"}"#
    let error = #expect(throws: AnnouncementError.self) {
      try PayloadDecoder.decode(try json.data(using: encoding).orThrow("encodes"))
    }
    #expect(error?.problem == "is not JSON in UTF-8")
  }

  @Test("the size and the nesting of a payload are limited")
  func size() {
    let padding = String(repeating: " ", count: 64 * 1024)
    #expect(fault(padding + #"{"id": "1"}"#)?.code == .payloadTooLarge)
    #expect(fault(String(repeating: "[", count: 60_000))?.code == .payloadMalformed)
    #expect(
      fault(#"{"a":"# + String(repeating: "[", count: 15) + String(repeating: "]", count: 15) + #","id":"1"}"#)?.code
        == .fieldMissing)
  }

  @Test(
    "JSON is checked strictly by RFC 8259, so that text that only some readers accept is refused",
    arguments: [
      (#","a":1,"#, "a comma before a closing bracket"), (#","a":[1,]"#, "a comma before a closing bracket"),
      (#","a":[,1]"#, "a value is missing"), (#",,"a":1"#, "a key in quotation marks"), (#","a":01"#, "a leading zero"),
      (#","a":-01"#, "a leading zero"), (#","a":1."#, "lacks a digit"), (#","a":.5"#, "a value is missing"),
      (#","a":+1"#, "a value is missing"), (#","a":1e"#, "lacks a digit"), (#","a":1e+"#, "lacks a digit"),
      (#","a":-"#, "lacks a digit"), (#","a":0x1F"#, "a comma or a closing bracket"),
      (#","a":NaN"#, "a value is missing"),
      (#","a":Infinity"#, "a value is missing"), (#","a":-Infinity"#, "lacks a digit"),
      (#","a":True"#, "a value is missing"),
      (#","a":nul"#, "a value is missing"), (#","a":nulls"#, "a comma or a closing bracket"),
      (#","a":'b'"#, "a value is missing"),
      (#",'a':1"#, "a key in quotation marks"), (#",a:1"#, "a key in quotation marks"),
      (#","a" 1"#, "the colon after a key"),
      (#","a":1 "b":2"#, "a comma or a closing bracket"), (#","a":[1 2]"#, "a comma or a closing bracket"),
      (#","a":1 /* b */"#, "a comma or a closing bracket"), (#","a":1 // b"#, "a comma or a closing bracket"),
      (#","a":"\x41""#, "an escape is not valid"), (#","a":"\u00g0""#, "an escape is not valid"),
      (#","a":"\u12""#, "an escape is not valid"), (#","a":"\ud83d""#, "half of a surrogate pair"),
      (#","a":"\ude00""#, "half of a surrogate pair"), (#","a":"\ud83d\u0041""#, "half of a surrogate pair"),
      (#","\ud83d":1"#, "half of a surrogate pair"), (",\"a\":\"\t\"", "a control character"),
      (",\"a\":\"\n\"", "a control character"), (",\"a\":1\u{0B}", "a comma or a closing bracket"),
      (",\"a\":1\u{A0}", "a comma or a closing bracket"), (#","a":1}"#, "more text after the value"),
      (#"}{"a":1"#, "more text after the value"), (#"},"#, "more text after the value"),
      (#","a":"b"#, "a control character"), (#","a":[1}"#, "a comma or a closing bracket"),
      (#","a":{"b":1]"#, "a comma or a closing bracket"),
    ])
  func strictness(rest: String, reason: String) {
    let error = fault(#"{"id":"1","amount":"1","currency":"CNY"\#(rest)}"# + "\n")
    #expect(error?.code == .payloadMalformed)
    #expect(error?.problem.contains(reason) == true, "\(error?.problem ?? "no error")")
    let line = PayloadDecoder.row(json: Data((#"{"text":"a"\#(rest)}"# + "\n").utf8))
    #expect(throws: AnnouncementError.self, "as a line of a list") { try line.announcement.get() }
  }

  @Test(
    "an error of JSON names the line and the column, or only the column if the text has one line",
    arguments: [
      (#"{"amount":"1.00", "currency" "USD"}"#, "column 30"), ("{\n  \"id\": 1,\n  amount: 2\n}", "line 3, column 3"),
      ("{\"payer\":\"张三\" 1}", "column 15"), ("{\"a\":1}\n\n  x", "line 3, column 3"), ("x\n", "line 1, column 1"),
    ])
  func places(json: String, place: String) {
    #expect(fault(json)?.problem.hasSuffix(" at \(place)") == true, "\(fault(json)?.problem ?? "no error")")
  }

  @Test("a byte order mark is refused, and the error for an incomplete text says that the text ends too early")
  func ends() {
    let good = #"{"id":"1","amount":"1","currency":"CNY"}"#
    #expect(fault("\u{FEFF}\(good)")?.problem.contains("byte order mark") == true)
    for count in 1..<good.utf8.count {
      let problem = fault(String(good.prefix(count)))?.problem
      #expect(problem == "is not valid JSON (RFC 8259): the text ends too early", "\(count)")
    }
  }

  @Test("everything that RFC 8259 permits is accepted: blanks, escapes, surrogate pairs, numbers, nesting")
  func allowed() throws {
    let more = #" , "a" : [ ] , "b" : { } , "c" : [ -0 , 0.5e+10 , 1E-2 , true , false , null , [ { } ] ] "#
    let escapes = #","d":"\"\\\/\b\f\n\r\t\u0041\uD83D\uDE00😀","\u0065":1"#
    let payment = try payment("\r\n\t {\"id\":\"1\",\"amount\":\"1\",\"currency\":\"CNY\"\(more)\(escapes)} \n")
    #expect(payment.id == "1")
  }

  @Test("no input of the payload decoder causes a trap")
  func mutations() {
    var random = SplitMix64(seed: 7)
    let good = Array(
      #"{"aps":{"alert":{"title":"a","body":"\u00e9\"b"}},"payment":{"id":"1","amount":12.5,"currency":"CNY"}}"#.utf8)
    var failures = 0
    for _ in 0..<3_000 {
      var bytes = good
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        let index = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0...2, using: &random) {
        case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: index)
        default: bytes.insert(bytes[Int.random(in: 0..<bytes.count, using: &random)], at: index)
        }
      }
      do {
        _ = try PayloadDecoder.decode(Data(bytes))
      } catch {
        failures += 1
        #expect(!error.description.isEmpty)
      }
    }
    #expect(failures > 1_000)
  }
}
