// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import HTTPTypes
import HummingbirdCore
import Playback
import SoundFiles

/// A request to announce something, understood and found possible: what is to be made, and under which key it is known.
struct Order: Sendable {
  var request: AnnouncementRequest
  /// For the player, with what its sender's key has beside the body; nil when it is not to be played.
  var played: StoredAnnouncement?
  /// The payment's id, the text's, the idempotency key, or a new one.
  var id: String
  /// The `Idempotency-Key`.
  var key: String?
  var options: RenderOptions
  var group: String
  /// What the sender calls the service.
  var authority: String?
  var wantsSound: Bool

  /// How the answer is found again.
  var storageKey: String { key.map { "key:\($0)" } ?? "id:\(id)" }

  /// The `Idempotency-Key` of a ``storageKey``; nil where the request had none.
  static func idempotencyKey(of storageKey: String) -> String? {
    storageKey.hasPrefix("key:") ? String(storageKey.dropFirst("key:".count)) : nil
  }

  /// - Parameter stored: the body with what its sender's key has beside it.
  /// - Throws: ``Problem``, `AnnouncementError`, `AnnouncerError`.
  init(
    _ call: Call, request: AnnouncementRequest, stored: Data, key: String?, settings: ServiceSettings,
    groups: AppGroups, hasPlayer: Bool
  ) throws {
    self.request = request
    self.key = key
    id = request.id ?? key ?? UUID().uuidString.lowercased()
    // Clients take these out of a path, and would never find it again.
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
    // What the player could not read is refused before anything is made.
    played = try StoredAnnouncement(account: try call.sender.account, id: id, payload: stored)
  }

  /// Another body came under this request's key.
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
