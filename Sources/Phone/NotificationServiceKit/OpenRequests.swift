// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport

/// Counts the open requests of this process: the notifications whose handler was not called yet, so that iOS waits for
/// them.
///
/// iOS may suspend the process as soon as the last notification is handed over. iOS ends a process that is suspended
/// while it holds the lock of a shared file (observed, exception code 0xdead10cc). Work for which iOS does not wait,
/// such as the search for lost pushes, therefore uses the order only while a request is open.
final class OpenRequests: Sendable {
  private struct Counts {
    var open = 0
    /// The number of open requests that are about to be closed.
    var closing = 0
  }

  private let counts = Locked(Counts())
  private let use = Locked(())

  /// Opens a request. The app's own search for lost pushes also counts as a request.
  func begin() { counts.withLock { $0.open += 1 } }

  /// Closes a request. If it is the last one, the call blocks the thread until no closure of ``whileOpen(_:)`` is
  /// running.
  ///
  /// - Parameters:
  ///   - finishOthers: Called if this request is the last one, while it is still open. This call is the last
  ///     opportunity to finish work for which iOS does not wait.
  ///   - whenClosed: Called after the last request was closed.
  func end(finishOthers: () -> Void = {}, whenClosed: () -> Void = {}) {
    let isLast = counts.withLock { counts in
      counts.closing += 1
      return counts.closing == counts.open
    }
    if isLast { finishOthers() }
    let isClosed = counts.withLock { counts in
      counts.open -= 1
      counts.closing -= 1
      return counts.open == 0
    }
    if isClosed {
      use.withLock { _ in }
      whenClosed()
    }
  }

  /// Whether iOS still waits for a notification of this process.
  var isOpen: Bool { counts.withLock { $0.open > 0 } }

  /// Calls a closure if a request is open. The closure must be short, because the last hand-over waits for its end.
  ///
  /// - Returns: The result of the closure; nil if all requests are closed.
  func whileOpen<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    let outcome = use.withLock { _ -> Swift.Result<Result, Failure>? in
      guard isOpen else { return nil }
      return Swift.Result { () throws(Failure) -> Result in try body() }
    }
    return try outcome?.get()
  }
}
