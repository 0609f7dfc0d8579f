// SPDX-License-Identifier: Apache-2.0

#if canImport(CALSA)
  private import Foundation

  /// A thread that has a device to itself, so that a call which never returns holds nobody else.
  ///
  /// libasound's own modes do not help there: its plugin for PulseAudio waits for the server in opening, preparing,
  /// asking for the delay and closing, in non-blocking mode as well.
  final class DeviceThread: @unchecked Sendable {  // `jobs` and `isEnded` are read and written under `monitor`
    typealias Job = @Sendable (inout (any PlaybackDevice)?) -> Void

    private let monitor = Monitor()
    private var jobs: [Job] = []
    private var isEnded = false

    init() {
      let thread = Thread { [self] in
        var device: (any PlaybackDevice)?
        while let job = next() { job(&device) }
        device = nil  // closes it
      }
      thread.name = "sound device"
      thread.start()
    }

    /// The last thing the thread does, after the jobs that were given, is to close the device.
    func end() {
      monitor.withLock { isEnded = true }
      monitor.broadcast()
    }

    /// Runs a job and waits for its answer, as long as it shows progress.
    ///
    /// - Parameter patience: how long it may show none.
    /// - Returns: nil if it showed none; the job is then left to itself.
    func run<Answer: Sendable>(
      patience: Duration, _ job: @escaping @Sendable (inout (any PlaybackDevice)?, PendingAnswer<Answer>) -> Void
    ) -> Answer? {
      let answer = PendingAnswer<Answer>()
      monitor.withLock { jobs.append { device in job(&device, answer) } }
      monitor.broadcast()
      return answer.wait(patience: patience)
    }

    private func next() -> Job? {
      monitor.withLock {
        while jobs.isEmpty, !isEnded { monitor.wait(timeout: nil) }
        return jobs.isEmpty ? nil : jobs.removeFirst()
      }
    }
  }

  /// What somebody waits for.
  final class PendingAnswer<Answer: Sendable>: @unchecked Sendable {  // variables are used under `monitor` only
    private let monitor = Monitor()
    private var answer: Answer?
    private var lastProgress = SuspendingClock.now
    private var isExpected = true

    func give(_ answer: Answer) {
      monitor.withLock { if self.answer == nil { self.answer = answer } }
      monitor.broadcast()
    }

    /// - Parameter isExpected: false if the answer may now take any time, until the next call.
    func noteProgress(_ isExpected: Bool) {
      monitor.withLock {
        lastProgress = .now
        self.isExpected = isExpected
      }
      monitor.broadcast()
    }

    func wait(patience: Duration) -> Answer? {
      monitor.withLock {
        while answer == nil {
          let left = SuspendingClock.now.duration(to: lastProgress + patience)
          if isExpected, left <= .zero { return nil }
          monitor.wait(timeout: isExpected ? left : nil)
        }
        return answer
      }
    }
  }
#endif
