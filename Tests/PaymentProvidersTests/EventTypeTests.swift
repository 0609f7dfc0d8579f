// SPDX-License-Identifier: Apache-2.0

import Foundation
import PaymentProviders
import Testing

/// The types of events that providers are known to send, with bodies that have nothing else. Whatever an endpoint gets
/// must be answered with success if it is signed; otherwise the provider sends it again, and disables the endpoint.
@Suite("Types of events")
struct EventTypeTests {
  private static let now = Date(timeIntervalSince1970: 1_790_000_000)
  private static let secret = ProviderSecret("a-secret-of-this-test")
  private static let url = "https://shop.example/v1/providers/square/till"

  private static let stripeTypes = """
    account.updated balance.available charge.captured charge.dispute.created charge.expired charge.failed charge.pending \
    charge.refund.updated charge.refunded charge.succeeded charge.updated checkout.session.completed \
    checkout.session.expired customer.created customer.deleted customer.subscription.created \
    customer.subscription.deleted invoice.created invoice.paid invoice.payment_failed invoice.payment_succeeded \
    invoiceitem.created payment_intent.canceled payment_intent.created payment_intent.payment_failed \
    payment_intent.requires_action payment_intent.succeeded payment_method.attached payout.created payout.paid \
    price.created product.created radar.early_fraud_warning.created refund.created refund.failed refund.updated \
    setup_intent.succeeded topup.succeeded transfer.created v1.billing.meter.error_report_triggered new.in.a.later.year
    """.split(separator: " ").map(String.init)

  private static let razorpayTypes = """
    payment.authorized payment.captured payment.failed payment.dispute.created order.paid invoice.paid \
    subscription.activated subscription.charged settlement.processed virtual_account.credited qr_code.created \
    qr_code.credited payment_link.paid refund.created refund.processed refund.failed refund.speed_changed \
    transfer.processed account.suspended fund_account.validation.completed payout.processed new.in.a.later.year
    """.split(separator: " ").map(String.init)

  private static let squareTypes = """
    payment.created payment.updated refund.created refund.updated order.created order.updated invoice.created \
    customer.created catalog.version.updated inventory.count.updated labor.shift.created oauth.authorization.revoked \
    terminal.checkout.created dispute.created bank_account.created webhooks.test_notification new.in.a.later.year
    """.split(separator: " ").map(String.init)

  private static let adyenTypes = """
    AUTHORISATION CAPTURE CAPTURE_FAILED CANCELLATION CANCEL_OR_REFUND REFUND REFUND_FAILED REFUNDED_REVERSED \
    REFUND_WITH_DATA CHARGEBACK CHARGEBACK_REVERSED NOTIFICATION_OF_CHARGEBACK NOTIFICATION_OF_FRAUD REPORT_AVAILABLE \
    RECURRING_CONTRACT ORDER_OPENED ORDER_CLOSED PENDING OFFER_CLOSED AUTHORISATION_ADJUSTMENT TECHNICAL_CANCEL \
    VOID_PENDING_REFUND HANDLED_EXTERNALLY MANUAL_REVIEW_ACCEPT MANUAL_REVIEW_REJECT PREARBITRATION_WON \
    SECOND_CHARGEBACK DONATION PAYOUT_THIRDPARTY PAIDOUT_REVERSED PAYOUT_EXPIRE EXPIRE NEW_IN_A_LATER_YEAR
    """.split(separator: " ").map(String.init)

  private func expectSuccess(_ endpoint: ProviderEndpoint, _ request: ProviderRequest) {
    let judgement = endpoint.judge(request, at: Self.now)
    #expect(judgement.isVerified && judgement.payments.isEmpty, "\(judgement)")
    let answer = endpoint.answer(to: judgement.verdict)
    #expect((200...299).contains(answer.status))
  }

  @Test("each type of Stripe's events is answered with success", arguments: stripeTypes)
  func stripe(type: String) {
    let body = #"{"type":"\#(type)","object":"event","created":1790000000,"data":{"object":{}}}"#
    let headers = StripeProvider.headers(signing: Data(body.utf8), with: Self.secret, at: Self.now)
    expectSuccess(.keyed(.stripe, secrets: [Self.secret.text]), ProviderRequest(headers, body))
  }

  @Test("each type of Razorpay's events is answered with success", arguments: razorpayTypes)
  func razorpay(type: String) {
    let body = #"{"event":"\#(type)","entity":"event","created_at":1790000000,"payload":{}}"#
    let headers = RazorpayProvider.headers(signing: Data(body.utf8), with: Self.secret)
    expectSuccess(.keyed(.razorpay, secrets: [Self.secret.text]), ProviderRequest(headers, body))
  }

  @Test("each type of Square's events is answered with success", arguments: squareTypes)
  func square(type: String) {
    let body = #"{"type":"\#(type)","created_at":"2026-09-21T14:13:20Z","data":{"object":{}}}"#
    let headers = SquareProvider.headers(signing: Data(body.utf8), url: Self.url, with: Self.secret)
    let endpoint = ProviderEndpoint.keyed(.square, secrets: [Self.secret.text]) { $0.url = Self.url }
    expectSuccess(endpoint, ProviderRequest(headers, body))
  }

  @Test("each event code of Adyen's items is answered with success", arguments: adyenTypes)
  func adyen(code: String) {
    var item = AdyenWebhook.Item()
    (item.event, item.value) = (code, "0")
    expectSuccess(AdyenWebhook.endpoint(), AdyenWebhook.request([item.json()]))
  }
}
