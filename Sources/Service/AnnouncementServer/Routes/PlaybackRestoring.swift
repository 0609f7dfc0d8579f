// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Hummingbird
import Ledger
import Playback
import ServiceAccess

/// The route `POST /v1/playback/restore`, which undoes a cancellation.
extension PlaybackRoutes {
  private struct Restored: Encodable {
    var id: String
    var state = "waiting"
  }

  /// Restores a cancelled announcement of the account. The announcement waits again in its old place.
  func restore(_ call: Call) async throws -> Response {
    let fields = try await JSONFields.read(call, keys: ["id"], keys)
    let remedy = "give the id of a cancelled announcement"
    let id = try fields.required("id", try fields.string("id", remedy), remedy)
    guard let entry = try await ledger.entry(account: try call.sender.account, id: id) else {
      throw player == nil ? Problem.noPlayer : Self.unknown
    }
    // The announcement waits already, because somebody else has restored it, or because the answer to the first request
    // was lost.
    if [.accepted, .rendering, .waiting].contains(entry.state) {
      return try ServiceJSON.response(.ok, Restored(id: id))
    }
    guard try await restore(entry) else {
      throw Problem(
        .conflict, "not_restorable",
        "The announcement was not cancelled while it waited, or it was cancelled more than "
          + "\(Int(Ledger.restorationTime)) seconds ago. If it is to be heard, replay it.")
    }
    player?.lookForArrivals()
    await administration.record(.announcementRestored, call, subject: String(entry.number))
    return try ServiceJSON.response(.ok, Restored(id: id))
  }

  /// Restores an announcement through the player, or in the ledger if no process plays the announcement's lane.
  private func restore(_ entry: Ledger.Entry) async throws -> Bool {
    if let player = player?.player, player.lane == entry.lane { return try await player.restore(entry.number) }
    do throws(LedgerError) {
      return try await ledger.restoreUnplayed(entry.number) != nil
    } catch {
      if error.code == .laneTaken { throw Problem.noPlayer }
      throw error
    }
  }
}
