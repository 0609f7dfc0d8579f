// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport

/// Limits the bytes of sounds that a process holds at the same time, because iOS ends an extension that uses about 24
/// MB.
///
/// Each caller says how many bytes it needs and waits until they are free. A caller that needs more than ``mostBytes``
/// waits until it is the only one. A caller with a small need may pass a waiting caller with a large need, so that a
/// short clip is not delayed. A clip of a usual length never waits, because a slow download can hold all bytes until
/// the end of the time limit.
final class SoundMemory: Sendable {
  /// The number of bytes up to which a caller does not wait and is not counted. A clip of 6 s has about 260,000 bytes.
  static let smallBytes = 512 << 10

  /// The maximum number of bytes that all callers hold together: two sounds of 30 s of 16-bit samples at 48,000 Hz.
  static let mostBytes = 2 * AnnouncementSounds.mostBytesFromElsewhere

  private struct State {
    var held = 0
    var mostHeld = 0
    var waiting: [Waiter] = []
  }

  private struct Waiter {
    var bytes: Int
    /// The wait for the bytes. It ends with true when they are free, and with false when the task is cancelled.
    var turn: FirstOutcome<Bool, Never>
  }

  private let state = Locked(State())

  /// The largest number of bytes that were held at the same time.
  var mostHeld: Int { state.withLock { $0.mostHeld } }

  /// Calls a closure as soon as a number of bytes is free.
  ///
  /// - Returns: The result of the closure; nil if the task was cancelled during the wait.
  /// - Throws: The error of the closure.
  func hold<Result, Failure: Error>(
    _ bytes: Int, _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result? {
    let share = min(max(bytes, 0), Self.mostBytes)
    guard share > Self.smallBytes else { return try await body() }
    guard await take(share) else { return nil }
    defer { give(share) }
    return try await body()
  }

  private func take(_ bytes: Int) async -> Bool {
    if Task.isCancelled { return false }
    let turn = FirstOutcome<Bool, Never>()
    state.withLock { state in
      state.waiting.append(Waiter(bytes: bytes, turn: turn))
      Self.admit(&state)
    }
    return await turn.wait(onCancel: { turn.end(.success(false)) }).get()
  }

  private func give(_ bytes: Int) {
    state.withLock { state in
      state.held -= bytes
      Self.admit(&state)
    }
  }

  private static func admit(_ state: inout State) {
    while let index = state.waiting.firstIndex(where: { state.held + $0.bytes <= mostBytes }) {
      let waiter = state.waiting.remove(at: index)
      // A cancelled task gets no bytes.
      guard waiter.turn.end(.success(true)) else { continue }
      state.held += waiter.bytes
      state.mostHeld = max(state.mostHeld, state.held)
    }
  }
}
