// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Ledger
import PlaybackOrder

/// What a lane does, seen from any process: read from the ledger, and from what the lane's player tells of itself.
public struct LaneView: Sendable, Hashable {
  public var player: PlayerStatus
  /// What is being heard.
  public var playing: Ledger.Entry?
  /// What waits, in the order in which it will be heard as things stand; ``longestList`` at most. What a summary stands
  /// for is not among it.
  public var waiting: [Ledger.Entry]
  /// How many wait in all.
  public var waitingCount: Int

  public static let longestList = 20

  /// How far into what waits is looked, for the order of what is shown.
  private static let pageLength = 200

  /// - Throws: `LedgerError`.
  public static func of(lane: String, in ledger: Ledger, at date: Date = Date()) async throws(LedgerError) -> LaneView {
    let player = try ledger.player(lane: lane)
    let entries = try await ledger.unfinished(lane: lane, limit: pageLength)
    let count = try await ledger.unfinishedCount(lane: lane)
    var playing = entries.first { $0.state == .playing }
    // It may be far behind others that wait.
    if playing == nil, let number = player.report?.number { playing = try await ledger.entry(number) }
    if !player.isRunning || playing?.state != .playing { playing = nil }
    let waiting = entries.filter { $0.number != playing?.number && $0.summarisedBy == nil }
    var order = PlaybackOrder(lastSequence: try await ledger.lastPassedSequence(lane: lane))
    for entry in waiting { order.accept(PlaybackItem(entry, now: 0, date: date)) }
    // What plays, and what a summary stands for, as far as was looked.
    let told = (playing == nil ? 0 : 1) + entries.count { $0.summarisedBy != nil }
    let known = Dictionary(uniqueKeysWithValues: waiting.map { ($0.number, $0) })
    return LaneView(
      player: player, playing: playing,
      waiting: order.upcoming(longestList, at: 0).compactMap { known[$0.number] },
      waitingCount: max(waiting.count, count - told))
  }
}

extension PlaybackItem {
  /// An entry on a clock that says `now` at this date: a calendar that was set back makes nothing come from the future.
  init(_ entry: Ledger.Entry, now: Int64, date: Date) {
    func moment(_ other: Date) -> Int64 {
      now + (Int64(exactly: (other.timeIntervalSince(date) * 1000).rounded()) ?? 0)
    }
    self.init(
      number: entry.number, category: PlaybackItem.Category(entry.category), sequence: entry.sequence,
      acceptedAt: min(now, moment(entry.acceptedAt)), expiresAt: entry.expiresAt.map(moment))
  }
}
