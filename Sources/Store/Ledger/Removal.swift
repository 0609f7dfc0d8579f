// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension Ledger {
  /// An answer of an announcement that was removed.
  public struct RemovedAnswer: Sendable, Hashable {
    /// The answer's key; see ``NewAnswer/key``.
    public let key: String
    /// The SHA-256 digest of the request's body, 32 bytes.
    public let bodyDigest: Data
    /// The answer's clip; see ``NewAnswer/clip``.
    public let clip: PublishedClip?
  }

  /// The result of removing an announcement.
  public enum Removal: Sendable, Hashable {
    /// The id is unknown.
    case unknown
    /// The announcement or a replay of it is waiting or playing, or a push of it has not ended. Nothing was changed.
    case notEnded
    /// The announcement was removed with all its answers and replays. `entry` is nil when the announcement was not to
    /// be played or was pruned. `pushedClips` are the names of the clips that its pushes had: one for each language.
    case removed(entry: Entry?, answers: [RemovedAnswer], pushedClips: Set<String>)
  }
}

extension Ledger.RemovedAnswer {
  package init(row: some StoredRow) throws {
    self.init(key: try row.value("key"), bodyDigest: try row.value("body_digest"), clip: try row.clip())
  }
}
