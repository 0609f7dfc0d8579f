// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Ledger
import Playback

/// Reports playback progress on standard error. On a terminal, one line is redrawn; elsewhere, only problems are
/// reported.
final class PlayProgress: Sendable {
  private struct State {
    var isLineOpen = false
    var isDeviceLost = false
    var isPaused = false
    /// The process of another player on which this command waits, once it was reported.
    var otherPlayer: Int32?
    /// The last reason why nothing of this command is heard.
    var obstacle: String?
    /// Whether a warning is due if another program plays on the output, because the requested settings then have no
    /// effect.
    var hasUnusedSettings: Bool

    mutating func note(_ message: String) {
      Terminal.writeMessage((isLineOpen ? "\r\u{1B}[K" : "") + message + "\n")
      isLineOpen = false
    }
  }

  private let titles: [String: String]
  private let isTerminal = Terminal.canRedrawMessages
  private let state: Locked<State>

  /// - Parameters:
  ///   - titles: The titles of this command's announcements, by id.
  ///   - hasSettings: Whether a volume, a gap or a chime was requested.
  init(titles: [String: String], hasSettings: Bool) {
    self.titles = titles
    state = Locked(State(hasUnusedSettings: hasSettings))
  }

  /// The last reason why nothing of this command was heard; nil if nothing was in the way but earlier announcements.
  var obstacle: String? { state.withLock { $0.obstacle } }

  func update(_ view: LaneView) {
    state.withLock { state in
      state.obstacle = Self.obstacle(in: view)
      if let other = Self.otherPlayer(in: view), other != state.otherPlayer {
        state.otherPlayer = other
        let first =
          "Process \(other) plays on \(Terminal.printable(view.player.lane)), so this waits for its turn there"
        state.note("\(first): \(Self.queue(view)).")
      }
      let isLost = view.player.isRunning && view.player.report?.isDeviceLost == true
      if isLost != state.isDeviceLost {
        state.isDeviceLost = isLost
        state.note(
          isLost ? "Waiting for the audio device: \(state.obstacle ?? "it is lost")." : "The audio device is back.")
      }
      if state.hasUnusedSettings, Self.otherPlayer(in: view) != nil {
        state.hasUnusedSettings = false
        state.note("Another program plays on this output, so its volume, gap and chime apply.")
      }
      let isHeld = view.player.isRunning && view.player.report?.isPaused == true
      if isHeld != state.isPaused {
        state.isPaused = isHeld
        state.note(isHeld ? "Playback is paused. To continue, run crier queue resume." : "Playback continues.")
      }
      guard isTerminal, let entry = view.playing else { return }
      let title = titles[entry.id] ?? "an earlier announcement (\(entry.category.rawValue))"
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

  private static func queue(_ view: LaneView) -> String {
    let playing = view.playing == nil ? "nothing is playing" : "an announcement is playing"
    return "\(playing), and \(view.waitingCount) \(view.waitingCount == 1 ? "is" : "are") waiting"
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
    return report.isPaused ? "playback is paused" : nil
  }

  func end() {
    state.withLock { state in
      if state.isLineOpen { Terminal.writeMessage("\r\u{1B}[K") }
      state.isLineOpen = false
    }
  }
}
