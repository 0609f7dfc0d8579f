// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension Ledger {
  /// The conditions for listing an account's announcements.
  public struct AnnouncementFilter: Sendable, Hashable {
    /// The state by which announcements are listed: the state of playing or, if an announcement was not to be played,
    /// `rendered`.
    public enum State: String, Sendable, Hashable, CaseIterable {
      case accepted, rendering, waiting, playing, played, cancelled, failed, expired, quiet, rendered
    }

    /// The states to list.
    public var states = Set(State.allCases)
    /// The earliest time of acceptance.
    public var from: Date?
    /// The end of the range: announcements accepted at this time or later are left out.
    public var to: Date?
    /// A text that the announcement's id or the words of its first answer contain; nil for all announcements.
    public var text: SearchText?

    public init() {}
  }

  /// The place of an announcement in the list of its account. Its text is opaque, and valid only for the same ledger.
  public struct AnnouncementCursor: Sendable, Hashable, LosslessStringConvertible {
    package let at: Int64
    /// Whether the place belongs to an entry. Otherwise, it belongs to an answer.
    package let isEntry: Bool
    /// The entry's number, or the answer's row.
    package let row: Int64

    package init(at: Int64, isEntry: Bool, row: Int64) {
      self.at = at
      self.isEntry = isEntry
      self.row = row
    }

    public init?(_ text: String) {
      let parts = text.split(separator: ".", omittingEmptySubsequences: false)
      guard parts.count == 3, let at = Int64(parts[0]), let row = Int64(parts[2]), ["a", "e"].contains(parts[1]),
        (0..<Self.bound).contains(at), (0..<Self.bound).contains(row)
      else { return nil }
      self.init(at: at, isEntry: parts[1] == "e", row: row)
      if description != text { return nil }
    }

    private static let bound: Int64 = 1_000_000_000_000_000_000

    public var description: String { "\(at).\(isEntry ? "e" : "a").\(row)" }

    /// Whether this place comes after another one in the list, so that its announcement is older.
    package func isAfter(_ other: Self) -> Bool {
      (at, isEntry ? 1 : 0, row) < (other.at, other.isEntry ? 1 : 0, other.row)
    }
  }

  /// An announcement of a list, with its pushes. The properties of the announcement can be read directly.
  @dynamicMemberLookup
  public struct ListedAnnouncement: Sendable, Hashable {
    public let announcement: Announcement
    /// The pushes of the announcement, oldest first.
    public let pushes: [Push]

    public subscript<Value>(dynamicMember property: KeyPath<Announcement, Value>) -> Value {
      announcement[keyPath: property]
    }
  }

  /// A part of the list of an account's announcements, newest first.
  public struct AnnouncementPage: Sendable, Hashable {
    public let announcements: [ListedAnnouncement]
    /// The place after which the list continues; nil at the end of the list.
    public let next: AnnouncementCursor?
    /// The number of rows that were read to find the announcements.
    public let rowCount: Int

    package static let empty = AnnouncementPage(announcements: [], next: nil, rowCount: 0)
  }

  /// The number of announcements that one call searches for a text.
  public static let searchedAtOnce = 250
  /// The number of pushes after which a part of a list ends.
  public static let mostListedPushes = 500
}
