// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Ledger
import Playback
import PlaybackOrder

/// Reports playback progress on standard error. On a terminal, one line is redrawn; elsewhere, only problems are
/// reported.
final class PlayProgress: Sendable {
  private struct State {
    var isLineOpen = false
    var isDeviceLost = false
    var isPaused = false
    /// The process of another player for which this command waits; nil until this was reported.
    var otherPlayer: Int32?
    /// The latest reason why this command's announcements are not heard.
    var obstacle: String?
    /// The titles of this command's announcements, by id.
    var titles: [String: String] = [:]
    /// Whether a warning is due if another program plays on the output, because the requested settings then have no
    /// effect.
    var hasUnusedSettings: Bool

    mutating func note(_ message: String) {
      Terminal.writeMessage((isLineOpen ? "\r\u{1B}[K" : "") + message + "\n")
      isLineOpen = false
    }
  }

  private let isTerminal = Terminal.canRedrawMessages
  private let state: Locked<State>

  /// - Parameter hasSettings: Whether a volume, a gap, a chime or a lead-in was requested.
  init(hasSettings: Bool) {
    state = Locked(State(hasUnusedSettings: hasSettings))
  }

  /// Begins with announcements. Reports about earlier announcements are not repeated.
  ///
  /// - Parameter titles: The titles of the announcements, by id.
  func begin(_ titles: [String: String]) { state.withLock { $0.titles = titles } }

  /// The latest reason why this command's announcements were not heard; nil if they only waited for earlier
  /// announcements.
  var obstacle: String? { state.withLock { $0.obstacle } }

  func update(_ view: LaneView) {
    state.withLock { state in
      state.obstacle = Self.obstacle(in: view)
      if let other = Self.otherPlayer(in: view), other != state.otherPlayer {
        state.otherPlayer = other
        state.note(Self.report(of: other, in: view, own: Set(state.titles.keys)))
      }
      let isLost = view.player.isRunning && view.player.report?.isDeviceLost == true
      if isLost != state.isDeviceLost {
        state.isDeviceLost = isLost
        state.note(
          isLost ? "Waiting for the audio device: \(state.obstacle ?? "it is lost")." : "The audio device is back.")
      }
      if state.hasUnusedSettings, Self.otherPlayer(in: view) != nil {
        state.hasUnusedSettings = false
        state.note("Another program plays on this output, so its volume, gap, chime and lead-in apply.")
      }
      let isHeld = view.player.isRunning && view.player.report?.isPaused == true
      if isHeld != state.isPaused {
        state.isPaused = isHeld
        state.note(isHeld ? "Playback is paused. To continue, run crier queue resume." : "Playback continues.")
      }
      guard isTerminal, let entry = view.playing else { return }
      let title = state.titles[entry.id] ?? "an earlier announcement (\(entry.category.rawValue))"
      let line = QueueDisplay.progress(view, title: title, columns: Terminal.messageColumns - 1)
      Terminal.writeMessage("\r\u{1B}[K" + line)
      state.isLineOpen = true
    }
  }

  /// Returns the process of a player that is not this process.
  private static func otherPlayer(in view: LaneView) -> Int32? {
    guard view.player.isRunning, let process = view.player.report?.processID else { return nil }
    return process == ProcessInfo.processInfo.processIdentifier ? nil : process
  }

  /// Returns a sentence that says that another process plays, and how many announcements come before this command's.
  ///
  /// - Parameter own: The ids of this command's announcements.
  static func report(of other: Int32, in view: LaneView, own: Set<String>) -> String {
    let isOwnPlaying = view.playing.map { own.contains($0.id) } ?? false
    let waiting = view.waiting.prefix { !own.contains($0.id) }.count
    let ahead = isOwnPlaying ? 0 : waiting + (view.playing == nil ? 0 : 1)
    // The view lists only the beginning of a long queue, so the number may be incomplete.
    let isWhole = isOwnPlaying || waiting < view.waiting.count || view.waiting.count == view.waitingCount
    let after =
      switch (ahead, isWhole) {
      case (0, true): " too"
      case (1, true): " after 1 other announcement"
      case (_, true): " after \(ahead) other announcements"
      case (_, false): " after more than \(ahead) other announcements"
      }
    return "Process \(other) plays on \(Terminal.printable(view.player.lane)), so it plays this\(after)."
  }

  /// Returns the reason why the lane is silent although announcements wait; nil if there is none.
  private static func obstacle(in view: LaneView) -> String? {
    guard view.player.isRunning, let report = view.player.report else { return nil }
    if report.isDeviceLost {
      let since = report.deviceLostSince.map { " since \($0.formatted(.iso8601))" } ?? ""
      let code = report.deviceCode.map { " (\($0))" } ?? ""
      return
        "process \(report.processID) cannot use the device of \(Terminal.printable(view.player.lane))\(since)\(code)"
    }
    if report.isPaused { return "playback is paused" }
    return report.blockedCode.map { "process \(report.processID) cannot begin the next announcement (\($0))" }
  }

  func end() {
    state.withLock { state in
      if state.isLineOpen { Terminal.writeMessage("\r\u{1B}[K") }
      state.isLineOpen = false
    }
  }
}
