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

    public subscript<Value>(dynamicMember property: KeyPath<StoredAnnouncement, Value>) -> Value {
      announcement[keyPath: property]
    }
  }
}

extension Ledger.Entry {
  package init(row: some StoredRow) throws {
    self.init(
      number: try row.value("number"), announcement: try StoredAnnouncement(row: row), state: try row.name("state"),
      detail: try row.detail(), clip: try row.optional("clip"), summarisedBy: try row.optional("summarised_by"),
      attempts: try row.value("attempts"), heardMilliseconds: try row.optional("heard"),
      starts: try row.value("starts"), acceptedAt: try row.value("accepted_at"),
      changedAt: try row.value("changed_at"), finishedAt: try row.optional("finished_at"))
  }
}
