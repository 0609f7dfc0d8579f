// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Threads for work that waits: for a disk, or for another program.
///
/// Swift runs all tasks on as few threads as there are cores; work that blocks one of them keeps others from running. A task
/// that blocks more than once, as one that makes a clip does, prefers these threads from its beginning to its end. To hand
/// each wait to a queue instead wakes another thread twice a wait, which costs more than most of the waits are long
/// (54 µs, `perf bench sched pipe`).
public final class WaitingThreads: TaskExecutor {
  public static let shared = WaitingThreads()

  private let queue = DispatchQueue(label: "crier.waiting", attributes: .concurrent)

  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
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
