// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import Playback

/// Reports playback progress on standard error. On a terminal, one line is redrawn; elsewhere, only problems are
/// reported.
final class PlayProgress: @unchecked Sendable {  // Mutable state is only used while the lock is held.
  private let titles: [String: String]
  private let isTerminal = Terminal.canRedrawMessages
  private let lock = NSLock()
  private var isLineOpen = false
  private var isDeviceLost = false
  private var isPaused = false
  /// Whether a warning is due if another program plays on the output, because the requested settings then have no
  /// effect.
  private var hasUnusedSettings: Bool

  /// - Parameters:
  ///   - titles: The titles of this command's announcements, by id.
  ///   - hasSettings: Whether a volume, a gap or a chime was requested.
  init(titles: [String: String], hasSettings: Bool) {
    self.titles = titles
    hasUnusedSettings = hasSettings
  }

  func update(_ view: LaneView) {
    lock.withLock {
      let isLost = view.player.isRunning && view.player.report?.isDeviceLost == true
      if isLost != isDeviceLost {
        isDeviceLost = isLost
        note(isLost ? "The audio device was lost; waiting for it to return." : "The audio device is back.")
      }
      if hasUnusedSettings, view.player.isRunning,
        view.player.report?.processID != ProcessInfo.processInfo.processIdentifier
      {
        hasUnusedSettings = false
        note("Another program plays on this output, so its volume, gap and chime apply.")
      }
      let isHeld = view.player.isRunning && view.player.report?.isPaused == true
      if isHeld != isPaused {
        isPaused = isHeld
        note(isHeld ? "Playback is paused. To continue, run crier queue resume." : "Playback continues.")
      }
      guard isTerminal, let entry = view.playing else { return }
      let title = titles[entry.id] ?? "an earlier announcement (\(entry.category.rawValue))"
      let line = QueueDisplay.progress(view, title: title, columns: Terminal.messageColumns - 1)
      Terminal.writeMessage("\r\u{1B}[K" + line)
      isLineOpen = true
    }
  }

  func end() {
    lock.withLock {
      if isLineOpen { Terminal.writeMessage("\r\u{1B}[K") }
      isLineOpen = false
    }
  }

  private func note(_ message: String) {
    Terminal.writeMessage((isLineOpen ? "\r\u{1B}[K" : "") + message + "\n")
    isLineOpen = false
  }
}
