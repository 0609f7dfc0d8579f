// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Ledger
import Playback
import PlaybackOrder
import ServiceAccess
import TextFormats
import Waveforms

/// The routes of `/v1/playback`, which control the service's own output.
struct PlaybackRoutes: Sendable {
  let player: LanePlayer?
  let ledger: any Ledger.Store
  let pace: ReplayPace
  let keys: KeyRing
  /// The stored volume and chime; nil if there is no player.
  let preferences: PlayerPreferences?
  let largeBodies: LargeBodies
  /// Called when the state of the shop has changed. It returns at once.
  let shopChanged: @Sendable () -> Void

  var administration: AdministrationLog { AdministrationLog(ledger: ledger) }
  private var entries: LaneEntries { LaneEntries(ledger: ledger) }

  var routes: [Route] {
    [
      .get("/v1/playback", .key(.read), status),
      .post("/v1/playback/pause", .key(.attend)) { call in
        let sender = try call.sender
        try await running().pause(by: await name(of: sender), account: sender.account)
        shopChanged()
        await administration.record(.playbackPaused, call)
        return try await status(call)
      },
      .post("/v1/playback/resume", .key(.attend)) { call in
        try await running().resume()
        shopChanged()
        await administration.record(.playbackResumed, call)
        return try await status(call)
      },
      .post("/v1/playback/replay", .key(.attend), replay),
      .post("/v1/playback/restore", .key(.play), restore),
      .put("/v1/playback/volume", .key(.attend), setVolume),
      .put("/v1/playback/chime", .key(.operate), setChime),
      .delete("/v1/playback/chime", .key(.operate), removeChime),
      .put("/v1/playback/chime/{kind}", .key(.operate), setKindChime),
      .delete("/v1/playback/chime/{kind}", .key(.operate), removeKindChime),
      .delete("/v1/playback/{id}", .key(.play), cancel),
      .delete("/v1/playback/replays/{number}", .key(.play), cancelReplay),
    ]
  }

  /// Returns the name of a key, or its id if the key has no name or the ledger cannot be read.
  private func name(of caller: Caller) async -> String {
    (try? await ledger.key(id: caller.keyID))?.name ?? caller.keyID
  }

  /// Returns the running player.
  ///
  /// - Throws: ``Problem`` with 503 if no player is running.
  func running() throws(Problem) -> Player {
    guard let player = player?.player else { throw Problem.noPlayer }
    return player
  }

  // MARK: Reading the state

  private struct Status: Encodable {
    struct Playing: Encodable {
      @ExplicitNull var id: String?
      var number: Int64
      var category: String
      @ExplicitNull var text: String?
      @ExplicitNull var locale: String?
      var replay: Bool
      var positionMs: Int
      var lengthMs: Int
    }

    struct Waiting: Encodable {
      @ExplicitNull var id: String?
      var number: Int64
      var category: String
      var state: String
      /// The words; null until the clip is made.
      @ExplicitNull var text: String?
      @ExplicitNull var locale: String?
      var replay: Bool
      @ExplicitNull var acceptedAt: Date?
    }

    struct Chime: Encodable {
      var set: Bool
      @ExplicitNull var durationMs: Int?

      init(_ chime: Waveform?) { (set, durationMs) = (chime != nil, chime?.durationMilliseconds) }
    }

    var lane: String
    var state: String
    var volume: Int
    /// Whether a rule of the time of day has set the volume.
    var volumeByTime: Bool
    /// The end of the present quiet hours.
    @ExplicitNull var quietUntil: Date?
    var chime: Chime
    /// The chimes of the kinds of payments that have a chime of their own.
    var chimes: [String: Chime]
    @ExplicitNull var playing: Playing? = nil
    var waiting: [Waiting]
    var waitingCount: Int
    /// The time since which the device cannot be used.
    @ExplicitNull var deviceLostSince: Date? = nil
    /// The code of the error because of which the device cannot be used.
    @ExplicitNull var deviceCode: String? = nil
    /// The time since which an error prevents the next announcement.
    @ExplicitNull var blockedSince: Date? = nil
    /// The code of the error that prevents the next announcement.
    @ExplicitNull var blockedCode: String? = nil
    /// The other lanes on which requests wait.
    var elsewhere: [Elsewhere]

    struct Elsewhere: Encodable {
      var lane: String
      var waitingCount: Int
      /// Whether another process plays the lane.
      var played: Bool
    }
  }

