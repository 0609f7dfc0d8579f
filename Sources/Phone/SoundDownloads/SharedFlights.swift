// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport

/// Shares downloads between callers: callers with the same key at the same time wait for one download.
///
/// A caller whose task is cancelled stops waiting at once, and the others go on. When the last caller has left, the
/// download is cancelled.
final class SharedFlights<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private typealias Caller = FirstOutcome<Value, DownloadError>

  /// One download in progress.
  struct Flight: Sendable, Hashable {
    let key: Key
    fileprivate let number: Int
  }

  private struct Progress {
    var flight: Flight
    var waiting: [ObjectIdentifier: Caller] = [:]
    var tasks: [Task<Void, Never>] = []
    var isCommitted = false
  }

  private struct State {
    var flights: [Key: Progress] = [:]
    var lastNumber = 0
  }

  private let state = Locked(State())

  /// The number of callers that wait.
  var waiting: Int { state.withLock { state in state.flights.values.reduce(0) { $0 + $1.waiting.count } } }

  /// Returns the outcome of the download with a key, and starts it if it is not in progress.
  ///
  /// - Parameters:
  ///   - start: Starts the download and its time limit as tasks. Each of them calls ``end(_:with:)``.
  func outcome(for key: Key, start: (Flight) -> [Task<Void, Never>]) async -> Result<Value, DownloadError> {
    let caller = Caller()
    return await caller.wait {
      state.withLock { state in
        if state.flights[key] == nil {
          state.lastNumber += 1
          let flight = Flight(key: key, number: state.lastNumber)
          state.flights[key] = Progress(flight: flight)
          // The tasks begin on other threads, so they cannot end before the lock is released.
          state.flights[key]?.tasks = start(flight)
        }
        state.flights[key]?.waiting[ObjectIdentifier(caller)] = caller
      }
      return []
    } onCancel: {
      caller.end(.failure(DownloadError(.cancelled)))
      self.leave(caller, key)
    }
  }

  /// Announces that the download is about to change the library. After this, only the download itself ends it.
  ///
  /// - Returns: False if the download has already ended; then the library must stay as it is.
  func commit(_ flight: Flight) -> Bool {
    state.withLock { state in
      guard state.flights[flight.key]?.flight == flight else { return false }
      state.flights[flight.key]?.isCommitted = true
      return true
    }
  }

  /// Ends a download with its own outcome. A second end has no effect.
  func end(_ flight: Flight, with outcome: Result<Value, DownloadError>) {
    end(flight, with: outcome) { _ in true }
  }

  /// Ends a download from outside, unless it is already changing the library.
  func interrupt(_ flight: Flight, with error: DownloadError) {
    end(flight, with: .failure(error)) { !$0.isCommitted }
  }

  private func end(
    _ flight: Flight, with outcome: Result<Value, DownloadError>, if mayEnd: (Progress) -> Bool
  ) {
    let ended: Progress? = state.withLock { state in
      guard let progress = state.flights[flight.key], progress.flight == flight, mayEnd(progress) else { return nil }
      state.flights[flight.key] = nil
      return progress
    }
    guard let ended else { return }
    // The callers come first, because the cancellation of a request can block.
    for caller in ended.waiting.values { caller.end(outcome) }
    for task in ended.tasks { task.cancel() }
  }

  /// Removes a caller, which may not wait yet, and cancels the download if it was the last one.
  private func leave(_ caller: Caller, _ key: Key) {
    let abandoned: [Task<Void, Never>] = state.withLock { state in
      guard state.flights[key]?.waiting.removeValue(forKey: ObjectIdentifier(caller)) != nil,
        let progress = state.flights[key], progress.waiting.isEmpty, !progress.isCommitted
      else { return [] }
      state.flights[key] = nil
      return progress.tasks
    }
    for task in abandoned { task.cancel() }
  }
}
