// SPDX-License-Identifier: Apache-2.0

extension Ledger {
  /// A replay of an announcement: an entry of its own, in addition to the original's.
  public struct Replay: Sendable, Hashable {
    /// The number of the replay's own entry.
    public let number: Int64
    /// The number of the original announcement; nil when it was pruned.
    public let original: Int64?
    /// The account that requested the replay; nil for a person at the machine.
    public let requester: String?

    /// Returns whether a lane has so many unfinished replays that another one is refused.
    ///
    /// - Parameters:
    ///   - waiting: The unfinished replays of the lane.
    ///   - requester: The account that requests another one; nil for a person at the machine.
    package static func areTooMany(_ waiting: [Replay], for requester: String?) -> Bool {
      let own = requester.map { account in waiting.count { $0.requester == account } } ?? 0
      return waiting.count >= maximumReplays || own >= maximumReplaysOfAccount
    }
  }

  /// The maximum number of replays requested by one account that may wait on a lane.
  public static let maximumReplaysOfAccount = 3
  /// The maximum number of replays that may wait on a lane.
  public static let maximumReplays = 10
}

extension Ledger.Replay {
  package init(row: some StoredRow) throws {
    self.init(
      number: try row.value("number"), original: try row.optional("original"), requester: try row.optional("requester"))
  }
}
