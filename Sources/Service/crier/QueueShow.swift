// SPDX-License-Identifier: Apache-2.0

import Announcements
import ArgumentParser
import Foundation
import Ledger
import Playback
import PlaybackOrder

extension Queue {
  struct Show: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Shows the playing and the waiting announcements. On a terminal, the display updates until you quit.")

    @OptionGroup var queue: QueueOptions

    @Flag(help: "Print the queue once, even on a terminal.")
    var once = false

    @Flag(help: "Print the queue once as one line of JSON, without amounts, names or spoken words.")
    var json = false

    @OptionGroup(title: "Files") var data: DataOptions

    func perform() async throws {
      let (lane, ledger) = try await queue.open()
      if json {
        let snapshot = QueueSnapshot(try await LaneView.of(lane: lane, in: ledger))
        return try StandardOutput.write(snapshot.jsonLine)
      }
      // If the phrase books are missing, the queue is shown without the announcements' words.
      let titles = Titles(books: try? data.phraseBooks(home: queue.home.folder))
      if once || !Terminal.isDrawable {
        let display = QueueDisplay(columns: Terminal.isDrawable ? Terminal.columns : 400, title: titles.title)
        let lines = display.lines(try await LaneView.of(lane: lane, in: ledger))
        return try StandardOutput.write(text: lines.map { $0 + "\n" }.joined())
      }
      try await Interruption.cancelling { try await watch(lane, ledger, titles) }
    }

    private func watch(_ lane: String, _ ledger: any Ledger.Store, _ titles: Titles) async throws {
      let keys = KeyReader()
      defer { keys.restore() }
      var drawn = 0
      while true {
        let view = try await LaneView.of(lane: lane, in: ledger)
        let display = QueueDisplay(columns: Terminal.columns - 1, title: titles.title)
        let lines = display.lines(view) + [view.player.isRunning ? "p pause, s skip, r replay, q quit" : "q quit"]
        let shown = lines.prefix(max(2, Terminal.rows - 1))
        let up = drawn > 0 ? "\u{1B}[\(drawn)A" : ""
        try StandardOutput.write(text: up + "\r\u{1B}[J" + shown.map { $0 + "\n" }.joined())
        drawn = shown.count
        try Task.checkCancellation()
        switch keys.next(milliseconds: 200) {
        case "q", "\u{4}": return
        case "p" where view.player.isRunning, " " where view.player.isRunning:
          try await ledger.send(view.player.report?.isPaused == true ? .resume : .pause, lane: lane)
        case "s" where view.player.isRunning:
          // While the device is lost, the player's announcement is not listed as playing.
          if let number = view.player.report?.number { try await ledger.send(.skip(number), lane: lane) }
        case "r" where view.player.isRunning: try await ledger.send(.replay(nil), lane: lane)
        default: break
        }
      }
    }
  }
}

/// The texts that announcements speak, as titles for people.
struct Titles: Sendable {
  var books: PhraseBooks?

  func title(_ entry: Ledger.Entry) -> String {
    if let text = entry.decision?.text { return text }
    guard let content = try? entry.announcement.content else { return entry.category.rawValue }
    switch content {
    case .file(let file): return entry.announcement.title ?? file.lastPathComponent
    case .announcement(let announcement, _):
      let locale = announcement.locale ?? entry.defaultLocale ?? PhraseBooks.usualLocale
      let script = try? books?.writer(for: locale).script(for: announcement)
      return script?.text ?? "\(entry.category.rawValue) \(entry.id)"
    }
  }
}
