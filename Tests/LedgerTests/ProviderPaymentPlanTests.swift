// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import Testing

@Suite("Plans for reports of providers")
struct ProviderPaymentPlanTests {
  private func bytes(_ number: UInt8, _ count: Int) -> Data { Data(repeating: number, count: count) }

  private func report(
    _ id: UInt8, sum: UInt8 = 1, success: UInt8? = nil, payload: String? = "{}"
  ) -> Ledger.NewProviderPayment {
    var report = Ledger.NewProviderPayment(account: "shop", endpoint: "till")
    report.identity = Ledger.NewProviderPayment.Identity(
      id: bytes(id, 16), sum: bytes(sum, 8), success: success.map { bytes($0, 16) })
    report.payload = payload.map { Data($0.utf8) }
    return report
  }

  @Test("the first report of a payment is stored, and its repetition in the same request is a duplicate")
  func repetition() {
    let plan = ProviderPaymentPlan([report(1), report(2), report(1)], known: [:])
    #expect(plan.acceptances == [.accepted, .accepted, .duplicate])
    #expect(plan.rows.count == 2 && plan.claims.map(\.id) == [bytes(1, 16), bytes(2, 16)])
    #expect(ProviderPaymentPlan([report(1)], known: [bytes(1, 16): bytes(1, 8)]).acceptances == [.duplicate])
  }

  @Test("a report with another sum is stored once as refused, without its announcement")
  func otherSum() {
    let known = [bytes(1, 16): bytes(1, 8)]
    let plan = ProviderPaymentPlan([report(1, sum: 2), report(1, sum: 2)], known: known)
    #expect(plan.acceptances == [.otherSum, .duplicate])
    #expect(plan.rows.map(\.refusal) == [Ledger.otherSum] && plan.rows.map(\.payload) == [nil])
    #expect(plan.claims.map(\.id) == [bytes(3, 16)])
    #expect(Set(ProviderPaymentPlan.idsToLookUp([report(1, sum: 2)])) == [bytes(1, 16), bytes(3, 16)])
  }

  @Test("a pending payment that has succeeded before is not stored")
  func afterSuccess() {
    let pending = report(5, success: 1)
    #expect(ProviderPaymentPlan([report(1), pending], known: [:]).acceptances == [.accepted, .afterSuccess])
    #expect(ProviderPaymentPlan([pending, report(1)], known: [:]).acceptances == [.accepted, .accepted])
    #expect(ProviderPaymentPlan.idsToLookUp([pending]).contains(bytes(1, 16)))
  }

  @Test("a report without an identity is stored each time it comes")
  func noIdentity() {
    let refused = Ledger.NewProviderPayment(account: "shop", endpoint: "till", refusal: "unreadable")
    let late = Ledger.NewProviderPayment(account: "shop", endpoint: "till")
    let plan = ProviderPaymentPlan([refused, refused, late], known: [:])
    #expect(plan.acceptances == [.refused, .refused, .late] && plan.rows.count == 3 && plan.claims.isEmpty)
  }
}
