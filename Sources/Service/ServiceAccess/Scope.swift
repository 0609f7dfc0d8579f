// SPDX-License-Identifier: Apache-2.0

/// The operations that a key allows.
public enum Scope: String, Sendable, Hashable, CaseIterable {
  /// Sending announcements and batches.
  case announce
  /// Reading announcements, clips, events, voices, packs, locales, and the player's status.
  case read
  /// Pausing, resuming, skipping, replaying and cancelling announcements on the player.
  case play
  /// For trying the service out: sending announcements that are never heard or pushed, and reading them. A key with
  /// this scope has no other scope.
  case test
  /// For the people at the till: reading, and the pause, the replays and the volume of the player.
  case till
  /// For the person who looks after the shop: all operations except those on keys and those that hand out secrets.
  case `operator`
  /// All operations.
  case admin
  /// For one device: reading and changing its own registration, catching up, and fetching clips. Only the registration
  /// of a device makes a key with this scope, and such a key has no other.
  case device

  /// The scopes that somebody can give to a new key.
  public static let ofNewKeys: [Scope] = allCases.filter { $0 != .device }

  /// The scopes that a person can sign in with.
  public static let ofPeople: [Scope] = [.till, .operator]

  /// Returns whether the scope gives a permission. Routes decide themselves what the key of a device may do.
  public func allows(_ permission: Permission) -> Bool {
    switch self {
    case .announce: permission == .announce || permission == .register
    case .read: permission == .read
    case .test: permission == .announce || permission == .read
    case .play: permission == .attend || permission == .play
    case .till: permission == .read || permission == .attend
    case .operator: permission != .register && permission != .manageKeys
    case .admin: true
    case .device: false
    }
  }
}

extension Set<Scope> {
  /// Returns whether one of these scopes gives a permission.
  public func allow(_ permission: Permission) -> Bool { contains { $0.allows(permission) } }

  /// The scopes' names, always in the same order.
  public var names: [String] { Scope.allCases.filter(contains).map(\.rawValue) }

  /// Creates the set of scopes with these names. An unknown name, such as a newer version's, is ignored and allows
  /// nothing.
  public init(names: some Sequence<String>) { self.init(names.compactMap(Scope.init)) }
}
