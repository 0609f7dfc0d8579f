// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation

/// The work of a process on lost pushes. iOS does not wait for this work.
///
/// Only a few pushes are worked on at the same time, in the order of their sequence numbers, because each needs a sound
/// to be prepared, and the service may name hundreds of lost pushes.
final class LostPushes: Sendable {
  /// The number of lost pushes that are worked on at the same time.
  static let mostAtOnce = 6

  private struct State {
    var works: [ObjectIdentifier: NotificationWork] = [:]
    /// The work that has not begun, in the order of the sequence numbers.
    var rest: [NotificationWork] = []
    /// Closures to call when no work is left.
    var waiting: [@Sendable () -> Void] = []
  }

  private let state = Locked(State())

  /// Begins the work on lost pushes. If ``mostAtOnce`` are already being worked on, the others begin later.
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

  /// Gives each lost push a local notification now, because iOS may suspend the process after the next hand-over.
  /// Pushes whose work has not begun, or whose sound is not ready in time, are given up, so that another process asks
  /// the service for them again. The call blocks the thread.
  ///
  /// - Parameter seconds: The longest time in seconds that this call takes.
  func finish(within seconds: TimeInterval) {
    let end = DispatchTime.now() + seconds
    let works = state.withLock { state in
      state.rest = []
      return state.works.values.sorted { $0.rank < $1.rank }
    }
    guard !works.isEmpty else { return }
    for work in works where DispatchTime.now() < end {
      // If a push has no sound yet, the service is asked for it again. The attempts are counted, and after the last one
      // the push is heard with the best sound that was found.
      if work.hasExactSound || work.hasHadTime { work.expire() } else { work.giveUp() }
    }
    let isDone = DispatchSemaphore(value: 0)
    wait { isDone.signal() }
    if isDone.wait(timeout: end) == .success { return }
    for work in state.withLock({ Array($0.works.values) }) { work.giveUp() }
  }
}
