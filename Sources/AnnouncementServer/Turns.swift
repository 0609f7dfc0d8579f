// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport

/// One at a time for each key: requests with one idempotency key do their work one after another, so that the second finds
/// what the first did.
actor Turns<Key: Hashable & Sendable> {
  private var waiting: [Key: [CheckedContinuation<Void, Never>]] = [:]

  /// Works when nobody else works with any of these keys.
  ///
  /// - Parameter keys: asked for in this order; everybody is to have the same, or two wait for each other.
  nonisolated func take<Value: Sendable>(
    _ keys: [Key], _ work: @Sendable () async throws -> Value
  ) async rethrows -> Value {
    for key in keys { await enter(key) }
    do {
      let value = try await work()
      for key in keys.reversed() { await leave(key) }
      return value
    } catch {
      for key in keys.reversed() { await leave(key) }
      throw error
    }
  }

  /// How many work or wait.
  var count: Int { waiting.values.reduce(0) { $0 + $1.count + 1 } }

  private func enter(_ key: Key) async {
    guard waiting[key] != nil else {
      waiting[key] = []
      return
    }
    await withCheckedContinuation { waiting[key]?.append($0) }
  }

  private func leave(_ key: Key) {
    guard waiting[key]?.isEmpty == false else {
      waiting[key] = nil
      return
    }
    waiting[key]?.removeFirst().resume()
  }
}

/// The same work asked for by several at once is done once, and all get what came of it.
actor SingleFlight<Key: Hashable & Sendable, Value: Sendable> {
  private var flights: [Key: Task<Value, any Error>] = [:]

  var count: Int { flights.count }
  /// How many wait for what comes of them.
  private(set) var waiting = 0

  /// - Parameter work: goes on when those who asked have gone: what it makes is wanted again.
  /// - Returns: what came of it, and whether somebody else had asked for it before.
  func value(
    for key: Key, _ work: @escaping @Sendable @concurrent () async throws -> Value
  ) async throws -> (value: Value, isShared: Bool) {
    waiting += 1
    defer { waiting -= 1 }
    if let flight = flights[key] { return (try await flight.value, true) }
    // Neither here nor where the first one asked: it may be long, and both have others to see to.
    let flight = Task.detached(executorPreference: WaitingThreads.shared) {
      let result: Result<Value, any Error>
      do { result = .success(try await work()) } catch { result = .failure(error) }
      // Before anybody sees what came of it: who then asks again is not to be given the same once more.
      await self.forget(key)
      return try result.get()
    }
    flights[key] = flight
    return (try await flight.value, false)
  }

  private func forget(_ key: Key) { flights[key] = nil }
}
