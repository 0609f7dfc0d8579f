// SPDX-License-Identifier: Apache-2.0

public import Announcements
public import Foundation
public import Ledger

/// An announcement for a player: what is kept of it, without the lane.
public struct StoredAnnouncement: Sendable, Hashable {
  /// Whose it is, at most 255 bytes; ids are unique in it. Names that begin with `crier:` are the player's own.
  public var account: String
  /// 1 to 255 bytes. The same id in the same account is the same announcement.
  public var id: String
  public var category: Ledger.Category
  /// Rises by one with each announcement for a device; `nil` where the payload has none.
  public var sequence: Int64?
  /// The announcement as JSON: the contract of `docs/payload.md`.
  public var payload: Data
  /// From then on it is not said, unless it is money.
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

  /// Reads id, category and sequence from the payload: money that came is a payment; that went back, was withdrawn or
  /// failed is a refund; text is information.
  ///
  /// - Parameters:
  ///   - id: for text that has none of its own; the payload's own is used where it has one.
  ///   - payload: a payload, or a request of the service.
  /// - Throws: `AnnouncementError`, naming the field.
  public init(
    account: String = "", id: String, payload: Data, expiresAt: Date? = nil
  ) throws(AnnouncementError) {
    let request = try PayloadDecoder.storedRequest(payload)
    switch request.announcement {
    case .payment(let payment):
      self.init(
        account: account, id: payment.id ?? id, category: Ledger.Category(payment.kind), sequence: payment.sequence,
        payload: payload, expiresAt: expiresAt)
    // A payload holds neither a summary nor the word before a replay.
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

  /// For the ledger.
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
