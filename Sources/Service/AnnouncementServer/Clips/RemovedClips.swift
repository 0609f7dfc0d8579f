// SPDX-License-Identifier: Apache-2.0

/// The clips that were removed recently. A reader that read a clip before its removal must not keep it in memory
/// afterwards.
struct RemovedClips: Sendable {
  /// The maximum number of names. If one more name is added, the older names are forgotten, and every clip that was
  /// read before the last of their removals counts as removed.
  static let mostNames = 1_000

  /// A moment between two removals.
  typealias Moment = UInt64

  private(set) var now: Moment = 0
  /// The moment before which removals are unknown.
  private var known: Moment = 0
  private var removedAt: [String: Moment] = [:]

  mutating func add(_ name: String) {
    if removedAt.count >= Self.mostNames, removedAt[name] == nil { (removedAt, known) = ([:], now) }
    now += 1
    removedAt[name] = now
  }

  /// Returns whether a clip was, or may have been, removed after a moment.
  func contains(_ name: String, since moment: Moment) -> Bool {
    moment < known || removedAt[name].map { $0 > moment } ?? false
  }
}
