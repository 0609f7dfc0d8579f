// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import Testing

@Suite("Other systems' words for the state of a payment are understood, or are errors")
struct PayloadStatesTests {
  private func payment(_ more: String) -> Data { Data(#"{"id":"p1","amount":"12.00","currency":"USD",\#(more)}"#.utf8) }

  private func fault(_ more: String) -> AnnouncementError? {
    do throws(AnnouncementError) {
      _ = try PayloadDecoder.payload(payment(more))
      return nil
    } catch { return error }
  }

  private static let remedy = "set kind to one of received, pending, refunded, withdrawn, failed"

  @Test(
    "a payment's state in another system's words is accepted only if each part means received money or is neutral",
    arguments: [
      "REFUND.SUCCESS", "payout.paid", "withdrawal.completed", "chargeback.received", "PAYMENT.PAYOUTSBATCH.SUCCESS",
      "not.paid", "pending.paid", "payment.failed.ok", "debit.ok", "not_paid", "notPaid", "not-paid", "not paid",
      "refund:success", "refund/success", "unpaid", "!paid", "pay.out", "p\u{430}id", "paid\u{200B}", "支付成功", "", " ",
      ".",
      "paid.paid.paid.paid.paid.paid.paid.paid.paid.paid.paid.paid.paid.paid",
    ])
  func contradicting(value: String) {
    for key in ["type", "status", "event_type"] {
      let fault = fault(#""\#(key)":"\#(value)""#)
      #expect(fault?.code == .fieldUnknown && fault?.remedy == Self.remedy, "\(key)")
    }
  }

  @Test(
    "a status is accepted with a warning if each part of it means received money",
    arguments: [
      "TRANSACTION.SUCCESS", "payment_intent.succeeded", "charge.succeeded", "checkout.session.completed",
      "invoice.payment_succeeded", "PAYMENT.SALE.COMPLETED", "TRADE_SUCCESS", "TRADE_FINISHED", "PaymentSucceeded",
      "order paid", "sale", "Completed",
    ])
  func agreeing(value: String) throws {
    #expect(
      try PayloadDecoder.payload(payment(#""status":"\#(value)""#)).warnings == ["status: unknown key, ignored"])
  }

  @Test(
    "the key for a state is recognised in other spellings, and with one wrong letter",
    arguments: [
      #""isrefund":true"#, #""ISREFUND":true"#, #""transactiontype":"refund""#, #""paymentstatus":"failed""#,
      #""statuS":"failed""#, #"" status":"failed""#, #""status ":"failed""#, #""stauts":"failed""#,
      #""statu":"failed""#, #""staatus":"failed""#, #""tpye":"refund""#, #""t\u0443pe":"refund""#,
      #""payment.status":"failed""#, #""@type":"Refund""#, #""'status'":"failed""#, #""Payment Status":"failed""#,
      #""s_t_a_t_u_s":"failed""#, #""type_":"refund""#,
    ])
  func spellings(more: String) {
    let fault = fault(more)
    #expect(fault?.code == .fieldUnknown && fault?.remedy == Self.remedy)
  }

  @Test(
    "keys of payment services that mean a refund, or that no money was received, are errors",
    arguments: [
      #""trade_state":"REFUND""#, #""trade_status":"TRADE_CLOSED""#, #""refund_status":"SUCCESS""#,
      #""order_status":"cancelled""#, #""txn_type":"refund""#, #""event_code":"REFUND""#, #""object":"refund""#,
      #""object":"payout""#, #""object":"dispute""#, #""object":"charge_back""#, #""object":"PAYOUTSBATCH""#,
      #""amount_refunded":1200"#, #""amount_refunded":"0.50""#, #""refund_id":"r1""#, #""refunds":[{"id":"r1"}]"#,
      #""paid":false"#, #""paid":0"#, #""paid":"FALSE""#, #""success":false"#, #""captured":false"#,
      #""is_paid":false"#, #""isPaid":"no""#, #""void":true"#, #""reverse":true"#, #""debit":true"#,
    ])
  func services(more: String) {
    let fault = fault(more)
    #expect(fault?.code == .fieldUnknown && fault?.remedy == Self.remedy)
  }

  @Test(
    "keys of payment services are accepted if their values mean that money was received",
    arguments: [
      #""trade_state":"SUCCESS""#, #""trade_status":"TRADE_SUCCESS""#, #""order_status":"paid""#,
      #""refund_status":"none""#, #""object":"charge""#, #""object":{"a":1}"#, #""amount_refunded":0"#,
      #""amount_refunded":"0.00""#, #""refund_id":"""#, #""refunds":[]"#, #""paid":true"#, #""paid":"TRUE""#,
      #""success":"yes""#, #""captured":1"#, #""void":false"#, #""debit":"No""#,
    ])
  func servicesAgree(more: String) { #expect(fault(more) == nil) }

  @Test(
    "a misspelling of the key 'kind', also with added signs or words, is an error that recommends 'kind'",
    arguments: [
      "k.i.n.d", "k i n d", "'kind", "k'n'i'd", "kn_id", "payment_kind", "paymentKind", "transaction_kind",
      "paymentkind", "kind_of_payment", "Payment Kind", "k" + String(repeating: "_", count: 100) + "ind",
      "kind" + String(repeating: "~", count: 10_000), String(repeating: "x", count: 100) + "_kind",
    ])
  func kinds(key: String) {
    let fault = fault(#""\#(key)":"refunded""#)
    #expect(fault?.code == .fieldUnknown && fault?.remedy.contains("kind") == true)
  }

  @Test("if 'kind' is given, contradicting keys of other systems cause only warnings")
  func kindAlone() throws {
    #expect(
      try PayloadDecoder.payload(payment(#""kind":"refunded","payment_kind":"sale","paid":false"#)).warnings.count == 2)
  }

  @Test(
    "a payload key that looks like another key, or contains an invisible character, is an error",
    arguments: [
      "\u{43A}\u{456}nd", "ｋｉｎｄ", "k\u{200B}i\u{200B}n\u{200B}d", "k\u{131}Nd", "k\u{AD}ind", "описание", "备注",
      "memo\u{FEFF}",
      "memo\\u0001", "memo\\u007f", "stat\u{200B}us", "s\u{200B}tat\u{200B}us",
      String(repeating: "x", count: 100) + "é",
      "e" + String(repeating: "\u{301}", count: 10_000),
    ])
  func notPlain(key: String) throws {
    let fault = fault(#""\#(key)":"refunded""#)
    #expect(fault?.code == .fieldUnknown)
    #expect(fault?.subject.unicodeScalars.count ?? 0 <= 41)
    let own = Data(#"{"aps":{"alert":"x","\#(key)":1},"\#(key)":1}"#.utf8)
    #expect(try PayloadDecoder.payload(own).warnings.count == 1, "keys beside aps belong to the app")
  }
}
