// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension Ledger {
  /// The reason why a report is refused if its sum differs from the sum that was reported before.
  public static let otherSum =
    "The payment was reported before with another sum. Compare both with the provider's dashboard."

  /// A payment that a provider's webhook has reported, or a report that could not be understood.
  public struct ProviderPayment: Sendable, Hashable {
    public enum State: String, Sendable, Hashable, CaseIterable {
      /// The payment is to be announced.
      case waiting
      case announced
      /// The payment was too old to be spoken when it was reported.
      case late
      /// The payment cannot be announced.
      case refused
    }

    /// The number, which rises by one with each report.
    public var number: Int64
    public var account: String
    /// The id of the endpoint in `providers.yaml`.
    public var endpoint: String
    /// The provider's id of the payment; nil for a report that could not be understood. The next three properties are
    /// nil then too.
    public var id: String?
    public var kind: String?
    public var amount: String?
    public var currency: String?
    /// The announcement that is to be accepted; nil unless the payment is waiting.
    public var payload: Data?
    public var state: State
    /// The reason why the payment was refused, without amounts and names; nil in the other states.
    public var reason: String?
    /// The number of times that the announcing of the payment has begun; see ``InterruptedWork``.
    public var starts: Int
    public var receivedAt: Date
    public var finishedAt: Date?
  }

  /// A report that is to be stored.
  public struct NewProviderPayment: Sendable, Hashable {
    /// The digests that recognise the payment when it is reported again.
    public struct Identity: Sendable, Hashable {
      /// 16 bytes that stand for the account, the endpoint, the payment and its kind.
      public var id: Data
      /// 8 bytes that stand for the sum and its currency.
      public var sum: Data
      /// For a failed or pending payment, the ``id`` of a report that the same payment has succeeded; nil for any other
      /// payment. If the ledger has that id, the success was reported first, so this report comes too late to be
      /// announced.
      public var success: Data?
      /// The time after which the ledger may forget the identity; nil for never.
      public var until: Date?

      public init(id: Data, sum: Data, success: Data? = nil, until: Date? = nil) {
        (self.id, self.sum, self.success, self.until) = (id, sum, success, until)
      }

      /// The id under which a report with another sum is stored, so that it is stored once. It combines the payment's
      /// id and the sum, which are both digests.
      var idOfOtherSum: Data { Data(zip(id, sum + sum).map { $0 ^ $1 }) }
    }

    public var account: String
    public var endpoint: String
    /// The identity of the payment; nil for a report that could not be understood. Such a report is stored each time it
    /// comes.
    public var identity: Identity?
    public var id: String?
    public var kind: String?
    public var amount: String?
    public var currency: String?
    /// The announcement; nil for a report that is stored as late or refused.
    public var payload: Data?
    /// The reason why the payment is refused; nil if it is not refused.
    public var refusal: String?

    public init(account: String, endpoint: String, refusal: String? = nil) {
      (self.account, self.endpoint, self.refusal) = (account, endpoint, refusal)
    }

    /// The state in which the report is stored.
    package var state: ProviderPayment.State { payload != nil ? .waiting : refusal == nil ? .late : .refused }
  }

  /// The outcome of a report.
  public enum ProviderAcceptance: Sendable, Hashable {
    /// The payment waits to be announced.
    case accepted
    case late
    case refused
    /// The report was stored before. Nothing was stored now.
    case duplicate
    /// The payment was reported before, with another sum. The report is stored as refused.
    case otherSum
    /// The payment has succeeded before. Nothing was stored.
    case afterSuccess
  }
}

extension Ledger.ProviderPayment {
  package init(row: some StoredRow) throws {
    self.init(
      number: try row.value("number"), account: try row.value("account"), endpoint: try row.value("endpoint"),
      id: try row.optional("id"), kind: try row.optional("kind"), amount: try row.optional("amount"),
      currency: try row.optional("currency"), payload: try row.optional("payload"), state: try row.name("state"),
      reason: try row.optional("reason"), starts: try row.value("starts"), receivedAt: try row.value("received_at"),
      finishedAt: try row.optional("finished_at"))
  }
}
