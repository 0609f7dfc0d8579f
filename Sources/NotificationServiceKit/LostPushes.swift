// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation

/// The works of a process on pushes that were lost, for which iOS does not wait.
final class LostPushes: Sendable {
  private struct State {
    var works: [ObjectIdentifier: NotificationWork] = [:]
    /// Those who wait until no work is left.
    var waiting: [DispatchSemaphore] = []
  }

  private let state = Locked(State())

  var isEmpty: Bool { state.withLock { $0.works.isEmpty } }

  func began(_ work: NotificationWork) { state.withLock { $0.works[ObjectIdentifier(work)] = work } }

  func ended(_ work: NotificationWork) {
    state.withLock { state in
      state.works[ObjectIdentifier(work)] = nil
      guard state.works.isEmpty else { return }
      for semaphore in state.waiting { semaphore.signal() }
      state.waiting = []
    }
  }

  /// Gives each lost push a local notification now, because iOS may suspend the process after the next hand-over. What
  /// is not ready in time is given up, so that another process asks the service for it again. The call blocks the
  /// thread.
  ///
  /// - Parameter seconds: The longest time that this takes.
  func finish(within seconds: TimeInterval) {
    let end = DispatchTime.now() + seconds
    let isDone = DispatchSemaphore(value: 0)
    let works = state.withLock { state in
      if !state.works.isEmpty { state.waiting.append(isDone) }
      return state.works.values.sorted { $0.rank < $1.rank }
    }
    guard !works.isEmpty else { return }
    for work in works where DispatchTime.now() < end { work.expire() }
    if isDone.wait(timeout: end) == .success { return }
    for work in state.withLock({ Array($0.works.values) }) { work.giveUp() }
  }
}
