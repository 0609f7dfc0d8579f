// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Threads for work that waits: for a disk, or for another program.
///
/// Swift runs all tasks on as few threads as there are cores, and so do concurrent dispatch queues; work that blocks one of
/// them keeps others from running. A task that blocks more than once, as one that makes a clip does, prefers these threads
/// from its beginning to its end: a wait then blocks the thread that the task has. To hand each wait to a queue instead
/// wakes another thread twice a wait, which costs more than most of the waits are long (54 µs, `perf bench sched pipe`).
public final class WaitingThreads: TaskExecutor {
  public static let shared = WaitingThreads()

  /// More than wait at once: speakers that speak, clips that are written, files that are read. What comes beyond it waits
  /// until one is free, so that a disk that hangs costs no more threads than these.
  private static let most = 64

  private struct State {
    /// Serial queues without work: each has a thread of its own while it works, whatever the number of cores.
    var idle: [DispatchQueue] = []
    var count = 0
    var waiting: [UnownedJob] = []
  }

  private let state = Locked(State())

  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let free: DispatchQueue? = state.withLock { state in
      if let queue = state.idle.popLast() { return queue }
      guard state.count < Self.most else {
        state.waiting.append(job)
        return nil
      }
      state.count += 1
      return DispatchQueue(label: "crier.waiting.\(state.count)")
    }
    if let free { free.async { self.work(at: job, on: free) } }
  }

  /// Does a job, and those that wait.
  private func work(at job: UnownedJob, on queue: DispatchQueue) {
    var next: UnownedJob? = job
    while let job = next {
      job.runSynchronously(on: asUnownedTaskExecutor())
      next = state.withLock { state in
        if !state.waiting.isEmpty { return state.waiting.removeFirst() }
        state.idle.append(queue)
        return nil
      }
    }
  }
}

/// Does work that blocks on a thread that may be blocked: on the one that the task has, when it is one of these.
///
/// - Throws: what the work throws.
public func onWaitingThread<Value: Sendable, Failure: Error>(
  _ work: @Sendable () throws(Failure) -> Value
) async throws(Failure) -> Value {
  let result = await withTaskExecutorPreference(WaitingThreads.shared) {
    Result { () throws(Failure) -> Value in try work() }
  }
  return try result.get()
}
