// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Ledger
import Playback
import ServiceAccess

/// `/v1/playback`: what is heard on the service's own output.
struct PlaybackCalls: Sendable {
  let player: LanePlayer?
  let ledger: Ledger
  let phraseBooks: PhraseBooks
  let locale: String

  var routes: [Route] {
    [
      .get("/v1/playback", .key(.read), status),
      .post("/v1/playback/pause", .key(.play)) { call in
        try await running().pause()
        return try await status(call)
      },
      .post("/v1/playback/resume", .key(.play)) { call in
        try await running().resume()
        return try await status(call)
      },
      .post("/v1/playback/replay", .key(.play), replay),
      .delete("/v1/playback/{id}", .key(.play), cancel),
    ]
  }

  /// - Throws: ``Problem``, 503.
  private func running() throws(Problem) -> Player {
    guard let player = player?.player else { throw Problem.noPlayer }
    return player
  }

  // MARK: Looking

  private struct Status: Encodable {
    struct Playing: Encodable {
      var id: String?
      var number: Int64
      var category: String
      var text: String?
      var positionMilliseconds: Int
      var lengthMilliseconds: Int

      enum CodingKeys: String, CodingKey {
        case id, number, category, text
        case positionMilliseconds = "position_ms"
        case lengthMilliseconds = "length_ms"
      }

      func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(id, forKey: .id)
        try fields.encode(number, forKey: .number)
        try fields.encode(category, forKey: .category)
        try fields.encode(text, forKey: .text)
        try fields.encode(positionMilliseconds, forKey: .positionMilliseconds)
        try fields.encode(lengthMilliseconds, forKey: .lengthMilliseconds)
      }
    }

    struct Waiting: Encodable {
      var id: String?
      var number: Int64
      var category: String
      var state: String
      var acceptedAt: Date?

      enum CodingKeys: String, CodingKey {
        case id, number, category, state
        case acceptedAt = "accepted_at"
      }

      func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(id, forKey: .id)
        try fields.encode(number, forKey: .number)
        try fields.encode(category, forKey: .category)
        try fields.encode(state, forKey: .state)
        try fields.encode(acceptedAt, forKey: .acceptedAt)
      }
    }

    var lane: String
    var state: String
    var volume: Int
    var playing: Playing?
    var waiting: [Waiting]
    var waitingCount: Int

    enum CodingKeys: String, CodingKey {
      case lane, state, volume, playing, waiting
      case waitingCount = "waiting_count"
    }

    func encode(to encoder: any Encoder) throws {
      var fields = encoder.container(keyedBy: CodingKeys.self)
      try fields.encode(lane, forKey: .lane)
      try fields.encode(state, forKey: .state)
      try fields.encode(volume, forKey: .volume)
      try fields.encode(playing, forKey: .playing)
      try fields.encode(waiting, forKey: .waiting)
      try fields.encode(waitingCount, forKey: .waitingCount)
    }
  }

  private func status(_ call: Call) async throws -> Response {
    guard let lanePlayer = player else { throw Problem.noPlayer }
    let sender = try call.sender
    guard let player = lanePlayer.player else {
      let count = try await ledger.unfinishedCount(lane: lanePlayer.lane)
      return try ServiceJSON.response(
        .ok, Status(lane: lanePlayer.lane, state: "stopped", volume: 100, waiting: [], waitingCount: count))
    }
    let lane = try await player.status()
    var status = Status(
      lane: lane.lane,
      state: lane.isDeviceLost ? "device_lost" : lane.isPaused ? "paused" : lane.playing == nil ? "idle" : "playing",
      volume: lane.volume, waiting: [], waitingCount: lane.waitingCount)
    if let playing = lane.playing {
      let entry = try await entry(playing.number, for: sender)
      status.playing = Status.Playing(
        id: entry?.id, number: playing.number, category: playing.category.rawValue, text: entry.flatMap(text),
        positionMilliseconds: playing.positionMilliseconds, lengthMilliseconds: playing.lengthMilliseconds)
    }
    for waiting in lane.next {
      let entry = try await entry(waiting.number, for: sender)
      status.waiting.append(
        Status.Waiting(
          id: entry?.id, number: waiting.number, category: waiting.category.rawValue, state: waiting.state.rawValue,
          acceptedAt: entry?.acceptedAt))
    }
    return try ServiceJSON.response(.ok, status)
  }

  /// - Returns: nil for what is another account's.
  private func entry(_ number: Int64, for sender: Caller) async throws(LedgerError) -> Ledger.Entry? {
    guard let entry = try await ledger.entry(number), entry.account == sender.account || sender.isAdmin else {
      return nil
    }
    return entry
  }

  /// What an announcement says, for people.
  private func text(_ entry: Ledger.Entry) -> String? {
    guard case .announcement(let announcement, _, let defaults) = try? StoredAnnouncement(entry).content else {
      return nil
    }
    let writer = try? phraseBooks.writer(for: announcement.locale ?? defaults.locale ?? locale)
    return try? writer?.script(for: announcement).text
  }

  // MARK: Commanding

  private struct Named: Decodable { var id: String? }
  private struct Number: Encodable { var number: Int64 }
  private struct Taken: Encodable {
    var id: String
    var state: String
  }

  private func replay(_ call: Call) async throws -> Response {
    let player = try running()
    let body = try await call.body(upTo: 4096)
    var number: Int64?
    if !body.isEmpty {
      try call.requireMediaType("application/json")
      try PayloadDecoder.requireJSON(body)
      guard let named = try? JSONDecoder().decode(Named.self, from: body) else {
        throw Problem(.badRequest, "payload_malformed", "The body is no object with a text as its id.")
      }
      if let id = named.id {
        guard let entry = try await ledger.entry(account: try call.sender.account, id: id) else { throw Self.unknown }
        number = entry.number
      }
    }
    return try ServiceJSON.response(.accepted, Number(number: try await player.replay(number)))
  }

  private static let unknown = Problem(
    .notFound, "not_found", "The account has no announcement of that id to be heard.")

  private func cancel(_ call: Call) async throws -> Response {
    let player = try running()
    let account = try call.sender.account
    guard let entry = try await ledger.entry(account: account, id: call.parameter) else { throw Self.unknown }
    guard try await player.cancel(entry.number) else {
      throw Problem(.conflict, "already_ended", "The announcement has ended: it cannot be taken back.")
    }
    return try ServiceJSON.response(.ok, Taken(id: entry.id, state: "cancelled"))
  }
}
