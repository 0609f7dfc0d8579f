// SPDX-License-Identifier: Apache-2.0

/// Which clips were removed lately: whoever read one before that is not to keep it in memory after.
struct RemovedClips: Sendable {
  /// So many names are known; with more, all that was read before is taken for removed.
  static let mostNames = 1_000

  /// A moment between two removals.
  typealias Moment = UInt64

  private(set) var now: Moment = 0
  /// Before this moment nothing is known.
  private var known: Moment = 0
  private var removedAt: [String: Moment] = [:]

  mutating func add(_ name: String) {
    if removedAt.count >= Self.mostNames, removedAt[name] == nil { (removedAt, known) = ([:], now) }
    now += 1
    removedAt[name] = now
  }

  /// Whether a clip was removed after a moment, or may have been.
  func contains(_ name: String, since moment: Moment) -> Bool {
    moment < known || removedAt[name].map { $0 > moment } ?? false
  }
}
