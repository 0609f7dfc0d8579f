// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport

/// A connection to a PostgreSQL server, with a thread of its own.
///
/// - It connects when the first work comes. If the connection breaks, it connects again when the next work comes. While
///   no server can be reached, it tries again after growing pauses, until the deadline of the work.
/// - Work is done in the order of the calls, one after another.
/// - At the deadline of a call, or when its task is cancelled, the statement that runs is cancelled on the server, and
///   the call throws. If the server does not answer that, the connection is closed. A commit is not cancelled: the
///   connection is closed, and the outcome is unknown. The call never waits longer than a few seconds beyond its
///   deadline.
///
/// Only looking up a host name and sending a cancellation may block the thread for longer, if a network swallows
/// packets. Calls return in time meanwhile, and later work waits.
public final class PostgreSQLConnection: Sendable {
  /// The options of a connection.
  public struct Options: Sendable, Hashable {
    /// The time limit of a call that has none of its own.
    public var timeLimit: Duration = .seconds(30)
    /// The time to wait for the server's answer to a cancellation or a rollback. After that, the connection is closed.
    public var patience: Duration = .seconds(2)
    /// The pauses between attempts to connect.
    public var reconnecting = PostgreSQLBackOff()
    /// The maximum number of statements that stay prepared.
    public var mostStatements = 256

    public init() {}
  }

  /// The state of a connection.
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// There is no connection, and nobody has asked for one since the last one ended.
    case notConnected = "not_connected"
    /// The connection is looking for the first server that accepts it.
    case connecting
    case connected
    /// No server accepted. The next attempt comes after a pause, if there is work.
    case waiting
    /// ``PostgreSQLConnection/close()`` was called.
    case closed
  }

  private let address: PostgreSQLAddress
  private let options: Options
  private let mailbox: Mailbox

  /// - Throws: ``PostgreSQLError`` with `cannotConnect`, if the process has no more file descriptors.
  public init(to address: PostgreSQLAddress, options: Options = Options()) throws(PostgreSQLError) {
    guard let wake = WakeUp() else {
      throw PostgreSQLError(.cannotConnect, while: .connecting, server: address.description)
    }
    self.address = address
    self.options = options
    mailbox = Mailbox(wake: wake)
  }

  deinit { mailbox.close(server: address.description) }

  /// The present state of the connection.
  public var state: State { mailbox.connectionState }

  /// Runs work on the connection's thread, after the work of earlier calls.
  ///
  /// - Parameters:
  ///   - limit: The time until the deadline of the call; nil for the time limit of the options. The limit includes
  ///     waiting for earlier work and for a server.
  ///   - work: The work. It blocks the connection, so it should do nothing but run statements.
  /// - Returns: What the work returned. This value is returned even if the deadline passes just when the work is done.
  /// - Throws: The error of the work; ``PostgreSQLError`` with `deadlinePassed`, `cancelled`, `closed`, or with the reason
  ///   why there is no connection.
  @discardableResult
  public func run<Value: Sendable>(
    within limit: Duration? = nil,
    _ work: @escaping @Sendable (borrowing PostgreSQLSession) throws(PostgreSQLError) -> Value
  ) async throws(PostgreSQLError) -> Value {
    try await run(until: .deadline(after: limit ?? options.timeLimit), whenFree: {}, work)
  }

  /// Runs work in a transaction; see ``PostgreSQLSession/transaction(_:attempts:_:)``.
  @discardableResult
  public func transaction<Value: Sendable>(
    _ isolation: PostgreSQLIsolation = .readCommitted, within limit: Duration? = nil,
    _ work: @escaping @Sendable (borrowing PostgreSQLSession) throws(PostgreSQLError) -> Value
  ) async throws(PostgreSQLError) -> Value {
    try await run(within: limit) { session throws(PostgreSQLError) in try session.transaction(isolation, work) }
  }

  /// Runs work, as ``run(within:_:)`` does.
  ///
  /// - Parameter whenFree: Called once, when the thread can do other work. This may be after the call has returned.
  func run<Value: Sendable>(
    until deadline: ContinuousClock.Instant, whenFree: @escaping @Sendable () -> Void,
    _ work: @escaping @Sendable (borrowing PostgreSQLSession) throws(PostgreSQLError) -> Value
  ) async throws(PostgreSQLError) -> Value {
    let server = address.description
    let control = JobControl(deadline: deadline)
    let outcome = FirstOutcome<Value, PostgreSQLError>()
    let job = Job(
      control: control,
      perform: { session throws(PostgreSQLError) in
        let value = try work(session)
        return { outcome.end(.success(value)) }
      },
      fail: { outcome.end(.failure($0)) }, finished: whenFree)
    guard !Task.isCancelled else {
      whenFree()
      throw PostgreSQLError(.cancelled, while: .waiting, server: server)
    }
    guard let mustStart = mailbox.add(job) else {
      whenFree()
      throw PostgreSQLError(.closed, while: .waiting, server: server)
    }
    if mustStart { ConnectionThread.start(mailbox, address, options) }

    // The thread answers soon after the end. If it hangs, the call returns nevertheless.
    let longest = options.patience * 2 + .seconds(1)
    let end: @Sendable (JobControl.End) async -> Void = { [mailbox] end in
      let obstacle = mailbox.obstacle(server: server)
      if let error = control.end(end, server: server, obstacle: obstacle) {
        outcome.end(.failure(error))
        return
      }
      mailbox.wake.signal()
      guard (try? await Task.sleep(for: longest)) != nil else { return }
      outcome.end(.failure(control.abandoned(server: server)))
    }
    let result = await outcome.wait(
      start: {
        [
          Task {
            guard (try? await Task.sleep(until: deadline, clock: .continuous)) != nil else { return }
            await end(.deadlinePassed)
          }
        ]
      },
      onCancel: { Task { await end(.cancelled) } })
    return try result.get()
  }

  /// Closes the connection, and returns when it is closed. The statement that runs is cancelled, and all calls that
  /// wait fail.
  public func close() async {
    mailbox.close(server: address.description)
    await mailbox.waitForEnd()
  }
}

extension ContinuousClock.Instant {
  /// Returns the end of a time limit. A limit of more than a year ends after a year, which avoids an overflow.
  static func deadline(after limit: Duration) -> Self { .now + min(limit, .seconds(366 * 86_400)) }
}
