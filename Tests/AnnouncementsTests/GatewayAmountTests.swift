// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import Testing

@Suite("Whole amounts that come from a payment gateway")
struct GatewayAmountTests {
  private func fault(_ json: String) -> AnnouncementError? {
    do throws(AnnouncementError) {
      _ = try PayloadDecoder.request(Data(json.utf8))
      return nil
    } catch { return error }
  }

  private func amount(_ json: String) throws -> Money? {
    guard case .payment(let payment) = try PayloadDecoder.request(Data(json.utf8)).announcement else { return nil }
    return payment.amount
  }

  private static let marks = [
    #""object":"charge""#, #""object":"payment_intent""#, #""object":"event""#, #""object":"checkout.session""#,
    #""Object":"Charge""#, #""entity":"payment""#, #""entity":"event""#, #""entity":"order""#,
    #""event":"payment.captured""#, #""event":"charge.success""#, #""event":"order.paid""#, #""livemode":true"#,
    #""livemode":false"#, #""payment_intent":"pi_3MtwBwLkdIwHu7ix28a3tqPa""#, #""paymentIntent":{"id":"pi_1"}"#,
    #""payment_method_details":{"type":"card"}"#, #""balance_transaction":"txn_1MiN3gLkdIwHu7ixxapQrznl""#,
    #""gateway_response":"Successful""#, #""razorpay_payment_id":"pay_29QQoUBi66xm2f""#,
    #""pspReference":"7914073381342284""#,
  ]

  @Test(
    "a whole amount in a payload with a payment gateway's field is refused, and the error suggests the field 'minor'",
    arguments: marks)
  func refused(mark: String) throws {
    let money = #""amount":50000,"currency":"INR""#
    let inner = try #require(fault(#"{"id":"1",\#(money),\#(mark)}"#))
    #expect(inner.code == .fieldInvalid && inner.subject == "amount" && !inner.description.contains("50000"))
    #expect(inner.remedy == #"send this number as minor, or give amount as text such as "12.50""#)
    let outer = fault(#"{\#(mark),"payment":{"id":"1",\#(money)}}"#)
    #expect(outer?.code == .fieldInvalid && outer?.subject == "payment.amount")
    let nested = fault(#"{"payment":{"id":"1",\#(money),\#(mark)}}"#)
    #expect(nested?.code == .fieldInvalid && nested?.subject == "payment.amount")
  }

  @Test(
    "a payload with a payment gateway's field may have the field 'minor', an amount as text, or an amount with a point",
    arguments: marks)
  func exact(mark: String) throws {
    let rupees = try #require(Currency(code: "INR"))
    let expected = try Money(decimalText: "500.00", currency: rupees, field: "amount")
    for money in [#""minor":50000"#, #""amount":"500.00""#, #""amount":500.00"#] {
      #expect(try amount(#"{"id":"1",\#(money),"currency":"INR",\#(mark)}"#) == expected)
    }
  }

  @Test("a payment entity of Razorpay and a charge of Stripe are refused for their amount if they are sent unchanged")
  func whole() throws {
    // The fields of Razorpay's payment entity and of Stripe's charge, with values of our own.
    let razorpay = """
      {"id":"pay_Example0000001","entity":"payment","amount":50000,"currency":"INR","status":"captured",
       "order_id":"order_Example000001","method":"upi","amount_refunded":0,"captured":true,"vpa":"someone@upi"}
      """
    let stripe = """
      {"id":"ch_Example","object":"charge","amount":1099,"amount_captured":1099,"amount_refunded":0,"captured":true,
       "currency":"USD","livemode":false,"paid":true,"refunded":false,"status":"succeeded"}
      """
    for body in [razorpay, stripe] { #expect(fault(body)?.subject == "amount") }
  }

  /// Keys with which merchants describe their own payments.
  private static let own = [
    "", #""event":"payment""#, #""event":"payment_received""#, #""event":"sale""#, #""event":"order paid""#,
    #""event":"checkout completed""#, #""type":"sale""#, #""type":"payment.succeeded""#, #""object":"order""#,
    #""object":"till""#,
    #""entity":"shop-7""#, #""entity":"branch""#, #""status":"captured""#, #""captured":true"#, #""paid":true"#,
    #""reference":"INV-7""#, #""live":true"#, #""mode":"live""#, #""gateway":"razorpay""#, #""provider":"stripe""#,
    #""method":"upi""#, #""order_id":"8831""#, #""transaction_id":"T1""#, #""customer":{"name":"A"}"#,
    #""items":[{"sku":"1","amount":3}]"#,
  ]
  private static let sums = [#""amount":12"#, #""amount":12.5"#, #""amount":"12.50""#, #""minor":1250"#]

  @Test("a hundred combinations of an amount with a merchant's own fields are accepted", arguments: own, sums)
  func passing(more: String, sum: String) throws {
    let keys = more.isEmpty ? "" : ",\(more)"
    #expect(fault(#"{"id":"1",\#(sum),"currency":"USD"\#(keys)}"#) == nil)
  }
}
