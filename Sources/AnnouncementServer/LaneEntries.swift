// SPDX-License-Identifier: Apache-2.0

import Ledger
import Playback

/// The entries of the player's lane as each account may see them.
struct LaneEntries: Sendable {
  /// An entry that an account may see.
  struct Seen: Sendable {
    var entry: Ledger.Entry
    /// The announcement's id; of a replay, the id of what it plays again. nil where that is another account's.
    var id: String?
    var isReplay: Bool
    /// Whether its words are the account's to read.
    var showsWords: Bool
  }

  let ledger: Ledger

  /// An account sees its own announcements, and the replays of them and those that it asked for. `admin` sees all.
  ///
  /// - Returns: nil for what is another account's, and for what was pruned.
  func seen(_ number: Int64, by sender: Caller) async throws(LedgerError) -> Seen? {
    guard let entry = try await ledger.entry(number) else { return nil }
    guard StoredAnnouncement(entry).isReplay else {
      guard entry.account == sender.account || sender.isAdmin else { return nil }
      return Seen(entry: entry, id: entry.id, isReplay: false, showsWords: true)
    }
    let replay = try await ledger.replay(number)
    var original: Ledger.Entry?
    if let number = replay?.original { original = try await ledger.entry(number) }
    let isOwn = original?.account == sender.account || sender.isAdmin
    guard isOwn || replay?.requester == sender.account else { return nil }
    return Seen(entry: entry, id: isOwn ? original?.id : nil, isReplay: true, showsWords: isOwn)
  }
}
