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

    package init(position: Int64, clips: Set<Group>, tones: Set<String>, hasPacks: Bool) {
      self.position = position
      self.clips = clips
      self.tones = tones
      self.hasPacks = hasPacks
    }
  }
}
