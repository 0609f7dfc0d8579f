// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension Ledger {
  /// A phone's statement that it handed the notification of an announcement over to iOS.
  public struct Receipt: Sendable, Hashable {
    /// The announcement's id.
    public var announcement: String
    /// The time by the phone's clock.
    public var at: Date

    public init(announcement: String, at: Date) {
      (self.announcement, self.at) = (announcement, at)
    }

    /// Returns the rule that the receipts of a call break; nil if they break no rule.
    package static func brokenRule(of receipts: [Receipt]) -> String? {
      receipts.count <= mostReceipts && receipts.allSatisfy { $0.at.wholeMilliseconds != nil }
        ? nil : "receipts (at most \(mostReceipts))"
    }
  }

  /// The largest number of receipts in a call.
  public static let mostReceipts = 200
}
