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

  /// - Parameter titles: of our own announcements, by their ids.
  init(titles: [String: String]) { self.titles = titles }

  func update(_ view: LaneView) {
    lock.withLock {
      let isLost = view.player.isRunning && view.player.report?.isDeviceLost == true
      if isLost != isDeviceLost {
        isDeviceLost = isLost
        note(isLost ? "The device is lost; waiting for it." : "The device is back.")
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
