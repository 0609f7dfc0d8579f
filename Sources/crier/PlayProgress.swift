// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import Playback

/// Tells on standard error what plays, in one line that is drawn again on a terminal; elsewhere only what is amiss.
final class PlayProgress: @unchecked Sendable {  // What changes is used under the lock.
  private let titles: [String: String]
  private let isTerminal = Terminal.canRedrawMessages
  private let lock = NSLock()
  private var isLineOpen = false
  private var isDeviceLost = false
  private var isPaused = false
  /// Whether there is something to be said when another program plays.
  private var hasUnusedSettings: Bool

  /// - Parameters:
  ///   - titles: of our own announcements, by their ids.
  ///   - hasSettings: whether a volume, a gap or a chime was asked for.
  init(titles: [String: String], hasSettings: Bool) {
    self.titles = titles
    hasUnusedSettings = hasSettings
  }

  func update(_ view: LaneView) {
    lock.withLock {
      let isLost = view.player.isRunning && view.player.report?.isDeviceLost == true
      if isLost != isDeviceLost {
        isDeviceLost = isLost
        note(isLost ? "The device is lost; waiting for it." : "The device is back.")
      }
      if hasUnusedSettings, view.player.isRunning,
        view.player.report?.processID != ProcessInfo.processInfo.processIdentifier
      {
        hasUnusedSettings = false
        note("Another program plays on this output; its volume, gap and chime hold.")
      }
      let isHeld = view.player.isRunning && view.player.report?.isPaused == true
      if isHeld != isPaused {
        isPaused = isHeld
        note(isHeld ? "The output is paused; crier queue resume goes on." : "The output goes on.")
      }
      guard isTerminal, let entry = view.playing else { return }
      let title = titles[entry.id] ?? "an announcement that came before (\(entry.category.rawValue))"
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
