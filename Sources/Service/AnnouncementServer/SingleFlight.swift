// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport

/// Shares work between simultaneous requests: work with the same key is done once, and all requests receive its result.
actor SingleFlight<Key: Hashable & Sendable, Value: Sendable> {
  private var flights: [Key: Task<Value, any Error>] = [:]

  var count: Int { flights.count }
  /// The number of tasks that wait for a result.
  private(set) var waiting = 0

  /// Returns the result of the work for a key, and starts the work if it is not in progress.
  ///
  /// - Parameter work: The work. It continues even if all tasks that requested it have been cancelled, because its
  ///   result will be useful again.
  /// - Returns: The result, and whether another task had already started the work.
  func value(
    for key: Key, _ work: @escaping @Sendable @concurrent () async throws -> Value
  ) async throws -> (value: Value, isShared: Bool) {
    waiting += 1
    defer { waiting -= 1 }
    if let flight = flights[key] { return (try await flight.value, true) }
    // The work may take long, so it runs neither on this actor nor on the executor of the first caller, which have
    // other work to do.
    let flight = Task.detached(executorPreference: WaitingThreads.shared) {
      let result: Result<Value, any Error>
      do { result = .success(try await work()) } catch { result = .failure(error) }
      // The work is removed before its result is visible, so that a later request starts the work anew.
      await self.forget(key)
      return try result.get()
    }
    flights[key] = flight
    return (try await flight.value, false)
  }

  private func forget(_ key: Key) { flights[key] = nil }
}
