// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Dispatch
import Foundation

/// An interrupt (Ctrl-C) or a request to terminate. The running task is cancelled and undoes unfinished work. Then the
/// process ends itself with the same signal, as other programs do.
struct Interruption: Error, CustomStringConvertible {
  var signal: Int32
  var description: String { "interrupted" }

  /// Runs the work and cancels its task when a signal arrives.
  ///
  /// - Throws: The work's error, or ``Interruption`` if a signal ended the work.
  static func cancelling<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
    let task = Task { try await work() }
    let caught = Locked<Int32?>(nil)
    // A signal that is already ignored, as under nohup, stays ignored.
    let numbers = [SIGINT, SIGTERM, SIGHUP].filter { !isIgnored($0) }
    let sources = numbers.map { number in
      Foundation.signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        caught.withLock { $0 = $0 ?? number }
        task.cancel()
      }
      source.resume()
      return source
    }
    let result = await task.result
    for source in sources { source.cancel() }
    // From now on, a signal ends the process at once, for example while the command asks a question.
    for number in numbers { Foundation.signal(number, SIG_DFL) }
    if case .failure(let error) = result, error is CancellationError, let number = caught.withLock({ $0 }) {
      throw Interruption(signal: number)
    }
    return try result.get()
  }

  /// Ends the process with the signal.
  func raise() {
    Foundation.signal(signal, SIG_DFL)
    // All signals are blocked on the threads that run tasks.
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, signal)
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
    Foundation.raise(signal)
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    sigaction(number, nil, &action)
    let handler = action.__sigaction_handler.sa_handler
    // SIG_IGN is the address 1, so it cannot be compared as a function.
    return unsafeBitCast(handler, to: Int.self) == 1
  }
}
