// SPDX-License-Identifier: Apache-2.0

/// A permission that a call of the service needs. A key has scopes, and each ``Scope`` gives some of these permissions.
public enum Permission: String, Sendable, Hashable, CaseIterable {
  /// Sending announcements and lists, removing them, and using registered devices and endpoints.
  case announce
  /// Registering devices and webhook endpoints. The answers contain secrets.
  case register
  /// Reading announcements, clips, events, voices, packs, locales, and the player's status.
  case read
  /// Pausing, resuming and replaying on the player, and setting its volume.
  case attend
  /// Cancelling announcements on the player, and undoing a cancellation.
  case play
  /// Changing the sounds and voices of the whole machine, such as chimes and voice packs.
  case operate
  /// Making, rotating and revoking keys and codes for signing in.
  case manageKeys

  /// The scopes that give the permission, limited to those that somebody can give to a key.
  public var scopes: [Scope] { Scope.ofNewKeys.filter { $0.allows(self) } }
}
