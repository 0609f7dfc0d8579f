// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import TestSupport

/// The places of the ledgers that one test has made.
public final class LedgerPlaces: Sendable {
  @TaskLocal private static var current: LedgerPlaces?

  private let places = Locked<[LedgerPlace]>([])
  private let hasTurn = Locked(false)

  /// Runs a test, and then removes the ledgers that it made.
  public static func removed(after test: @Sendable () async throws -> Void) async throws {
    let places = LedgerPlaces()
    let result: Result<Void, any Error>
    do {
      result = .success(try await $current.withValue(places) { try await test() })
    } catch {
      result = .failure(error)
    }
    let removal = await places.remove()
    try result.get()
    try removal.get()
  }

  static func make(_ kind: LedgerUnderTest, isCopy: Bool) async throws -> LedgerPlace {
    let places = try current.orThrow("a test with the trait removesLedgers")
    if kind == .postgresql, !places.hasTurn.exchange(true) { await LedgerDatabase.turns.take() }
    let place = try await LedgerPlace(kind, isCopy: isCopy)
    places.places.withLock { $0.append(place) }
    return place
  }

  private func remove() async -> Result<Void, any Error> {
    var result: Result<Void, any Error> = .success(())
    for place in places.withLock({ $0 }) {
      do { try await place.remove() } catch { result = .failure(error) }
    }
    if hasTurn.exchange(false) { LedgerDatabase.turns.giveBack() }
    return result
  }
}

extension Locked where Value == Bool {
  /// Sets the value, and returns the former one.
  fileprivate func exchange(_ new: Bool) -> Bool {
    withLock { value in
      defer { value = new }
      return value
    }
  }
}
