// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation

/// The works of a process on pushes that were lost, for which iOS does not wait.
final class LostPushes: Sendable {
  private struct State {
    /// Each work with the number of its tasks.
    var works: [ObjectIdentifier: (work: NotificationWork, tasks: Int)] = [:]
    /// Those who wait until no work is left.
    var waiting: [DispatchSemaphore] = []
  }

  private let state = Locked(State())

  /// Notes that a task of a work begins.
  func began(_ work: NotificationWork) {
    state.withLock { $0.works[ObjectIdentifier(work), default: (work, 0)].tasks += 1 }
  }

  /// Notes that a task of a work has ended.
  func ended(_ work: NotificationWork) {
    state.withLock { state in
      let id = ObjectIdentifier(work)
      state.works[id]?.tasks -= 1
      if state.works[id]?.tasks ?? 0 <= 0 { state.works[id] = nil }
      guard state.works.isEmpty else { return }
      for semaphore in state.waiting { semaphore.signal() }
      state.waiting = []
    }
  }

  /// Gives each lost push a local notification now, because iOS may suspend the process after the next hand-over. What
  /// is not ready in time is asked for again by another process. The call blocks the thread.
  ///
  /// - Parameter seconds: The longest time that this takes.
  func finish(within seconds: TimeInterval) {
    let end = DispatchTime.now() + seconds
    let isDone = DispatchSemaphore(value: 0)
    let works = state.withLock { state in
      if !state.works.isEmpty { state.waiting.append(isDone) }
      return state.works.values.map(\.work).sorted { $0.rank < $1.rank }
    }
    guard !works.isEmpty else { return }
    for work in works where DispatchTime.now() < end { work.expire() }
    _ = isDone.wait(timeout: end)
  }
}
