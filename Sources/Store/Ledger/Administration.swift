// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension Ledger {
  /// The person or program that performs an administrative act: a user of this machine, a key, or a person who signs in
  /// with a code.
  public struct Administrator: Sendable, Hashable, CustomStringConvertible {
    /// The text that the log of administration stores: `user:1000`, `user:997 for user:1000` under sudo, or
    /// `key:7d3k9q2m`, or `code:7d3k9q2m`.
    public let description: String

    /// The user of this process, with the user who called sudo, if any.
    public static var currentUser: Administrator {
      user(getuid(), sudo: ProcessInfo.processInfo.environment["SUDO_UID"].flatMap(UInt32.init))
    }

    static func user(_ id: UInt32, sudo caller: UInt32?) -> Administrator {
      Administrator(description: "user:\(id)" + (caller.map { " for user:\($0)" } ?? ""))
    }

    /// Returns the administrator for a key.
    ///
    /// - Parameter id: The key's id, which is not secret.
    public static func key(_ id: String) -> Administrator { Administrator(description: "key:\(id)") }

    /// Returns the administrator for a person who signs in with a code.
    ///
    /// - Parameter id: The code's id, which is not secret.
    package static func signInCode(_ id: String) -> Administrator { Administrator(description: "code:\(id)") }
  }

  /// An entry in the log of administration: what was done, when and by whom. It contains no amounts, names or tokens.
  public struct AdministrativeAct: Sendable, Hashable {
    public enum Action: String, Sendable, Hashable, CaseIterable {
      case keyCreated = "key_created"
      case keyRotated = "key_rotated"
      case keyRevoked = "key_revoked"
      case signInCodeCreated = "sign_in_code_created"
      case signInCodeRemoved = "sign_in_code_removed"
      case playbackPaused = "playback_paused"
      case playbackResumed = "playback_resumed"
      case volumeChanged = "volume_changed"
      case chimeChanged = "chime_changed"
      case chimeRemoved = "chime_removed"
      case outputChanged = "output_changed"
      case voiceChosen = "voice_chosen"
      case deviceTested = "device_tested"
      case announcementReplayed = "announcement_replayed"
      case announcementCancelled = "announcement_cancelled"
      case announcementRestored = "announcement_restored"
      case batchCancelled = "batch_cancelled"
      case announcementRemoved = "announcement_removed"
      case clipRemoved = "clip_removed"
      case packCreated = "pack_created"
      case packRecorded = "pack_recorded"
      case packRemoved = "pack_removed"
      case packClipRecorded = "pack_clip_recorded"
      case packClipMarked = "pack_clip_marked"
      case packClipUnmarked = "pack_clip_unmarked"
      case supportBundleMade = "support_bundle_made"
      case webhookEndpointRegistered = "webhook_endpoint_registered"
      case webhookEndpointRemoved = "webhook_endpoint_removed"
      case webhookEndpointEnabled = "webhook_endpoint_enabled"
    }

    /// The entry's number. Numbers strictly increase and are never reused.
    public let number: Int64
    public let at: Date
    /// The ``Administrator/description`` of the administrator.
    public let actor: String
    public let action: Action
    /// The object of the act: the id of a key, a sign-in code, a batch or a webhook endpoint; the number of an
    /// announcement for a player; the name of a clip or an output; or the locale of a voice. Nil for other acts on the
    /// player, and for an announcement that was not to be played.
    public let subject: String?
  }
}

extension Ledger.AdministrativeAct {
  package init(row: some StoredRow) throws {
    self.init(
      number: try row.value("number"), at: try row.value("at"), actor: try row.value("actor"),
      action: try row.name("action"), subject: try row.optional("subject"))
  }
}
