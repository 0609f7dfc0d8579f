// SPDX-License-Identifier: Apache-2.0

#if canImport(CALSA)
  private import Foundation

  /// A thread with exclusive use of a device, so that a call that never returns blocks no other thread.
  ///
  /// libasound's non-blocking mode does not prevent such calls. Even in this mode, its plugin for PulseAudio waits for
  /// the server while opening, preparing, reading the delay and closing.
  final class DeviceThread: @unchecked Sendable {  // The variables are used only under `monitor`.
    typealias Job = @Sendable (inout (any PlaybackDevice)?) -> Void

    private let monitor = Monitor()
    private var jobs: [Job] = []
    private var isEnded = false
    private var isBrokenNow = false

    init() {
      let thread = Thread { [self] in
        var device: (any PlaybackDevice)?
        while let job = next() { job(&device) }
        device = nil  // Closes the device.
      }
      thread.name = "sound device"
      thread.start()
    }

    /// Ends the thread after it has run the remaining jobs and closed the device.
    func end() {
      monitor.withLock { isEnded = true }
      monitor.broadcast()
    }

    /// Runs a job and waits for its answer as long as the job makes progress.
    ///
    /// - Parameter patience: the longest time without progress.
    /// - Returns: the answer; `nil` if the job made no progress and was abandoned.
    func run<Answer: Sendable>(
      patience: Duration, _ job: @escaping @Sendable (inout (any PlaybackDevice)?, PendingAnswer<Answer>) -> Void
    ) -> Answer? {
      let answer = PendingAnswer<Answer>()
      monitor.withLock { jobs.append { device in job(&device, answer) } }
      monitor.broadcast()
      return answer.wait(patience: patience)
    }

    /// Waits for a time, on this thread.
    ///
    /// - Returns: false as soon as another job waits, or the thread is to end.
    func rest(_ time: Duration) -> Bool {
      let end = SuspendingClock.now + time
      return monitor.withLock {
        while jobs.isEmpty, !isEnded {
          let left = SuspendingClock.now.duration(to: end)
          if left <= .zero { return true }
          monitor.wait(timeout: left)
        }
        return false
      }
    }

    /// Whether the device failed while nothing was played.
    var isBroken: Bool { monitor.withLock { isBrokenNow } }
    func noteBroken() { monitor.withLock { isBrokenNow = true } }

    private func next() -> Job? {
      monitor.withLock {
        while jobs.isEmpty, !isEnded { monitor.wait(timeout: nil) }
        return jobs.isEmpty ? nil : jobs.removeFirst()
      }
    }
  }

  /// An answer that a thread waits for.
  final class PendingAnswer<Answer: Sendable>: @unchecked Sendable {  // The variables are used only under `monitor`.
    private let monitor = Monitor()
    private var answer: Answer?
    private var lastProgress = SuspendingClock.now
    private var isExpected = true
    private var isGivenUp = false

    func give(_ answer: Answer) {
      monitor.withLock { if self.answer == nil { self.answer = answer } }
      monitor.broadcast()
    }

    /// Records progress.
    ///
    /// - Parameter isExpected: false if no progress is expected until the next call of this function. That call may
    ///   then come at any later time.
    func noteProgress(_ isExpected: Bool) {
      monitor.withLock {
        lastProgress = .now
        self.isExpected = isExpected
      }
      monitor.broadcast()
    }

    /// Whether nobody waits for the answer any more.
    var isAbandoned: Bool { monitor.withLock { isGivenUp } }

    func wait(patience: Duration) -> Answer? {
      monitor.withLock {
        while answer == nil {
          let left = SuspendingClock.now.duration(to: lastProgress + patience)
          if isExpected, left <= .zero {
            isGivenUp = true
            return nil
          }
          monitor.wait(timeout: isExpected ? left : nil)
        }
        return answer
      }
    }
  }
#endif
