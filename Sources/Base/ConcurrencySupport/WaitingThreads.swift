// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The threads for work that blocks, such as waiting for a disk or for another program.
///
/// Swift tasks and concurrent dispatch queues run on as few threads as there are cores. Work that blocks one of these
/// threads keeps other work from running. A task that blocks more than once, such as a task that makes a clip, prefers
/// this executor from beginning to end. Each wait then blocks the thread that the task already has. Moving each wait to
/// a queue instead would wake another thread twice per wait, which takes longer than most of the waits (54 µs,
/// `perf bench sched pipe`).
///
/// A thread is started when there is no idle thread for a job, and ends after it has been idle for 10 s. The threads do
/// not come from serial dispatch queues, because Dispatch starts more threads than there are jobs. With 64 queues, a
/// batch of 100,000 rows had 194 threads (2 cores, Debian 12). Each thread needs a stack, and is slow to return memory
/// to the system.
public final class WaitingThreads: TaskExecutor {
  public static let shared = WaitingThreads()

  /// Threads for requests to name servers, which may never answer. They are separate, so that these requests take no
  /// thread from other work.
  public static let nameServers = WaitingThreads(most: 32)

  /// The thread for the renewal of leases. It is separate, so that neither a disk that hangs nor much other work keeps a
  /// lease from being renewed.
  public static let leases = WaitingThreads(most: 1)

  private struct State {
    /// The maximum number of threads.
    var most: Int

    /// The number of threads, including those that are about to start.
    var threads = 0

    /// The number of threads that wait for a job and have not been woken yet.
    var idle = 0

    /// The number of threads that are starting or were woken, and have not asked for a job yet. Each of these threads
    /// will take one waiting job, so that job needs no further thread. While a thread is idle or a further thread may
    /// start, there is one of these threads for each waiting job.
    var coming = 0

    /// The jobs that no thread has begun. The oldest is first.
    var jobs: [UnownedJob] = []
  }

  private let longestIdle: TimeInterval
  private let state: Locked<State>

  /// Signalled once for each idle thread that must wake up.
  private let wakes = DispatchSemaphore(value: 0)

  /// - Parameters:
  ///   - most: The maximum number of threads. The default of 64 exceeds the number of voice processes, clip writes and
  ///     file reads that block at the same time. Further jobs wait for a free thread, so a disk that hangs never takes
  ///     more threads than this.
  ///   - longestIdle: The time, in seconds, after which an idle thread ends.
  init(most: Int = 64, longestIdle: TimeInterval = 10) {
    state = Locked(State(most: most))
    self.longestIdle = longestIdle
  }

  /// Raises the maximum number of threads, for work that blocks many threads at the same time, such as many voice
  /// processes. The maximum is never lowered again.
  ///
  /// - Parameter count: The number of threads that the work blocks for a long time. The maximum becomes this number
  ///   plus 32 threads for files.
  public func allow(blocking count: Int) {
    state.withLock { $0.most = max($0.most, count + 32) }
  }

  /// The number of threads now, including those that are idle or starting.
  var count: Int { state.withLock { $0.threads } }

  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let (wakes, starts) = state.withLock { state in
      state.jobs.append(job)
      guard state.jobs.count > state.coming else { return (false, false) }
      if state.idle > 0 {
        state.idle -= 1
        state.coming += 1
        return (true, false)
      }
      guard state.threads < state.most else { return (false, false) }
      state.threads += 1
      state.coming += 1
      return (false, true)
    }
    if wakes { self.wakes.signal() }
    if starts { Thread.detachNewThread { self.work() } }
  }

  /// Runs jobs until there has been no job for the longest idle time.
  private func work() {
    repeat {
      state.withLock { $0.coming -= 1 }
      while let job = nextJob() { run(job) }
    } while waitedForJob()
  }

  /// - Returns: The next job. If there is none, the thread counts as idle.
  private func nextJob() -> UnownedJob? {
    state.withLock { state in
      if !state.jobs.isEmpty { return state.jobs.removeFirst() }
      state.idle += 1
      return nil
    }
  }

  /// - Returns: False if there was no job for the longest idle time. The thread is then no longer in ``count``.
  private func waitedForJob() -> Bool {
    if wakes.wait(timeout: .now() + longestIdle) == .success { return true }
    let ends = state.withLock { state in
      guard state.idle > 0 else { return false }
      state.idle -= 1
      state.threads -= 1
      return true
    }
    // Another thread decided to wake this thread just as its time ended. Its signal has been sent or is about to be
    // sent.
    if !ends { wakes.wait() }
    return !ends
  }

  private func run(_ job: UnownedJob) {
    #if canImport(ObjectiveC)
      // Dispatch empties an autorelease pool after each job. A plain thread has no such pool, so one is made here.
      autoreleasepool { job.runSynchronously(on: asUnownedTaskExecutor()) }
    #else
      job.runSynchronously(on: asUnownedTaskExecutor())
    #endif
  }
}

/// Runs blocking work on a thread that may block. If the task already runs on such a thread, the work runs there.
///
/// - Parameter threads: The threads to use instead of the shared ones.
/// - Throws: The error that the work throws.
public func onWaitingThread<Value: Sendable, Failure: Error>(
  of threads: WaitingThreads = .shared, _ work: @Sendable () throws(Failure) -> Value
) async throws(Failure) -> Value {
  let result = await withTaskExecutorPreference(threads) {
    Result { () throws(Failure) -> Value in try work() }
  }
  return try result.get()
}
