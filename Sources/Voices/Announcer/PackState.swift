// SPDX-License-Identifier: Apache-2.0

/// The state of an installed voice pack, for logs and metrics.
public struct PackState: Sendable, Hashable {
  public var id: String

  /// The digest of the pack; `nil` if the pack is broken.
  public var digest: String?

  /// The `VoicePackError` or `VoicePackIntegrityError` of the pack; `nil` if none is known.
  public var fault: ErrorReport?

  /// Whether the pack's files are broken and the last good version of the pack speaks.
  public var speaksEarlierVersion = false
}

/// A change of the installed voice packs.
public enum PackChange: Sendable, Hashable {
  case added(id: String)
  case replaced(id: String)
  case removed(id: String)
  case broken(PackState)
  /// A broken pack is in order again.
  case mended(id: String)

  /// Returns the changes from one list of states to another: first the packs that are there now, in their order, and
  /// then the removed packs.
  public static func changes(from earlier: [PackState], to later: [PackState]) -> [PackChange] {
    var known = Dictionary(earlier.map { ($0.id, $0) }) { first, _ in first }
    let changes: [PackChange] = later.compactMap { state in
      let before = known.removeValue(forKey: state.id)
      if before == state { return nil }
      if state.fault != nil { return .broken(state) }
      guard let before else { return .added(id: state.id) }
      return before.fault != nil ? .mended(id: state.id) : .replaced(id: state.id)
    }
    return changes + earlier.filter { known[$0.id] != nil }.map { .removed(id: $0.id) }
  }
}
