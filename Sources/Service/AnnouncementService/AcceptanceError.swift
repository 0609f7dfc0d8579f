// SPDX-License-Identifier: Apache-2.0

/// The reason why an announcement is not accepted, besides the errors of reading it and of making its clip.
package struct AcceptanceError: Error, Sendable, Hashable, CustomStringConvertible {
  package enum Code: String, Sendable, Hashable {
    case fieldInvalid = "field_invalid"
    case idConflict = "id_conflict"
    case idempotencyKeyReused = "idempotency_key_reused"
    case playerUnavailable = "player_unavailable"
    case pushUnavailable = "push_unavailable"
    case deviceMissing = "device_missing"
    case deviceUnknown = "device_unknown"
    case appNotConfigured = "app_not_configured"
    /// The clip was made several times, and each time it was removed before the announcement was accepted.
    case clipLost = "clip_lost"
  }

  package var code: Code
  /// What is wrong and what to do next, without amounts and names.
  package var message: String

  init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }

  package var description: String { "\(code.rawValue): \(message)" }
}
