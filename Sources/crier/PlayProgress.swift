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

  func update(_ view: LaneView) {
    state.withLock { state in
      let isLost = view.player.isRunning && view.player.report?.isDeviceLost == true
      if isLost != state.isDeviceLost {
        state.isDeviceLost = isLost
        state.note(isLost ? "The audio device was lost; waiting for it to return." : "The audio device is back.")
      }
      if state.hasUnusedSettings, view.player.isRunning,
        view.player.report?.processID != ProcessInfo.processInfo.processIdentifier
      {
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

  func end() {
    state.withLock { state in
      if state.isLineOpen { Terminal.writeMessage("\r\u{1B}[K") }
      state.isLineOpen = false
    }
  }
}
