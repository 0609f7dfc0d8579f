// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import HTTPTypes
import HummingbirdCore
import Playback
import SoundFiles

/// A validated request to announce something: the clip to make, and the id and the key of the request.
struct Order: Sendable {
  var request: AnnouncementRequest
  /// The announcement for the player, with the defaults of the sender's key; nil if it is not to be played.
  var played: StoredAnnouncement?
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

  /// - Parameter stored: The body, with the defaults of the sender's key.
  /// - Throws: ``Problem``, `AnnouncementError`, `AnnouncerError`.
  init(
    _ call: Call, request: AnnouncementRequest, stored: Data, key: String?, settings: ServiceSettings,
    groups: AppGroups, hasPlayer: Bool
  ) throws {
    self.request = request
    self.key = key
    id = request.id ?? key ?? UUID().uuidString.lowercased()
    // Clients remove these segments from a path, so they could not request the announcement again.
    guard id != ".", id != ".." else {
      throw Problem(.unprocessableContent, "field_invalid", "id: is a dot, or two; give another.")
    }
    guard id.utf8.count <= 255 else {
      throw Problem(
        .unprocessableContent, "field_invalid", "id: is longer than 255 bytes in UTF-8; give a shorter one.")
    }
    options = try RenderOptions(
      request.options, defaults: request.defaults, base: RenderOptions(defaultLocale: settings.locale))
    group = try groups.group(request.options.group, request.defaults)
    authority = call.authority
    wantsSound = try Accept(call).wantsSound(of: options.format.container)
    if request.deliver.contains(.push) {
      throw Problem(
        .unprocessableContent, "push_unavailable",
        "deliver: push is not there in this version; choose clip or play, and send the push with the clip's URL.")
    }
    guard request.deliver.contains(.play) else { return }
    guard hasPlayer else {
      throw Problem(
        .unprocessableContent, "player_unavailable",
        "deliver: the service was started without an output to play on; choose clip.")
    }
    // A payload that the player could not read is refused before a clip is made.
    played = try StoredAnnouncement(account: try call.sender.account, id: id, payload: stored)
  }

  /// The problem if another body was sent with the same key or id.
  var conflict: Problem {
    key == nil
      ? Self.idConflict
      : Problem(
        .unprocessableContent, "idempotency_key_reused",
        "Another request came with this Idempotency-Key: give each request a key of its own.")
  }

  static let idConflict = Problem(
    .conflict, "id_conflict", "The account has another announcement of this id: give each payment an id of its own.")
}
