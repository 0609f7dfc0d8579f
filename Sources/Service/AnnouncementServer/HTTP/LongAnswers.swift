// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import HTTPTypes

/// The answers whose length grows with what an account has stored, such as a list of 200 announcements.
///
/// Only one of these answers is made at a time, outside the event loops, however many clients ask. A client that asks
/// for lists without a pause therefore uses at most one core, and other requests never wait behind its lists. The
/// accounts take turns, so that an account's list waits for at most one list of each other account.
actor LongAnswers {
  private(set) var isBusy = false
  private var waiting: [String: [CheckedContinuation<Void, Never>]] = [:]
  /// The accounts that wait, in the order of their turns.
  private var order: [String] = []

  /// The number of answers that wait for their turn.
  var waitingCount: Int { waiting.values.reduce(0) { $0 + $1.count } }

  /// Makes an answer when it is the account's turn.
  ///
  /// - Throws: The error that the work throws; a `CancellationError` if the task was cancelled while it waited; a
  ///   ``Problem`` with 429 if the client has closed its side of the connection while it waited.
  nonisolated func make<Value: Sendable>(
    for account: String, _ work: @Sendable () async throws -> Value
  ) async throws -> Value {
    try await withTaskExecutorPreference(WaitingThreads.shared) {
      let hasWaited = await enter(account)
      do {
        try Task.checkCancellation()
        // Most clients that have closed their side are gone. The clients behind them should not wait for answers that
        // nobody reads.
        if hasWaited, Connection.current?.isOver == true { throw Self.isGone }
        let value = try await work()
        await leave()
        return value
      } catch {
        await leave()
        throw error
      }
    }
  }

  private static var isGone: Problem {
    Problem(
      .tooManyRequests, "busy",
      "Other lists came first, and the client closed its side of the connection while it waited. Try again, and keep the "
        + "connection open.", retryAfter: 1)
  }

  /// Waits until it is the account's turn.
  ///
  /// - Returns: Whether the call had to wait.
  private func enter(_ account: String) async -> Bool {
    guard isBusy else {
      isBusy = true
      return false
    }
    await withCheckedContinuation { continuation in
      if waiting[account] == nil { order.append(account) }
      waiting[account, default: []].append(continuation)
    }
    return true
  }

  private func leave() {
    guard !order.isEmpty else {
      isBusy = false
      return
    }
    let account = order.removeFirst()
    let next = waiting[account]?.removeFirst()
    if waiting[account]?.isEmpty == false { order.append(account) } else { waiting[account] = nil }
    next?.resume()
  }
}
