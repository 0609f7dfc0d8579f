// SPDX-License-Identifier: Apache-2.0

/// The operations that a key allows.
public enum Scope: String, Sendable, Hashable, CaseIterable {
  /// Sending announcements and batches.
  case announce
  /// Reading announcements, clips, events, voices, packs, locales, and the player's status.
  case read
  /// Pausing, resuming, skipping, replaying and cancelling announcements on the player.
  case play
  /// All operations.
  case admin
  /// For one device: reading and changing its own registration, catching up, and fetching clips. Only the registration
  /// of a device makes a key with this scope, and such a key has no other.
  case device

  /// The scopes that somebody can give to a new key.
  public static let ofNewKeys: [Scope] = allCases.filter { $0 != .device }
}

extension Set<Scope> {
  /// Returns whether these scopes allow an operation that needs a scope.
  public func allow(_ scope: Scope) -> Bool { contains(scope) || contains(.admin) }

  /// The scopes' names, always in the same order.
  public var names: [String] { Scope.allCases.filter(contains).map(\.rawValue) }

  /// Creates the set of scopes with these names. An unknown name, such as a newer version's, is ignored and allows
  /// nothing.
  public init(names: some Sequence<String>) { self.init(names.compactMap(Scope.init)) }
}
