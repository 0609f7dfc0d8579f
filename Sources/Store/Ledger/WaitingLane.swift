// SPDX-License-Identifier: Apache-2.0

extension Ledger {
  /// A lane on which requests of accounts wait.
  public struct WaitingLane: Sendable, Hashable {
    public let lane: String
    /// The number of unfinished requests.
    public let count: Int
    /// Whether a process plays the lane at this moment.
    public let isPlayed: Bool

    package init(lane: String, count: Int, isPlayed: Bool) {
      self.lane = lane
      self.count = count
      self.isPlayed = isPlayed
    }
  }
}
