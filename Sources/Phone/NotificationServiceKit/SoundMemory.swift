// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport

/// Bounds the bytes of sounds that a process holds at the same time, because iOS ends an extension at about 24 MB.
///
/// Each work says how many bytes it needs and waits until they are free. A work that needs more than there are waits
/// until it is alone. Small works may pass a large one that waits, so that a short clip is not late for it. A clip of a
/// usual length never waits, because a slow download can hold all bytes for as long as there is time.
final class SoundMemory: Sendable {
  /// The number of bytes up to which a work does not wait and is not counted. A clip of 6 s has about 260,000.
  static let smallBytes = 512 << 10

  /// The number of bytes for all works together: a sound of 30 s with 16 bits at 48,000 Hz, twice.
  static let mostBytes = 2 * AnnouncementSounds.mostBytesFromElsewhere

  private struct State {
    var held = 0
    var mostHeld = 0
    var waiting: [Waiter] = []
    /// Callers that were cancelled before they waited.
    var left: Set<Int> = []
    var lastNumber = 0
  }

  private struct Waiter {
    var number: Int
    var bytes: Int
    /// Gets true when the bytes are free, and false when the task is cancelled.
    var answer: AwaitedAnswer<Bool>
  }

  private let state = Locked(State())

  /// The largest number of bytes that were held at the same time.
  var mostHeld: Int { state.withLock { $0.mostHeld } }

  /// Calls a closure when a number of bytes is free.
  ///
  /// - Returns: The result of the closure; nil if the task was cancelled before.
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
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    defer { state.withLock { _ = $0.left.remove(number) } }
    return await withTaskCancellationHandler {
      await waitForAnswer { answer in
        state.withLock { state in
          if state.left.contains(number) {
            answer.give(false)
          } else {
            state.waiting.append(Waiter(number: number, bytes: bytes, answer: answer))
            Self.admit(&state)
          }
        }
      }
    } onCancel: {
      state.withLock { state in
        state.left.insert(number)
        guard let index = state.waiting.firstIndex(where: { $0.number == number }) else { return }
        state.waiting.remove(at: index).answer.give(false)
      }
    }
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
      state.held += waiter.bytes
      state.mostHeld = max(state.mostHeld, state.held)
      waiter.answer.give(true)
    }
  }
}
