// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The threads for work that blocks, such as waiting for a disk or for another program.
///
/// Swift tasks and concurrent dispatch queues run on as few threads as there are cores. Work that blocks one of these
/// threads keeps other work from running. A task that blocks more than once, such as a task that makes a clip, prefers
/// this executor from beginning to end. Each wait then blocks the thread that the task already has. Moving each wait to
/// a queue instead would wake another thread twice per wait, which takes longer than most of the waits (54 µs,
/// `perf bench sched pipe`).
public final class WaitingThreads: TaskExecutor {
  public static let shared = WaitingThreads()

  /// The maximum number of threads. It exceeds the number of voice processes, clip writes and file reads that block at
  /// the same time. Further jobs wait for a free thread, so a disk that hangs never takes more threads than this.
  private static let most = 64

  private struct State {
    /// The serial queues without work. Each queue has its own thread while it works, whatever the number of cores.
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

  /// Runs a job, and then the jobs that are waiting.
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

/// Runs blocking work on a thread that is allowed to block. If the task already has such a thread, the work runs there.
///
/// - Throws: The error that the work throws.
public func onWaitingThread<Value: Sendable, Failure: Error>(
  _ work: @Sendable () throws(Failure) -> Value
) async throws(Failure) -> Value {
  let result = await withTaskExecutorPreference(WaitingThreads.shared) {
    Result { () throws(Failure) -> Value in try work() }
  }
  return try result.get()
}
