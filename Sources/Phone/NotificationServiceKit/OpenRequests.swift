// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport

/// Counts the notifications of this process that iOS waits for: those whose handler was not called yet.
///
/// iOS may suspend the process as soon as the last one is handed over, and ends a process that it suspends with the lock
/// of a shared file (observed, exception code 0xdead10cc). Work for which iOS does not wait, such as the search for lost
/// pushes, therefore uses the order only while a request is open.
final class OpenRequests: Sendable {
  private struct Counts {
    var open = 0
    /// The open requests that are about to be closed.
    var closing = 0
  }

  private let counts = Locked(Counts())
  private let use = Locked(())

  /// Opens a request, or the app's own search for lost pushes.
  func begin() { counts.withLock { $0.open += 1 } }

  /// Closes a request. After the last one, no ``whileOpen(_:)`` is running. The call blocks the thread until then.
  ///
  /// - Parameters:
  ///   - finishOthers: Called if no other request is left, while this one is still open: the last opportunity to finish
  ///     work for which iOS does not wait.
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
