// SPDX-License-Identifier: Apache-2.0

public import Announcements
public import Foundation
public import Ledger

/// An announcement in the form in which a player stores it, without its lane.
public struct StoredAnnouncement: Sendable, Hashable {
  /// The account, at most 255 bytes. Ids are unique within an account. Names that begin with `crier:` are reserved for
  /// the player.
  public var account: String
  /// The id, 1 to 255 bytes. The same id in the same account means the same announcement.
  public var id: String
  public var category: Ledger.Category
  /// The sequence number, which rises by one with each announcement for a device; `nil` if the payload has none.
  public var sequence: Int64?
  /// The announcement as JSON, as `docs/payload.md` defines it.
  public var payload: Data
  /// The time from which the announcement is dropped instead of played. It does not apply to money.
  public var expiresAt: Date?

  public init(
    account: String = "", id: String, category: Ledger.Category, sequence: Int64? = nil, payload: Data,
    expiresAt: Date? = nil
  ) {
    self.account = account
    self.id = id
    self.category = category
    self.sequence = sequence
    self.payload = payload
    self.expiresAt = expiresAt
  }

  /// Creates an announcement with the id, category and sequence number of the payload. Received money is a payment;
  /// money that was refunded, withdrawn or failed is a refund; text is information.
  ///
  /// - Parameters:
  ///   - id: The id for a text without an id. The payload's own id takes precedence.
  ///   - payload: A payload, or a request of the service.
  /// - Throws: `AnnouncementError`, which names the field.
  public init(
    account: String = "", id: String, payload: Data, expiresAt: Date? = nil
  ) throws(AnnouncementError) {
    let request = try PayloadDecoder.storedRequest(payload)
    switch request.announcement {
    case .payment(let payment):
      self.init(
        account: account, id: payment.id ?? id, category: Ledger.Category(payment.kind), sequence: payment.sequence,
        payload: payload, expiresAt: expiresAt)
    // A payload is never a summary or the word before a replay.
    case .text, .summary, .again:
      self.init(
        account: account, id: request.id ?? id, category: .information, payload: payload, expiresAt: expiresAt)
    }
  }

  public init(_ entry: Ledger.Entry) {
    self.init(
      account: entry.account, id: entry.id, category: entry.category, sequence: entry.sequence,
      payload: entry.payload, expiresAt: entry.expiresAt)
  }

  /// Returns the announcement for the ledger.
  public func new(lane: String) -> NewAnnouncement {
    NewAnnouncement(
      account: account, id: id, lane: lane, category: category, sequence: sequence, payload: payload,
      expiresAt: expiresAt)
  }
}

extension Ledger.Category {
  public init(_ kind: Payment.Kind) {
    switch kind {
    case .received: self = .payment
    case .refunded, .withdrawn, .failed: self = .refund
    }
  }
}
