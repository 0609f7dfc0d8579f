// SPDX-License-Identifier: Apache-2.0

import Ledger
import Playback

/// The entries of the player's lane that an account may see.
struct LaneEntries: Sendable {
  /// An entry that an account may see.
  struct Seen: Sendable {
    var entry: Ledger.Entry
    /// The announcement's id, or for a replay the id of the replayed announcement; nil if that announcement belongs to
    /// another account.
    var id: String?
    var isReplay: Bool
    /// Whether the account may read the text.
    var showsWords: Bool

    /// The decision about the announcement, with its words; nil if the account may not read them, if the clip is still
    /// to be made, or if the entry is a sound file.
    var words: Decision? { showsWords ? entry.decision : nil }
  }

  let ledger: any Ledger.Store

  /// Returns an entry if the sender may see it. An account sees its own announcements, their replays, and the replays
  /// that it requested. `admin` sees all entries.
  ///
  /// - Returns: nil if the entry belongs to another account or was pruned.
  func seen(_ number: Int64, by sender: Caller) async throws(LedgerError) -> Seen? {
    guard let entry = try await ledger.entry(number) else { return nil }
    guard entry.isReplay else {
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
