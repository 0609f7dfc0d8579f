// SPDX-License-Identifier: Apache-2.0

package import Announcements
package import Announcer
package import Foundation
import Ledger
import Playback

/// A submission of a caller: the bytes of a payload, and the facts about the caller.
package struct Submission: Sendable {
  package var account: String
  /// The defaults of the caller's key.
  package var defaults: AnnouncementRequest.Defaults
  /// The payload's exact bytes.
  package var body: Data
  /// The SHA-256 digest of the bytes.
  package var bodyDigest: Data
  /// The idempotency key, if the caller sent one.
  package var key: String?
  package var unknownKeys: PayloadDecoder.UnknownKeys
  /// The host and port by which the caller reaches the service, for the URLs of clips; nil if it is not known.
  package var authority: String?

  package init(
    account: String, defaults: AnnouncementRequest.Defaults, body: Data, bodyDigest: Data, key: String? = nil,
    unknownKeys: PayloadDecoder.UnknownKeys = .warn, authority: String? = nil
  ) {
    (self.account, self.defaults, self.body, self.bodyDigest) = (account, defaults, body, bodyDigest)
    (self.key, self.unknownKeys, self.authority) = (key, unknownKeys, authority)
  }
}

/// A validated submission: the clip to make, the announcement to play, and the request's id and key. The payload is
/// parsed here, and nowhere else before the announcement has ended.
package struct AnnouncementOrder: Sendable {
  package let submission: Submission
  package let request: AnnouncementRequest
  /// The reason why the payload is refused unless its answer is already stored; nil if the payload is valid. An earlier
  /// version may have accepted it under other rules, and its sender must get the same answer again.
  let refusal: AnnouncementError?
  /// The announcement for the player's lane; nil if it is not to be played. If the service has no output, the
  /// announcement's lane is empty until ``findLane(of:)`` sets it.
  private(set) var played: StoredAnnouncement?
  /// The devices to which the announcement is pushed, in the order of their ids.
  private(set) var devices: [Ledger.Device] = []
  /// The languages of the devices' clips and notifications, in the order of ``devices``.
  private(set) var locales: [String] = []
  /// The id of the payment or text, or else the idempotency key, or else a new id.
  package let id: String
  /// Whether the sender tries the service out: the clip is made, and nothing is played or pushed.
  let isTest: Bool
  /// Whether the service has an output.
  private let hasOutput: Bool
  package var options: RenderOptions
  package let group: String

  var account: String { submission.account }

  /// The key under which the ledger stores the response.
  var storageKey: String { submission.key.map { "key:\($0)" } ?? "id:\(id)" }

  /// Returns the `Idempotency-Key` of a ``storageKey``; nil if the request had none.
  package static func idempotencyKey(of storageKey: String) -> String? {
    storageKey.hasPrefix("key:") ? String(storageKey.dropFirst("key:".count)) : nil
  }

  /// - Parameters:
  ///   - locale: The service's own default locale.
  ///   - lane: The lane on which the service plays; nil if it has no output.
  /// - Throws: ``AcceptanceError`` with `fieldInvalid`, `AnnouncementError`, `AnnouncerError`.
  init(_ submission: Submission, locale: String, groups: AppGroups, lane: String?) throws {
    self.submission = submission
    (isTest, hasOutput) = (TestAccount.owner(of: submission.account) != nil, lane != nil)
    do throws(AnnouncementError) {
      (request, refusal) = (
        try PayloadDecoder.request(submission.body, unknownKeys: submission.unknownKeys), nil
      )
    } catch {
      // A strict sender asks for the present rules, so the rules of earlier versions do not apply.
      guard submission.unknownKeys == .warn, let stored = try? PayloadDecoder.storedRequest(submission.body) else {
        throw error
      }
      (request, refusal) = (stored, error)
    }
    id = request.id ?? submission.key ?? UUID().uuidString.lowercased()
    // HTTP clients remove the segments `.` and `..` from a path, so they could not request the announcement again.
    guard id != ".", id != ".." else {
      throw AcceptanceError(.fieldInvalid, "id: must not be one or two dots; give another id.")
    }
    guard id.utf8.count <= 255 else {
      throw AcceptanceError(.fieldInvalid, "id: is longer than 255 bytes in UTF-8; give a shorter id.")
    }
    options = try RenderOptions(
      request.options, defaults: submission.defaults, base: RenderOptions(defaultLocale: locale))
    group = try groups.group(request.options.group, submission.defaults)
    guard request.deliver.contains(.play), !isTest else { return }
    played = StoredAnnouncement(
      account: submission.account, id: id, lane: lane ?? "", request: request, payload: submission.body,
      defaults: submission.defaults)
  }

  /// Sets the devices and their languages: the language of the request, or else of the device, or else of the key or of
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
  /// - Throws: ``AcceptanceError`` with `playerUnavailable`.
  mutating func findLane(of entry: Ledger.Entry?) throws(AcceptanceError) {
    if isTest, request.deliver.contains(.play), !hasOutput { throw Self.noOutput }
    guard let played, played.lane.isEmpty else { return }
    guard let entry else { throw Self.noOutput }
    self.played?.lane = entry.lane
  }

  private static let noOutput = AcceptanceError(
    .playerUnavailable, "deliver: play needs an output, but the service was started without one; choose clip.")

  /// The sentences for the report about the request.
  var warnings: [String] {
    var warnings = request.warnings
    if request.device != nil, !request.deliver.contains(.push) {
      warnings.append("device: nothing is pushed to it, because deliver does not contain push")
    }
    if isTest, request.deliver.contains(.play) || request.deliver.contains(.push) {
      warnings.append("deliver: the key has the scope test, so nothing is played or pushed")
    }
    return warnings
  }

  /// The error if another body was sent with the same key or id.
  var conflict: AcceptanceError {
    submission.key == nil
      ? Self.idConflict
      : AcceptanceError(
        .idempotencyKeyReused,
        "Idempotency-Key: was already used for another request; use a different one for each request.")
  }

  static let idConflict = AcceptanceError(
    .idConflict,
    "id: was already used with another body. If this is the same payment, send exactly the bytes of the first request; "
      + "if it is another payment, or the same one with another kind, give it an id of its own.")
}
