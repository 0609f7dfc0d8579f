// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import Playback
import PlaybackOrder
import TextFormats
import WaveformDrawing

/// A lane drawn as lines of text. It is a pure value: the caller supplies the lane's view and the titles.
struct QueueDisplay {
  /// The width of the terminal, in columns.
  var columns: Int
  /// Returns the text that an announcement speaks.
  var title: (Ledger.Entry) -> String

  func lines(_ view: LaneView) -> [String] {
    var lines = [Self.headline(view)]
    if let entry = view.playing {
      lines.append("> \(entry.number)  \(Self.mark(entry))\(title(entry))")
      lines.append("  " + Self.progress(view, title: nil, columns: max(20, columns - 2)))
    }
    for entry in view.waiting {
      // A waiting entry in the state `playing` was left behind by a player that was killed.
      let state = entry.state == .playing ? "interrupted" : entry.state.rawValue
      let stated = entry.state == .waiting ? "" : "  (\(state))"
      lines.append("  \(entry.number)  \(Self.mark(entry))\(title(entry))\(stated)")
    }
    let unseen = view.waitingCount - view.waiting.count
    if unseen > 0 { lines.append("  and \(unseen) more") }
    for other in view.others {
      let player = other.isPlayed ? "another player plays it" : "nothing plays it"
      lines.append("  \(other.count) waiting on \(other.lane): \(player); see crier queue --output \(other.lane)")
    }
    return lines.map { TerminalText($0).cut(to: columns).string }
  }

  /// The prefix of a replay's title.
  private static func mark(_ entry: Ledger.Entry) -> String { entry.isReplay ? "again: " : "" }

  private static func headline(_ view: LaneView) -> String {
    let waiting =
      view.waitingCount == 0 ? "nothing waiting" : "\(view.waitingCount) waiting"
    let pause = view.pause.map { "paused since \($0.since.formatted(.iso8601))" + ($0.by.map { " by \($0)" } ?? "") }
    guard view.player.isRunning else {
      return "\(view.player.lane): no player is running\(pause.map { "; \($0)" } ?? ""); \(waiting)"
    }
    let report = view.player.report
    var state = report?.isPaused == true ? pause ?? "paused" : view.playing == nil ? "idle" : "playing"
    func reason(since: Date?, code: String?) -> String {
      (since.map { " since \($0.formatted(.iso8601))" } ?? "") + (code.map { " (\($0))" } ?? "")
    }
    if let report, report.isDeviceLost {
      state = "waiting for the speaker" + reason(since: report.deviceLostSince, code: report.deviceCode)
    } else if let report, let code = report.blockedCode, !report.isPaused {
      state = "waiting because of an error" + reason(since: report.blockedSince, code: code)
    }
    let volume = report.flatMap { $0.volume < 100 ? ", volume \($0.volume) %" : nil } ?? ""
    return "\(view.player.lane): \(state)\(volume); \(waiting)"
  }

  /// Draws the progress bar of the playing announcement, `[#####-----] 1.2 of 2.3 s`, followed by its title.
  static func progress(_ view: LaneView, title: String?, columns: Int) -> String {
    let report = view.player.report
    let isTold = report?.number == view.playing?.number
    let length = isTold ? report?.lengthMilliseconds ?? 0 : 0
    let position = min(isTold ? report?.positionMilliseconds ?? 0 : 0, length)
    let figures = "\(seconds(position)) of \(seconds(length)) s"
    let width = max(0, min(30, columns / 3, columns - figures.count - 3))
    let filled = length > 0 ? position * width / length : 0
    let bar = "[\(String(repeating: "#", count: filled))\(String(repeating: "-", count: width - filled))] \(figures)"
    guard let title else { return TerminalText(bar).cut(to: columns).string }
    return TerminalText(bar + "  " + title).cut(to: columns).string
  }

  private static func seconds(_ milliseconds: Int) -> String { "\(milliseconds / 1000).\(milliseconds % 1000 / 100)" }
}

/// A lane as one line of JSON for programs. It has no amounts, names or spoken words.
struct QueueSnapshot: Encodable {
  struct Item: Encodable {
    var number: Int64
    /// The announcement's id, or nil if the player created the announcement itself.
    @ExplicitNull var id: String?
    var category: String
    var state: String
    var replay: Bool
  }

  struct Playing: Encodable {
    var number: Int64
    @ExplicitNull var id: String?
    var category: String
    var replay: Bool
    var positionMs: Int
    var lengthMs: Int
  }

  var lane: String
  var running: Bool
  var paused: Bool
  var deviceLost: Bool
  /// The code of the error that prevents the next announcement.
  @ExplicitNull var blockedCode: String?
  /// The volume, in per cent.
  var volume: Int
  @ExplicitNull var playing: Playing?
  var waiting: [Item]
  var waitingCount: Int
  /// The other lanes on which requests wait.
  var elsewhere: [Elsewhere]

  struct Elsewhere: Encodable {
    var lane: String
    var waitingCount: Int
    /// Whether a process plays the lane.
    var played: Bool
  }

  init(_ view: LaneView) {
    let report = view.player.report
    lane = view.player.lane
    running = view.player.isRunning
    paused = running && report?.isPaused == true
    deviceLost = running && report?.isDeviceLost == true
    blockedCode = running ? report?.blockedCode : nil
    volume = report?.volume ?? 100
    playing = view.playing.map { entry in
      let isTold = report?.number == entry.number
      return Playing(
        number: entry.number, id: Self.id(entry), category: entry.category.rawValue,
        replay: entry.isReplay,
        positionMs: isTold ? report?.positionMilliseconds ?? 0 : 0,
        lengthMs: isTold ? report?.lengthMilliseconds ?? 0 : 0)
    }
    waiting = view.waiting.map { entry in
      Item(
        number: entry.number, id: Self.id(entry), category: entry.category.rawValue, state: entry.state.rawValue,
        replay: entry.isReplay)
    }
    waitingCount = view.waitingCount
    elsewhere = view.others.map { Elsewhere(lane: $0.lane, waitingCount: $0.count, played: $0.isPlayed) }
  }

  private static func id(_ entry: Ledger.Entry) -> String? {
    entry.kind == .request && !entry.isReplay ? entry.id : nil
  }
}
