// SPDX-License-Identifier: Apache-2.0

package import Foundation

extension Ledger {
  /// An implementation of ``Store``. The rules of all implementations are checked by the functions below.
  package protocol Implementation: Sendable {
    /// Returns the current time, for every time stamp that the ledger writes.
    var now: @Sendable () -> Date { get }

    /// Returns an error that names the ledger's file or server.
    func error(
      _ code: LedgerError.Code, while action: LedgerError.Action, field: String?, from: State?, to: State?
    ) -> LedgerError
  }
}

extension Ledger.Implementation {
  /// The current time in milliseconds since 1970.
  package var timeStamp: Int64 { now().wholeMilliseconds ?? 0 }

  package func error(
    _ code: LedgerError.Code, while action: LedgerError.Action, field: String? = nil
  ) -> LedgerError {
    error(code, while: action, field: field, from: nil, to: nil)
  }

  /// Throws `invalidValue` if a value breaks a rule.
  ///
  /// - Parameter rule: The rule that the value breaks; nil if it breaks no rule.
  package func refuse(_ rule: String?, while action: LedgerError.Action) throws(LedgerError) {
    if let rule { throw error(.invalidValue, while: action, field: rule) }
  }

  package func checkLane(_ lane: String, while action: LedgerError.Action) throws(LedgerError) {
    try refuse(Ledger.brokenRule(ofLane: lane), while: action)
  }

  /// Returns a date in milliseconds since 1970.
  ///
  /// - Parameter field: The name of the date in an error.
  /// - Throws: ``LedgerError`` with `invalidValue` for a date outside the calendar.
  package func milliseconds(
    _ date: Date, _ field: String, while action: LedgerError.Action
  ) throws(LedgerError) -> Int64 {
    if let milliseconds = date.wholeMilliseconds { return milliseconds }
    throw error(.invalidValue, while: action, field: "\(field) (a date that the calendar can represent)")
  }
}
