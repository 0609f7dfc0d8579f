// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Ledger
import PlaybackOrder

/// The state of a lane that any process can see: it is read from the ledger and from the player's own report.
public struct LaneView: Sendable, Hashable {
  public var player: PlayerStatus
  /// The pause that the ledger has for the lane.
  public var pause: Ledger.Pause?
  /// The announcement that is playing.
  public var playing: Ledger.Entry?
  /// The waiting announcements in playing order as of now, at most ``longestList``. Payments in a summary are not
  /// included.
  public var waiting: [Ledger.Entry]
  /// The total number of waiting announcements.
  public var waitingCount: Int
  /// The other lanes on which requests wait.
  public var others: [Ledger.WaitingLane]

  public static let longestList = 20

  /// The number of waiting entries that are read to determine the order.
  private static let pageLength = 200

  /// Reads the state of a lane.
  ///
  /// - Throws: `LedgerError`.
  public static func of(
    lane: String, in ledger: any Ledger.Store, at date: Date = Date()
  ) async throws(LedgerError) -> LaneView {
    let player = try await ledger.player(lane: lane)
    // A summary may include more payments than a page has, so the query leaves them out.
    let entries = try await ledger.unfinishedAlone(lane: lane, limit: pageLength)
    let count = try await ledger.unfinishedAloneCount(lane: lane)
    var playing = entries.first { $0.state == .playing }
    // The playing announcement may have been accepted after many waiting ones.
    if playing == nil, let number = player.report?.number { playing = try await ledger.entry(number) }
    if !player.isRunning || playing?.state != .playing { playing = nil }
    let waiting = entries.filter { $0.number != playing?.number }
    var order = PlaybackOrder(lastSequence: try await ledger.lastPassedSequence(lane: lane))
    for entry in waiting { order.accept(PlaybackItem(entry, now: 0, date: date)) }
    let known = Dictionary(uniqueKeysWithValues: waiting.map { ($0.number, $0) })
    return LaneView(
      player: player, pause: try await ledger.pause(lane: lane), playing: playing,
      waiting: order.upcoming(longestList, at: 0).compactMap { known[$0.number] },
      waitingCount: max(waiting.count, count - (playing == nil ? 0 : 1)),
      others: try await ledger.waitingLanes().filter { $0.lane != lane })
  }
}

extension PlaybackItem {
  /// Creates an item. Its times are on a clock that shows `now` at `date`. Even if the system's clock was set back, the
  /// acceptance is not in the future, and the announcement has at most as much time left as it had at its acceptance.
  init(_ entry: Ledger.Entry, now: Int64, date: Date) {
    func moment(_ other: Date) -> Int64 {
      now + (Int64(exactly: (other.timeIntervalSince(date) * 1000).rounded()) ?? 0)
    }
    self.init(
      number: entry.number, category: entry.category, sequence: entry.sequence,
      acceptedAt: min(now, moment(entry.acceptedAt)),
      expiresAt: entry.expiresAt.map { min(moment($0), moment($0) - moment(entry.acceptedAt) + now) })
  }
}
