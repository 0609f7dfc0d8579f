// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Ledger
import Playback
import PlaybackOrder
import SoundOutputTestSupport
import SQLiteLedger
import Testing
import Waveforms

/// A lane in a new folder, with a clock and an output that the test controls.
final class TestLane: Sendable {
  let folder = FileManager.default.temporaryDirectory.appending(path: "lane-\(UUID().uuidString)")
  let clock = ManualClock()
  let output = SimulatedOutput()
  let renderer = StandInRenderer()
  let ledger: any Ledger.Store

  init(copyOf other: URL? = nil) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appending(path: "ledger.sqlite")
    if let other {
      for name in try FileManager.default.contentsOfDirectory(atPath: other.path) {
        try FileManager.default.copyItem(at: other.appending(path: name), to: folder.appending(path: name))
      }
    }
    ledger = try SQLiteLedger(at: file, now: { [clock] in clock.date() })
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Returns a player without gaps, unless the test sets them.
  func player(summary: @escaping Player.SummaryMaker, _ change: (inout Player.Settings) -> Void) -> Player {
    var settings = Player.Settings()
    settings.gap = 0
    change(&settings)
    return Player(
      lane: "counter", ledger: ledger, output: output, render: renderer, settings: settings, clock: clock,
      summary: summary)
  }

  func player() -> Player { player(summary: { _ in nil }) { _ in } }

  func started(_ change: (inout Player.Settings) -> Void = { _ in }) async throws -> Player {
    try await started(summary: { _ in nil }, change)
  }

  func started(summary: @escaping Player.SummaryMaker, _ change: (inout Player.Settings) -> Void) async throws -> Player
  {
    let player = player(summary: summary, change)
    try await player.start()
    return player
  }

  func state(_ number: Int64) async throws -> Ledger.State? { try await ledger.entry(number)?.state }

  /// Returns the kinds of an announcement's events.
  func kinds(_ number: Int64?) async throws -> [Ledger.Event.Kind] {
    try await ledger.events(limit: 1000).filter { $0.number == number }.map(\.kind)
  }

  /// Waits until an event has happened. It may have happened earlier.
  @discardableResult
  func event(_ kind: Ledger.Event.Kind, _ number: Int64? = nil, of player: Player) async throws -> Ledger.Event {
    for try await event in player.events(after: 0) where event.kind == kind && (number ?? event.number) == event.number
    {
      return event
    }
    throw Ended()
  }

  struct Ended: Error {}
}

func announcement(
  _ id: String, _ category: PlaybackItem.Category = .payment, sequence: Int64? = nil, expiresAt: Date? = nil
) -> StoredAnnouncement {
  StoredAnnouncement(
    id: id, category: category, sequence: sequence, payload: Data("{\"id\":\"\(id)\"}".utf8), expiresAt: expiresAt)
}

extension StoredAnnouncement {
  /// The announcement on the lane of ``TestLane``.
  var onCounter: StoredAnnouncement {
    var announcement = self
    announcement.lane = "counter"
    return announcement
  }
}

/// A clock that only moves when the test moves it.
final class ManualClock: PlayerClock {
  private struct State {
    var now: Int64 = 1_800_000_000_000
    var sleepers: [Int: (moment: Int64, continuation: CheckedContinuation<Void, Never>)] = [:]
    var nextSleeper = 0
  }
  private let state = Locked(State())

  func now() -> Int64 { state.withLock { $0.now } }
  func date() -> Date { Date(timeIntervalSince1970: Double(now()) / 1000) }

  func advance(by milliseconds: Int64) {
    let woken = state.withLock { state in
      state.now += milliseconds
      let woken = state.sleepers.filter { $0.value.moment <= state.now }
      for id in woken.keys { state.sleepers[id] = nil }
      return woken.values.map(\.continuation)
    }
    for sleeper in woken { sleeper.resume() }
  }

  func sleep(until moment: Int64) async {
    let id = state.withLock { state in
      state.nextSleeper += 1
      return state.nextSleeper
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if moment <= state.now || Task.isCancelled { return true }
          state.sleepers[id] = (moment, continuation)
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      let sleeper = state.withLock { $0.sleepers.removeValue(forKey: id) }
      sleeper?.continuation.resume()
    }
  }
}

/// A renderer that makes 100 ms of sound for everything, unless the test says otherwise.
final class StandInRenderer: Rendering {
  private struct State {
    var failures: [String: [RenderFailure]] = [:]
    var asked: [String] = []
    var whenAsked: (@Sendable () async -> Void)?
    var againFailures: [RenderFailure] = []
    var known: (ids: Set<String>, otherwise: RenderFailure)?
    var waveform = Waveform(samples: Array(repeating: 8_000, count: 100), sampleRate: 1_000)
  }
  private let state = Locked(State())

  /// The ids of the requested sounds, in order.
  var asked: [String] { state.withLock { $0.asked } }
  func fail(_ id: String, _ failures: RenderFailure...) { state.withLock { $0.failures[id] = failures } }
  /// Makes all sounds except the known ones fail.
  func failUnknown(_ failure: RenderFailure, known: Set<String>) { state.withLock { $0.known = (known, failure) } }
  func give(_ waveform: Waveform) { state.withLock { $0.waveform = waveform } }

  /// Calls a function before the stored clip of an announcement is looked for.
  func whenAsked(_ act: @escaping @Sendable () async -> Void) { state.withLock { $0.whenAsked = act } }

  func decided(_ announcement: StoredAnnouncement) async -> RenderedSound? {
    await state.withLock { $0.whenAsked }?()
    return nil
  }

  /// 50 ms of sound.
  static let again = Waveform(samples: Array(repeating: 4_000, count: 50), sampleRate: 1_000)

  func again(before replay: StoredAnnouncement) async throws -> Waveform {
    let failure: RenderFailure? = state.withLock { state in
      guard state.againFailures.isEmpty else { return state.againFailures.removeFirst() }
      return nil
    }
    if let failure { throw failure }
    return Self.again
  }

  /// Makes the word "again" fail as many times.
  func failAgain(_ failures: RenderFailure...) { state.withLock { $0.againFailures = failures } }

  func render(_ announcement: StoredAnnouncement) async throws -> RenderedSound {
    let result: Result<Waveform, RenderFailure> = state.withLock { state in
      state.asked.append(announcement.id)
      if let known = state.known, !known.ids.contains(announcement.id) { return .failure(known.otherwise) }
      if state.failures[announcement.id]?.isEmpty == false, let failure = state.failures[announcement.id]?.removeFirst()
      {
        return .failure(failure)
      }
      return .success(state.waveform)
    }
    return RenderedSound(waveform: try result.get(), clip: "\(announcement.id).wav")
  }
}
