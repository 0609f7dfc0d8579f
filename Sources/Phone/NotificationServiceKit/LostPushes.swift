// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation

/// The works of a process on pushes that were lost, for which iOS does not wait.
///
/// Only a few of them work at the same time, in the order of their numbers: each prepares a sound, and a search may find
/// hundreds.
final class LostPushes: Sendable {
  /// The number of works that work at the same time.
  static let mostAtOnce = 6

  private struct State {
    var works: [ObjectIdentifier: NotificationWork] = [:]
    /// Those that have not begun, in the order of their numbers.
    var rest: [NotificationWork] = []
    /// Those who wait until no work is left.
    var waiting: [@Sendable () -> Void] = []
  }

  private let state = Locked(State())

  /// Begins works on pushes, or lets them wait until earlier ones have ended.
  func begin(_ works: [NotificationWork]) {
    state.withLock { $0.rest = ($0.rest + works).sorted { $0.rank < $1.rank } }
    beginNext()
  }

  private func beginNext() {
    let next = state.withLock { state in
      let next = Array(state.rest.prefix(max(0, Self.mostAtOnce - state.works.count)))
      state.rest.removeFirst(next.count)
      for work in next { state.works[ObjectIdentifier(work)] = work }
      return next
    }
    for work in next { work.begin(handOver: { _ in }) }
  }

  func ended(_ work: NotificationWork) {
    state.withLock { $0.works[ObjectIdentifier(work)] = nil }
    beginNext()
    let waiting = state.withLock { state in
      guard state.works.isEmpty, state.rest.isEmpty else { return [@Sendable () -> Void]() }
      defer { state.waiting = [] }
      return state.waiting
    }
    for resume in waiting { resume() }
  }

  /// Returns when no work is left.
  func finished() async {
    await withCheckedContinuation { continuation in wait { continuation.resume() } }
  }

  private func wait(_ resume: @escaping @Sendable () -> Void) {
    let isOver = state.withLock { state in
      if state.works.isEmpty, state.rest.isEmpty { return true }
      state.waiting.append(resume)
      return false
    }
    if isOver { resume() }
  }

  /// Gives each lost push a local notification now, because iOS may suspend the process after the next hand-over. What
  /// has not begun, or is not ready in time, is given up, so that another process asks the service for it again. The call
  /// blocks the thread.
  ///
  /// - Parameter seconds: The longest time that this takes.
  func finish(within seconds: TimeInterval) {
    let end = DispatchTime.now() + seconds
    let works = state.withLock { state in
      state.rest = []
      return state.works.values.sorted { $0.rank < $1.rank }
    }
    guard !works.isEmpty else { return }
    for work in works where DispatchTime.now() < end {
      // The service is asked again for what has no sound yet. The tries are counted, and the last one is heard.
      if work.hasExactSound || work.hasHadTime { work.expire() } else { work.giveUp() }
    }
    let isDone = DispatchSemaphore(value: 0)
    wait { isDone.signal() }
    if isDone.wait(timeout: end) == .success { return }
    for work in state.withLock({ Array($0.works.values) }) { work.giveUp() }
  }
}
