// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport

/// The state that a call shares with the connection's thread: how far the work is, and whether it must end.
final class JobControl: Sendable {
  /// Why work ends before it is done.
  enum End: Sendable {
    case cancelled
    case deadlinePassed
    case closed

    var code: PostgreSQLError.Code {
      switch self {
      case .cancelled: .cancelled
      case .deadlinePassed: .deadlinePassed
      case .closed: .closed
      }
    }
  }

  private enum Phase {
    case waiting
    case running
  }

  private struct State {
    var phase = Phase.waiting
    var end: End?
    var mayCommit = false
  }

  let deadline: ContinuousClock.Instant
  private let state = Locked(State())

  init(deadline: ContinuousClock.Instant) { self.deadline = deadline }

  // MARK: - The caller's side

  /// Ends the work. After the call, the thread begins no further statement of the work.
  ///
  /// - Parameter obstacle: Why there is no connection now; nil if there is one. If the deadline passes, the call
  ///   returns this error, because it says more than "the deadline passed".
  /// - Returns: The error of the call, if nothing of the work has begun; nil if the thread must end it.
  func end(_ end: End, server: String, obstacle: PostgreSQLError? = nil) -> PostgreSQLError? {
    state.withLock { state in
      if state.end == nil { state.end = end }
      guard state.phase != .running else { return nil }
      if end == .deadlinePassed, let obstacle { return obstacle }
      return PostgreSQLError(end.code, while: .waiting, server: server)
    }
  }

  /// Returns the error of a call that the thread has not answered long after its end.
  func abandoned(server: String) -> PostgreSQLError {
    state.withLock { state in
      let code = state.mayCommit ? .outcomeUnknown : (state.end ?? .deadlinePassed).code
      return PostgreSQLError(code, while: .runningStatement, server: server)
    }
  }

  // MARK: - The thread's side

  /// Why the work must end; nil if it may go on.
  var ended: End? {
    state.withLock { $0.end } ?? (ContinuousClock.now < deadline ? nil : .deadlinePassed)
  }

  /// Begins the work, unless it must end.
  ///
  /// - Returns: Whether the work may begin.
  func runs() -> Bool {
    state.withLock { state in
      guard state.end == nil else { return false }
      state.phase = .running
      return true
    }
  }

  /// Begins a statement, unless the work must end.
  ///
  /// - Parameter mayCommit: Whether the statement may store changes that nothing rolls back.
  /// - Returns: Why the work must end; nil if the statement may be sent.
  func begin(mayCommit: Bool) -> End? {
    if let ended { return ended }
    return state.withLock { state in
      if let end = state.end { return end }
      state.mayCommit = mayCommit
      return nil
    }
  }

  /// Notes that the server has answered the statement.
  func finish() { state.withLock { $0.mayCommit = false } }
}
