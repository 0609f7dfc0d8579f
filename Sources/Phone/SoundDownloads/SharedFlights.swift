// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport

/// Shares downloads between callers: callers that give the same key at the same time wait for the same download.
///
/// A caller whose task is cancelled stops waiting at once, and the others continue to wait. If no caller is left, the
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

  /// The number of callers that are waiting.
  var waiting: Int { state.withLock { state in state.flights.values.reduce(0) { $0 + $1.waiting.count } } }

  /// Returns the outcome of the download with a key, and starts the download if it is not in progress.
  ///
  /// - Parameters:
  ///   - start: Starts the download and its time limit as tasks. Each task calls ``end(_:with:)`` when it ends.
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

  /// Announces that the download is about to change the library. After this, the download ends by itself; neither a
  /// caller nor the time limit can end it.
  ///
  /// - Returns: False if the download has already ended. It must then leave the library as it is.
  func commit(_ flight: Flight) -> Bool {
    state.withLock { state in
      guard state.flights[flight.key]?.flight == flight else { return false }
      state.flights[flight.key]?.isCommitted = true
      return true
    }
  }

  /// Ends a download with its own outcome. If it has already ended, nothing happens.
  func end(_ flight: Flight, with outcome: Result<Value, DownloadError>) {
    end(flight, with: outcome) { _ in true }
  }

  /// Ends a download early with an error, unless it is already changing the library.
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
    // The callers continue first, because the cancellation of a request can block.
    for caller in ended.waiting.values { caller.end(outcome) }
    for task in ended.tasks { task.cancel() }
  }

  /// Removes a caller, which may not have begun to wait, and cancels the download if no caller is left.
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
