// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import HTTPTypes
import Hummingbird
import Ledger
import Playback
import ServiceAccess

/// The routes that set the volume and the chime of the player.
extension PlaybackRoutes {
  static let chimePath = "/v1/playback/chime"
  /// The maximum size of a chime's file, in bytes.
  static let largestChime = 4 << 20

  func setVolume(_ call: Call) async throws -> Response {
    let (player, preferences) = (try running(), try kept)
    let fields = try await JSONFields.read(call, keys: ["volume"], keys)
    let remedy = "give 0 to 100, or null for the volume of the settings"
    let percent = try fields.integer("volume", in: 0...100, remedy)
    if !fields.contains("volume") { _ = try fields.required("volume", percent, remedy) }
    try await preferences.keepVolume(percent) { try await player.setVolume($0.volume) }
    await administration.record(.volumeChanged, call)
    return try await status(call)
  }

  func setChime(_ call: Call) async throws -> Response {
    let (player, preferences) = (try running(), try kept)
    try call.requireSound()
    let bytes = [UInt8](try await largeBodies.read(call, of: try call.sender.account, upTo: Self.largestChime))
    try await keys.requireInForce(try call.sender)
    let chime = try await onWaitingThread {
      do throws(PlayableFileError) {
        return try PlayableFile.chime(bytes, named: "body")
      } catch {
        throw Problem(.unprocessableContent, error.code.rawValue, "\(error)")
      }
    }
    try await preferences.keepChime(chime) { try await player.setChime($0.chime) }
    await administration.record(.chimeChanged, call)
    return try await status(call)
  }

  func removeChime(_ call: Call) async throws -> Response {
    let (player, preferences) = (try running(), try kept)
    try await preferences.keepChime(nil) { try await player.setChime($0.chime) }
    await administration.record(.chimeRemoved, call)
    return try await status(call)
  }

  private var kept: PlayerPreferences {
    get throws(Problem) {
      guard let preferences else { throw Problem.noPlayer }
      return preferences
    }
  }
}
