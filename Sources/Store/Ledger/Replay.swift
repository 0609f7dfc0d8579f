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

    package init(number: Int64, original: Int64?, requester: String?) {
      self.number = number
      self.original = original
      self.requester = requester
    }
  }

  /// The maximum number of replays requested by one account that may wait on a lane.
  public static let maximumReplaysOfAccount = 3
  /// The maximum number of replays that may wait on a lane.
  public static let maximumReplays = 10
}