  func status(_ call: Call) async throws -> Response {
    guard let lanePlayer = player, let settings = preferences?.settings else { throw Problem.noPlayer }
    let sender = try call.sender
    let chime = Status.Chime(settings.chimes.all)
    let chimes = Dictionary(
      uniqueKeysWithValues: settings.chimes.own.keys.map { kind in
        (kind.rawValue, Status.Chime(settings.chimes.chime(of: kind)))
      })
    let elsewhere = try await ledger.waitingLanes().filter { $0.lane != lanePlayer.lane }
      .map { Status.Elsewhere(lane: $0.lane, waitingCount: $0.count, played: $0.isPlayed) }
    guard let player = lanePlayer.player else {
      let count = try await ledger.unfinishedAloneCount(lane: lanePlayer.lane)
      let now = Date()
      let (volume, isByTime) = settings.volume(at: now)
      return try ServiceJSON.response(
        .ok,
        Status(
          lane: lanePlayer.lane, state: "stopped", volume: volume, volumeByTime: isByTime,
          quietUntil: settings.quietEnd(at: now), chime: chime, chimes: chimes, waiting: [],
          waitingCount: count, elsewhere: elsewhere))
    }
    let lane = try await player.status()
    var status = Status(
      lane: lane.lane,
      state: lane.isDeviceLost ? "device_lost" : lane.isPaused ? "paused" : lane.playing == nil ? "idle" : "playing",
      volume: lane.volume, volumeByTime: lane.isVolumeByTime, quietUntil: lane.quietUntil, chime: chime,
      chimes: chimes, waiting: [], waitingCount: lane.unheardCount,
      deviceLostSince: lane.deviceLoss?.since, deviceCode: lane.deviceLoss?.code,
      blockedSince: lane.blockage?.since, blockedCode: lane.blockage?.code, elsewhere: elsewhere)
    var waiting = lane.next
    if let playing = lane.playing, lane.isDeviceLost {
      // Nothing is heard while the device is lost, so the announcement still waits, before all others.
      waiting.insert(
        LaneStatus.Waiting(
          number: playing.number, category: playing.category, state: .waiting, failure: lane.deviceLoss?.code,
          isReplay: playing.isReplay), at: 0)
    } else if let playing = lane.playing {
      let seen = try await entries.seen(playing.number, by: sender)
      let words = seen?.words
      status.playing = Status.Playing(
        id: seen?.id, number: playing.number, category: playing.category.rawValue, text: words?.text,
        locale: words?.locale, replay: playing.isReplay,
        positionMs: playing.positionMilliseconds, lengthMs: playing.lengthMilliseconds)
    }
    for waiting in waiting {
      let seen = try await entries.seen(waiting.number, by: sender)
      let words = seen?.words
      status.waiting.append(
        Status.Waiting(
          id: seen?.id, number: waiting.number, category: waiting.category.rawValue, state: waiting.state.rawValue,
          text: words?.text, locale: words?.locale, replay: waiting.isReplay, acceptedAt: seen?.entry.acceptedAt))
    }
    return try ServiceJSON.response(.ok, status)
  }

  // MARK: Controlling playback

  private struct Taken: Encodable {
    @ExplicitNull var id: String?
    var state: String
    /// The number of replays that were cancelled. If it is not 0, the state of the announcement itself did not change.
    var replays: Int
  }

  private func replay(_ call: Call) async throws -> Response {
    let player = try running()
    let body = try await call.body(upTo: 4096)
    try await keys.requireInForce(try call.sender)
    var number: Int64?
    if !body.isEmpty {
      try call.requireMediaType("application/json")
      let fields = try JSONFields(body, keys: ["id"])
      let remedy = "give the announcement's id, or send an empty body for the last one"
      // Null is refused too. Otherwise, the last announcement would be played in place of the intended one.
      if fields.contains("id") {
        let id = try fields.required("id", try fields.string("id", remedy), remedy)
        guard let entry = try await ledger.entry(account: try call.sender.account, id: id) else { throw Self.unknown }
        number = entry.number
      }
    }
    let sender = try call.sender
    try pace.admit(keyID: sender.keyID)
    let replay = try await player.replay(number, for: sender.account)
    await administration.record(.announcementReplayed, call, subject: number.map(String.init) ?? String(replay))
    return try ServiceJSON.response(.accepted, ["number": replay])
  }

  static let unknown = Problem.notFound("The account has sent no announcement with this id to the player.")

  private func cancel(_ call: Call) async throws -> Response {
    let account = try call.sender.account
    guard let entry = try await ledger.entry(account: account, id: call.parameter) else {
      throw player == nil ? Problem.noPlayer : Self.unknown
    }
    if try await cancel(entry) {
      await administration.record(.announcementCancelled, call, subject: String(entry.number))
      return try ServiceJSON.response(.ok, Taken(id: entry.id, state: "cancelled", replays: 0))
    }
    // The announcement has ended and keeps its state. Its unfinished replays are cancelled, the last one first, so that
    // no replay starts because the one before it was cancelled.
    var count = 0
    guard let player = player?.player else { throw Self.ended }
    let replays = try await ledger.unfinishedReplays(lane: player.lane).filter { $0.original == entry.number }
    for replay in replays.reversed() where try await player.cancel(replay.number) {
      count += 1
      await administration.record(.announcementCancelled, call, subject: String(replay.number))
    }
    guard count > 0 else { throw Self.ended }
    return try ServiceJSON.response(.ok, Taken(id: entry.id, state: "cancelled", replays: count))
  }

  /// Cancels an announcement through the player, or in the ledger if no process plays the announcement's lane.
  ///
  /// - Returns: False if the announcement has already ended.
  private func cancel(_ entry: Ledger.Entry) async throws -> Bool {
    if entry.state.isFinal { return false }
    if let player = player?.player, player.lane == entry.lane { return try await player.cancel(entry.number) }
    do throws(LedgerError) {
      return try await ledger.cancelUnplayed(entry.number)
    } catch {
      if error.code == .laneTaken { throw Problem.noPlayer }
      throw error
    }
  }

  /// Cancels one replay by its number. The account that requested a replay may cancel it, even if the announcement
  /// belongs to another account.
  private func cancelReplay(_ call: Call) async throws -> Response {
    let player = try running()
    guard let number = Int64(call.parameter), let seen = try await entries.seen(number, by: call.sender), seen.isReplay,
      seen.entry.lane == player.lane
    else { throw Problem.notFound("The account has no replay with this number.") }
    guard try await player.cancel(number) else { throw Self.ended }
    await administration.record(.announcementCancelled, call, subject: String(number))
    return try ServiceJSON.response(.ok, Taken(id: seen.id, state: "cancelled", replays: 1))
  }

  private static let ended = Problem(
    .conflict, "already_ended", "The announcement has already ended, so it cannot be cancelled.")
}
