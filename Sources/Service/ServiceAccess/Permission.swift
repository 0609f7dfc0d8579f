// SPDX-License-Identifier: Apache-2.0

/// What a call of the service needs. A key has scopes, and each ``Scope`` gives some of these permissions.
public enum Permission: String, Sendable, Hashable, CaseIterable {
  /// Sending announcements and lists, removing them, and the work with receivers that are registered.
  case announce
  /// Registering devices and webhook endpoints. The answers contain secrets.
  case register
  /// Reading announcements, clips, events, voices, packs, locales, and the player's status.
  case read
  /// Pausing, resuming and replaying on the player, and its volume.
  case attend
  /// Cancelling announcements on the player, and taking that back.
  case play
  /// Changing what the whole machine speaks with, such as chimes and voice packs.
  case operate
  /// Making, rotating and revoking keys and codes for signing in.
  case manageKeys

  /// The scopes that give the permission, of those that somebody can give to a key.
  public var scopes: [Scope] { Scope.ofNewKeys.filter { $0.allows(self) } }
}
