// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// An interrupt (Ctrl-C) or a request to end, as a cancelled task: what was begun is taken back before the program ends.
enum Interruption {
  /// - Throws: what the work throws. After an interrupt that it ended for, the process ends as others do: by the signal.
  static func cancelling<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
    let task = Task { try await work() }
    let caught = CaughtSignal()
    let sources = [SIGINT, SIGTERM, SIGHUP].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        caught.note(number)
        task.cancel()
      }
      source.resume()
      return source
    }
    let result = await task.result
    for source in sources { source.cancel() }
    if case .failure(let error) = result, error is CancellationError, let number = caught.number {
      signal(number, SIG_DFL)
      // The threads that run tasks have all signals blocked.
      var set = sigset_t()
      sigemptyset(&set)
      sigaddset(&set, number)
      pthread_sigmask(SIG_UNBLOCK, &set, nil)
      raise(number)
    }
    return try result.get()
  }
}

private final class CaughtSignal: @unchecked Sendable {  // `stored` is used under the lock.
  private let lock = NSLock()
  private var stored: Int32?

  var number: Int32? { lock.withLock { stored } }
  func note(_ number: Int32) { lock.withLock { stored = stored ?? number } }
}
