// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import HTTPTypes
import HummingbirdCore
import Ledger
import Playback
import SoundFiles

/// A validated request to announce something: the clip to make, the announcement to play, and the request's id and key.
struct AnnouncementOrder: Sendable {
  var request: AnnouncementRequest
  /// The announcement for the player's lane; nil if it is not to be played. Its lane is empty until ``findLane(of:)``
  /// if the service has no output.
  var played: StoredAnnouncement?
  /// The devices to which the announcement is pushed, in the order of their ids.
  private(set) var devices: [Ledger.Device] = []
  /// The languages of the devices' clips and notifications, in the same order.
  private(set) var locales: [String] = []
  /// The id of the payment or text, or else the idempotency key, or else a new id.
  var id: String
  /// The value of the field `Idempotency-Key`, if there is one.
  var key: String?
  var options: RenderOptions
  var group: String
  /// The authority by which the sender calls the service.
  var authority: String?
  var wantsSound: Bool

  /// The key under which the ledger stores the response.
  var storageKey: String { key.map { "key:\($0)" } ?? "id:\(id)" }

  /// Returns the `Idempotency-Key` of a ``storageKey``; nil if the request had none.
  static func idempotencyKey(of storageKey: String) -> String? {
    storageKey.hasPrefix("key:") ? String(storageKey.dropFirst("key:".count)) : nil
  }

  /// - Parameters:
  ///   - body: The request's exact bytes.
  ///   - lane: The lane on which the service plays; nil if it has no output.
  /// - Throws: ``Problem``, `AnnouncementError`, `AnnouncerError`.
  init(
    _ call: Call, body: Data, key: String?, settings: ServiceSettings, groups: AppGroups, lane: String?
  ) throws {
    let sender = try call.sender
    request = try PayloadDecoder.request(body, unknownKeys: call.unknownKeys)
    self.key = key
    id = request.id ?? key ?? UUID().uuidString.lowercased()
    // HTTP clients remove the segments `.` and `..` from a path, so they could not request the announcement again.
    guard id != ".", id != ".." else {
      throw Problem(.unprocessableContent, "field_invalid", "id: must not be one or two dots; give another id.")
    }
    guard id.utf8.count <= 255 else {
      throw Problem(
        .unprocessableContent, "field_invalid", "id: is longer than 255 bytes in UTF-8; give a shorter id.")
    }
    options = try RenderOptions(
      request.options, defaults: sender.defaults, base: RenderOptions(defaultLocale: settings.locale))
    group = try groups.group(request.options.group, sender.defaults)
    authority = call.authority
    wantsSound = try Accept(call).wantsSound(of: options.format.container)
    guard request.deliver.contains(.play) else { return }
    played = StoredAnnouncement(
      account: sender.account, id: id, lane: lane ?? "", request: request, payload: body, defaults: sender.defaults)
  }

  /// Sets the devices, and their languages: that of the request, or else the device's own, or else that of the key or of
  /// the service.
  mutating func take(_ devices: [Ledger.Device]) {
    self.devices = devices
    locales = devices.map { device in
      request.announcement.locale ?? device.locale ?? options.defaultLocale
    }
  }

  /// Ensures that an announcement that is to be played has a lane. Only a new announcement needs the service's output:
  /// one that is already stored stays on its own lane.
  ///
  /// - Parameter entry: The stored announcement with this id; nil if there is none.
  /// - Throws: ``Problem`` with 422 `player_unavailable`.
  mutating func findLane(of entry: Ledger.Entry?) throws(Problem) {
    guard let played, played.lane.isEmpty else { return }
    guard let entry else {
      throw Problem(
        .unprocessableContent, "player_unavailable",
        "deliver: play needs an output, but the service was started without one; choose clip.")
    }
    self.played?.lane = entry.lane
  }

  /// The problem if another body was sent with the same key or id.
  var conflict: Problem {
    key == nil
      ? Self.idConflict
      : Problem(
        .unprocessableContent, "idempotency_key_reused",
        "Idempotency-Key: was already used for another request; use a different one for each request.")
  }

  static let idConflict = Problem(
    .conflict, "id_conflict",
    "id: was already used with another body. If this is the same payment, send exactly the bytes of the first request; "
      + "if it is another payment, give it an id of its own.")
}
