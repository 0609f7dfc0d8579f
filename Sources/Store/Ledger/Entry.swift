// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension Ledger {
  /// A stored announcement.
  @dynamicMemberLookup
  public struct Entry: Sendable, Hashable {
    public let number: Int64
    /// The announcement. Its properties can also be read directly from the entry.
    public package(set) var announcement: StoredAnnouncement
    public let state: State
    /// The detail of the last change of state.
    public let detail: [String: String]
    public let clip: String?
    /// The number of the summary that includes the announcement; nil when there is none.
    public let summarisedBy: Int64?
    /// The number of times that the announcement began to play.
    public let attempts: Int
    public let heardMilliseconds: Int?
    /// The number of times that rendering or playing began since it last came to an end; see ``InterruptedWork``.
    public let starts: Int
    public let acceptedAt: Date
    public let changedAt: Date
    public let finishedAt: Date?

    package init(
      number: Int64, announcement: StoredAnnouncement, state: State, detail: [String: String], clip: String?,
      summarisedBy: Int64?, attempts: Int, heardMilliseconds: Int?, starts: Int, acceptedAt: Date, changedAt: Date,
      finishedAt: Date?
    ) {
      self.number = number
      self.announcement = announcement
      self.state = state
      self.detail = detail
      self.clip = clip
      self.summarisedBy = summarisedBy
      self.attempts = attempts
      self.heardMilliseconds = heardMilliseconds
      self.starts = starts
      self.acceptedAt = acceptedAt
      self.changedAt = changedAt
      self.finishedAt = finishedAt
    }

    public subscript<Value>(dynamicMember property: KeyPath<StoredAnnouncement, Value>) -> Value {
      announcement[keyPath: property]
    }
  }
}
