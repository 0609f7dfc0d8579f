// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import Playback
import PlaybackOrder
import SQLiteLedger
import Testing

@testable import crier

@Suite("Queue display")
struct QueueDisplayTests {
  /// Returns the view of a lane with one playing and two waiting payments.
  private func view(position: Int? = nil, _ change: (inout PlayerReport) -> Void = { _ in }) async throws -> LaneView {
    let folder = FileManager.default.temporaryDirectory.appending(path: "queue-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let ledger = try SQLiteLedger(at: folder.appending(path: "ledger.sqlite"))
    for id in ["a", "b", "c"] {
      _ = try await ledger.accept(
        StoredAnnouncement(
          id: id, lane: "counter", category: id == "b" ? .information : .payment, payload: Data("{}".utf8)))
    }
    let seat = try ledger.takeSeat(lane: "counter")
    var report = PlayerReport(startedAt: Date(), reportedAt: Date())
    if let position {
      try await ledger.set(1, .rendering)
      try await ledger.set(1, .waiting)
      try await ledger.set(1, .playing)
      (report.number, report.positionMilliseconds, report.lengthMilliseconds) = (1, position, 2_000)
    }
    change(&report)
    try seat.report(report)
    let view = try await LaneView.of(lane: "counter", in: ledger)
    return withExtendedLifetime(seat) { view }
  }

  private func lines(_ view: LaneView, columns: Int = 60) -> [String] {
    QueueDisplay(columns: columns, title: { "words of \($0.id)" }).lines(view)
  }

  @Test("the queue display shows the playing announcement with its progress, and the waiting ones in playing order")
  func playing() async throws {
    #expect(
      lines(try await view(position: 500)) == [
        "counter: playing; 2 waiting",
        "> 1  words of a",
        "  [####---------------] 0.5 of 2.0 s",
        "  3  words of c  (accepted)",
        "  2  words of b  (accepted)",
      ])
  }

  @Test("the queue display shows why, and since when, the next announcement cannot begin")
  func blocked() async throws {
    let since = Date(timeIntervalSince1970: 1_795_000_000)
    let blocked = try await view { ($0.blockedSince, $0.blockedCode) = (since, "disk_full") }
    #expect(
      lines(blocked, columns: 100).first
        == "counter: waiting because of an error since \(since.formatted(.iso8601)) (disk_full); 3 waiting")
    #expect(QueueSnapshot(blocked).blockedCode == "disk_full")
    // The end of a sound could not be written: its announcement still counts as playing, but nothing is heard.
    let ended = try await view(position: 2_000) { $0.blockedCode = "disk_full" }
    #expect(lines(ended).first == "counter: waiting because of an error (disk_full); 2 waiting")
    let paused = try await view { ($0.blockedCode, $0.isPaused) = ("disk_full", true) }
    #expect(lines(paused).first == "counter: paused; 3 waiting")
  }

  @Test("the queue display shows who paused and since when, also while no player runs")
  func paused() async throws {
    let since = Date(timeIntervalSince1970: 1_795_000_000)
    let words = "paused since \(since.formatted(.iso8601)) by till"
    var view = try await view { $0.isPaused = true }
    view.pause = Ledger.Pause(since: since, by: "till", account: "shop")
    #expect(lines(view, columns: 100).first == "counter: \(words); 3 waiting")
    let folder = FileManager.default.temporaryDirectory.appending(path: "queue-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    view.player = try SQLiteLedger(at: folder.appending(path: "ledger.sqlite")).player(lane: "counter")
    #expect(lines(view, columns: 100).first == "counter: no player is running; \(words); 3 waiting")
    // The player that runs is not the one whose pause was kept.
    let running = try await self.view()
    #expect(lines(running).first == "counter: idle; 3 waiting")
  }

  @Test("the queue display shows the paused and the idle state, the volume, and a lost device")
  func states() async throws {
    #expect(lines(try await view { $0.isPaused = true }).first == "counter: paused; 3 waiting")
    #expect(lines(try await view { $0.volume = 40 }).first == "counter: idle, volume 40 %; 3 waiting")
    #expect(
      lines(try await view(position: 0) { $0.isDeviceLost = true }).first
        == "counter: waiting for the speaker; 2 waiting")
    let since = Date(timeIntervalSince1970: 1_795_000_000)
    let lost = try await view(position: 0) {
      ($0.isDeviceLost, $0.deviceLostSince, $0.deviceCode) = (true, since, "device_unavailable")
    }
    #expect(
      lines(lost, columns: 100).first
        == "counter: waiting for the speaker since 2026-11-18T11:06:40Z (device_unavailable); 2 waiting")
  }

  @Test("a message names the process that plays, and the number of announcements before those of this command")
  func anotherProcess() async throws {
    let (playing, idle) = (try await view(position: 500), try await view())
    for (view, own, end) in [
      (playing, "a", "so it plays this too."), (playing, "c", "so it plays this after 1 other announcement."),
      (playing, "b", "so it plays this after 2 other announcements."), (idle, "a", "so it plays this too."),
    ] {
      #expect(PlayProgress.report(of: 4_711, in: view, own: [own]) == "Process 4711 plays on counter, \(end)")
    }
  }

  @Test("no line of the queue display is wider than the terminal, and no title can move the cursor")
  func width() async throws {
    let view = try await view(position: 2_000)
    let display = QueueDisplay(columns: 24, title: { _ in "支付宝到账十二元五角\u{1B}[2J\u{202E}" })
    for line in display.lines(view) {
      #expect(!line.unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\u{202E}" })
      #expect(line.unicodeScalars.reduce(0) { $0 + ($1.value > 0x2E80 ? 2 : 1) } <= 24)
    }
  }

  @Test("the JSON of the queue has states and ids, and no amounts, names or spoken words")
  func snapshot() async throws {
    let json = try QueueSnapshot(try await view(position: 500)).jsonLine
    #expect(
      json == """
        {"blocked_code":null,"device_lost":false,"elsewhere":[],"lane":"counter","paused":false,\
        "playing":{"category":"payment","id":"a","length_ms":2000,"number":1,"position_ms":500,"replay":false},\
        "running":true,"volume":100,\
        "waiting":[{"category":"payment","id":"c","number":3,"replay":false,"state":"accepted"},\
        {"category":"information","id":"b","number":2,"replay":false,"state":"accepted"}],"waiting_count":2}
        """)
  }
}
