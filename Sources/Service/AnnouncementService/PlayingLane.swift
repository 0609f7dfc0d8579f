// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport

/// The lane on which the service plays. It changes if somebody chooses another output while the service runs.
package final class PlayingLane: Sendable {
  private let current: Locked<String>
  private let turns = Turns<String>()
  private static let turn = "lane"

  package init(_ name: String) { current = Locked(name) }

  package var name: String { current.withLock { $0 } }

  /// Performs work with the lane's name. The lane does not change meanwhile.
  package func hold<Value: Sendable>(
    _ work: @Sendable (String) async throws -> Value
  ) async rethrows -> Value {
    try await turns.share([Self.turn]) { try await work(name) }
  }

  /// Changes the lane. When this returns, all work with the former lane has ended, so nothing is added to the former
  /// lane any more.
  package func change(to name: String) async {
    await turns.take([Self.turn]) { current.withLock { $0 = name } }
  }
}
