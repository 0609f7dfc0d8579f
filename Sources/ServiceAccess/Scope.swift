// SPDX-License-Identifier: Apache-2.0

/// What a key may be used for.
public enum Scope: String, Sendable, Hashable, CaseIterable {
  /// Sending announcements and batches.
  case announce
  /// Reading announcements, clips, events, voices, packs, locales, and what is being played.
  case read
  /// Pausing, resuming, skipping, replaying and cancelling what is played.
  case play
  /// Everything.
  case admin
}

extension Set<Scope> {
  /// Whether they are enough for a call.
  public func allow(_ scope: Scope) -> Bool { contains(scope) || contains(.admin) }

  /// Their names, always in the same order.
  public var names: [String] { Scope.allCases.filter(contains).map(\.rawValue) }

  /// The scopes of those names. A name that is none, as a newer version's, allows nothing.
  public init(names: some Sequence<String>) { self.init(names.compactMap(Scope.init)) }
}
