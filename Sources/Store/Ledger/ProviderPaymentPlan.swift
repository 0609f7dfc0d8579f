// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// The outcomes of the reports in one request of a provider. The user of this value reads and stores the identities.
package struct ProviderPaymentPlan: Sendable {
  /// An identity that is to be stored.
  package struct Claim: Sendable, Hashable {
    package var id: Data
    package var sum: Data
    package var until: Int64?
  }

  /// The outcomes of the reports, in the order of the reports.
  package private(set) var acceptances: [Ledger.ProviderAcceptance] = []
  package private(set) var claims: [Claim] = []
  /// The payments that are to be stored, in the order of their reports.
  package private(set) var rows: [Ledger.NewProviderPayment] = []

  /// Returns the ids of all identities on which a decision may depend.
  package static func idsToLookUp(_ new: [Ledger.NewProviderPayment]) -> [Data] {
    new.compactMap(\.identity).flatMap { [$0.id, $0.idOfOtherSum, $0.success].compactMap(\.self) }
  }

  /// Returns the number of bytes that reports hold in memory while they wait, roughly.
  package static func cost(of new: [Ledger.NewProviderPayment]) -> Int {
    new.reduce(256) { $0 + 256 + ($1.payload?.count ?? 0) }
  }

  /// - Parameter known: The sums of stored identities, by their ids.
  package init(_ new: [Ledger.NewProviderPayment], known: [Data: Data]) {
    var known = known
    for report in new {
      var report = report
      var acceptance: Ledger.ProviderAcceptance =
        report.payload != nil ? .accepted : report.refusal == nil ? .late : .refused
      if let identity = report.identity {
        let sum = known[identity.id]
        var id = identity.id
        if sum == identity.sum {
          acceptances.append(.duplicate)
          continue
        }
        if let success = identity.success, known[success] != nil {
          acceptances.append(.afterSuccess)
          continue
        }
        if sum != nil {
          (acceptance, report.refusal, report.payload) = (.otherSum, Ledger.otherSum, nil)
          id = identity.idOfOtherSum
          if known[id] != nil {
            acceptances.append(.duplicate)
            continue
          }
        }
        known[id] = identity.sum
        claims.append(Claim(id: id, sum: identity.sum, until: identity.until?.wholeMilliseconds))
      }
      rows.append(report)
      acceptances.append(acceptance)
    }
  }
}
