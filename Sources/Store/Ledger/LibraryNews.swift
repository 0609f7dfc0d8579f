// SPDX-License-Identifier: Apache-2.0

extension Ledger {
  /// The changes of the libraries after a position.
  public struct LibraryNews: Sendable, Hashable {
    /// An account and an app group.
    public struct Group: Sendable, Hashable {
      public let account: String
      public let group: String

      public init(account: String, group: String) { (self.account, self.group) = (account, group) }
    }

    /// The position of the latest change of any library.
    public let position: Int64
    /// The groups whose clips have changed.
    public let clips: Set<Group>
    /// The app groups whose tones have changed, for all accounts.
    public let tones: Set<String>
    /// Whether voice packs have changed, which concerns all groups.
    public let hasPacks: Bool
  }
}

extension Ledger.LibraryNews {
  /// Collects changes that are grouped by account and app group.
  ///
  /// - Parameter rows: Rows with the columns `account` and `group_id`, and with the latest position as `latest`.
  /// - Returns: nil if there are no rows.
  package init?(rows: some Sequence<some StoredRow>) throws {
    var latest: Int64?
    var clips: Set<Group> = []
    var tones: Set<String> = []
    var hasPacks = false
    for row in rows {
      latest = max(latest ?? 0, try row.value("latest"))
      switch (try row.text("account"), try row.text("group_id")) {
      case (let account?, let group?): clips.insert(Group(account: account, group: group))
      case (nil, let group?): tones.insert(group)
      case (_, nil): hasPacks = true
      }
    }
    guard let latest else { return nil }
    self.init(position: latest, clips: clips, tones: tones, hasPacks: hasPacks)
  }
}
