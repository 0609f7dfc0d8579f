// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import TestSupport
import Testing

@Suite("A row of a list becomes an announcement")
struct PayloadRowTests {
  private func payment(_ row: PayloadRow) throws -> Payment {
    guard case .payment(let payment) = try row.announcement.get() else { throw Missing(what: "a payment") }
    return payment
  }

  private func fault(_ row: PayloadRow) -> AnnouncementError? {
    if case .failure(let error) = row.announcement { error } else { nil }
  }

  @Test("the cells of a row become the fields of a payment, with every digit of the amount")
  func cells() throws {
    let row = PayloadDecoder.row(cells: [
      "id": "7", "amount": "9999999999999.99", "currency": "CNY", "kind": "refunded", "channel": "alipay",
      "payer": "张三", "note": "", "locale": "zh-CN", "sequence": "42", "occurred_at": "2026-11-20T20:23:58Z",
    ])
    #expect(row.id == "7")
    let payment = try payment(row)
    #expect(payment.id == "7")
    #expect(payment.amount.minorUnits == 999_999_999_999_999)
    #expect(payment.kind == .refunded)
    #expect(payment.note == nil)
    #expect(payment.sequence == 42)
    #expect(payment.occurredAt == Date(timeIntervalSince1970: 1_795_206_238))
  }

  @Test("a payment in a list needs no id, and its amount may be in minor units")
  func withoutID() throws {
    let row = PayloadDecoder.row(cells: ["id": "", "minor": "1250", "currency": "CNY", "amount": "", "text": ""])
    #expect(row.id == nil)
    #expect(try payment(row).amount == (try Books.money("12.50", "CNY")))
    let line = PayloadDecoder.row(json: Data(#"{"payment": {"amount": 12.50, "currency": "CNY"}}"#.utf8))
    #expect(try payment(line).amount == (try Books.money("12.50", "CNY")))
  }

  @Test(
    "each line of a list in JSON lines is a payload or a text",
    arguments: [
      (#"{"text": "Hello", "locale": "en-US"}"#, Announcement.text("Hello", locale: "en-US")),
      (#"{"text": "Hello", "amount": null, "unknown": 1}"#, .text("Hello", locale: nil)),
      (#"{"aps": {"alert": "Paid"}}"#, .text("Paid", locale: nil)),
    ])
  func json(line: String, expected: Announcement) throws {
    #expect(try PayloadDecoder.row(json: Data(line.utf8)).announcement.get() == expected)
  }

  @Test(
    "an invalid cell is an error that names its column and its shape",
    arguments: [
      (["amount": "1e2", "currency": "CNY"], AnnouncementError.Code.fieldInvalid, "amount"),
      (["amount": "12.505", "currency": "CNY"], .fieldInvalid, "amount"),
      (["amount": "-5", "currency": "CNY"], .fieldInvalid, "amount"),
      (["minor": "-5", "currency": "CNY"], .fieldInvalid, "minor"),
      (["minor": "12.5", "currency": "CNY"], .fieldInvalid, "minor"),
      (["minor": "+5", "currency": "CNY"], .fieldInvalid, "minor"),
      (["minor": "9223372036854775808", "currency": "CNY"], .fieldInvalid, "minor"),
      (["minor": "5", "sequence": "x", "currency": "CNY"], .fieldInvalid, "sequence"),
      (["amount": "5", "currency": ""], .fieldMissing, "currency"),
      (["amount": "", "currency": "CNY"], .fieldMissing, "amount"),
      (["amount": "5", "minor": "500", "currency": "CNY"], .fieldsConflict, "amount and minor"),
      (["amount": "5", "currency": "CNY", "text": "Hello"], .fieldsConflict, "text and amount"),
      (["minor": "5", "currency": "CNY", "text": "Hello"], .fieldsConflict, "text and minor"),
      (["text": ""], .nothingToSay, "text"), (["text": "  "], .nothingToSay, "text"),
      (["amount": "5", "currency": "CNY", "kind": "given"], .fieldInvalid, "kind"),
      (["amount": "5", "currency": "CNY", "payer": String(repeating: "x", count: 81)], .fieldInvalid, "payer"),
      (["text": String(repeating: "x", count: 2_001)], .fieldInvalid, "text"),
    ])
  func wrongCells(cells: [String: String], code: AnnouncementError.Code, subject: String) throws {
    let row = PayloadDecoder.row(cells: cells.merging(["id": "7"]) { old, _ in old })
    let error = try fault(row).orThrow("a fault")
    #expect(error.code == code)
    #expect(error.subject == subject)
    #expect(row.id == "7")
  }

  @Test(
    "an invalid line of a list gives the same error as a payload, and keeps its id if the id can be read",
    arguments: [
      (#"{"id": "7", "text": "Hello", "amount": "5", "currency": "CNY"}"#, .fieldsConflict, "7"),
      (#"{"text": "Hello", "payment": {"id": "7"}}"#, .fieldsConflict, "7"),
      (#"{"id": "x", "payment": {"id": "7", "amount": 0, "currency": "CNY"}}"#, .fieldInvalid, "7"),
      (#"{"id": 7, "amount": "5", "currency": "CNY"}"#, .fieldInvalid, nil),
      (#"{"text": 5}"#, .fieldInvalid, nil), (#"{"text": ""}"#, .nothingToSay, nil),
      ("[1]", .payloadMalformed, nil), ("{", .payloadMalformed, nil),
      (#"{"amount": 1, "amount": 2, "currency": "CNY"}"#, .payloadMalformed, nil),
    ] as [(String, AnnouncementError.Code, String?)])
  func wrongLines(line: String, code: AnnouncementError.Code, id: String?) throws {
    let row = PayloadDecoder.row(json: Data(line.utf8))
    #expect(try fault(row).orThrow("a fault").code == code)
    #expect(row.id == id)
  }

  @Test("a payload outside a list still needs its id")
  func payloadNeedsID() {
    #expect(throws: AnnouncementError.self) {
      try PayloadDecoder.decode(Data(#"{"amount": "5", "currency": "CNY"}"#.utf8))
    }
  }
}
