// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// An interrupt (Ctrl-C) or a request to end, as a cancelled task: what was begun is taken back, and then the program ends
/// as others do, by the signal.
struct Interruption: Error, CustomStringConvertible {
  var signal: Int32
  var description: String { "interrupted" }

  /// - Throws: what the work throws; ``Interruption`` when it ended because of a signal.
  static func cancelling<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
    let task = Task { try await work() }
    let caught = CaughtSignal()
    // One that is ignored already, as under nohup, stays so.
    let sources = [SIGINT, SIGTERM, SIGHUP].filter { !isIgnored($0) }.map { number in
      Foundation.signal(number, SIG_IGN)
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
      throw Interruption(signal: number)
    }
    return try result.get()
  }

  /// Ends the process by the signal.
  func raise() {
    Foundation.signal(signal, SIG_DFL)
    // The threads that run tasks have all signals blocked.
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, signal)
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
    Foundation.raise(signal)
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    sigaction(number, nil, &action)
    #if canImport(Glibc)
      let handler = action.__sigaction_handler.sa_handler
    #else
      let handler = action.__sigaction_u.__sa_handler
    #endif
    // SIG_IGN is the address 1, which is no function to compare with.
    return unsafeBitCast(handler, to: Int.self) == 1
  }
}

private final class CaughtSignal: @unchecked Sendable {  // `stored` is used under the lock.
  private let lock = NSLock()
  private var stored: Int32?

  var number: Int32? { lock.withLock { stored } }
  func note(_ number: Int32) { lock.withLock { stored = stored ?? number } }
}
