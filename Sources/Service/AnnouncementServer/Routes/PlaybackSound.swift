// SPDX-License-Identifier: Apache-2.0

import Announcements
import ConcurrencySupport
import Foundation
import HTTPTypes
import Hummingbird
import Ledger
import Playback
import ServiceAccess
import Waveforms

/// The routes that set the volume and the chimes of the player.
extension PlaybackRoutes {
  static let chimePath = "/v1/playback/chime"
  /// Whether a path sets a chime.
  static func isChime(_ path: String) -> Bool { path == chimePath || path.hasPrefix("\(chimePath)/") }
  /// The maximum size of a chime's file, in bytes.
  static let largestChime = 4 << 20

  func setVolume(_ call: Call) async throws -> Response {
    let (player, preferences) = (try running(), try kept)
    let fields = try await JSONFields.read(call, keys: ["volume"], keys)
    let remedy = "give 0 to 100, or null for the volume of the settings"
    let percent = try fields.integer("volume", in: 0...100, remedy)
    if !fields.contains("volume") { _ = try fields.required("volume", percent, remedy) }
    try await preferences.keepVolume(percent) { try await player.setVolume(percent) }
    await administration.record(.volumeChanged, call)
    return try await status(call)
  }

  func setChime(_ call: Call) async throws -> Response {
    let (player, preferences) = (try running(), try kept)
    let chime = try await readChime(call)
    try await preferences.keepChime(chime) { try await player.setChimes($0.chimes) }
    await administration.record(.chimeChanged, call)
    return try await status(call)
  }

  func removeChime(_ call: Call) async throws -> Response {
    let (player, preferences) = (try running(), try kept)
    try await preferences.keepChime(nil) { try await player.setChimes($0.chimes) }
    await administration.record(.chimeRemoved, call)
    return try await status(call)
  }

  /// Sets the chime of a kind of payments: a sound, or no chime.
  func setKindChime(_ call: Call) async throws -> Response {
    let (player, preferences, kind) = (try running(), try kept, try Self.kind(call))
    let chime: Chimes.Own
    if call.mediaType == "application/json" {
      let remedy = "give none, or send a sound file with its media type"
      let fields = try await JSONFields.read(call, keys: ["chime"], keys)
      let value = try fields.required("chime", try fields.string("chime", remedy), remedy)
      guard value == "none" else { throw fields.invalid("chime", remedy) }
      chime = .none
    } else {
      chime = .sound(try await readChime(call))
    }
    try await preferences.keepChime(chime, of: kind) { try await player.setChimes($0.chimes) }
    await administration.record(.chimeChanged, call, subject: kind.rawValue)
    return try await status(call)
  }

  func removeKindChime(_ call: Call) async throws -> Response {
    let (player, preferences, kind) = (try running(), try kept, try Self.kind(call))
    try await preferences.keepChime(nil, of: kind) { try await player.setChimes($0.chimes) }
    await administration.record(.chimeRemoved, call, subject: kind.rawValue)
    return try await status(call)
  }

  private static func kind(_ call: Call) throws(Problem) -> Payment.Kind {
    guard let kind = Payment.Kind(rawValue: call.parameter) else {
      let kinds = Payment.Kind.allCases.map(\.rawValue).joined(separator: ", ")
      throw Problem.notFound("There is no such kind of payment. The kinds are \(kinds).")
    }
    return kind
  }

  /// Reads a chime from the body of a request.
  private func readChime(_ call: Call) async throws -> Waveform {
    try call.requireSound()
    let bytes = [UInt8](try await largeBodies.read(call, of: try call.sender.account, upTo: Self.largestChime))
    try await keys.requireInForce(try call.sender)
    return try await onWaitingThread {
      do throws(PlayableFileError) {
        return try PlayableFile.chime(bytes, named: "body")
      } catch {
        throw Problem(.unprocessableContent, error.code.rawValue, "\(error)")
      }
    }
  }

  private var kept: PlayerPreferences {
    get throws(Problem) {
      guard let preferences else { throw Problem.noPlayer }
      return preferences
    }
  }
}
