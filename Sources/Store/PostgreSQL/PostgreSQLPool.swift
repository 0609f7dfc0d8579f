// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport

/// Several connections to the same servers, for work that is done at the same time.
///
/// Each piece of work has a connection to itself. Work waits in the order of the calls. A connection whose server hangs
/// counts as taken, so that other work does not wait behind it.
public final class PostgreSQLPool: Sendable {
  fileprivate struct Waiting {
    let number: Int
    let outcome: FirstOutcome<Int, PostgreSQLError>
  }

  fileprivate struct State {
    /// The connections without work. The last one is used first, so that few are open when there is little work.
    var free: [Int]
    var waiting: [Waiting] = []
    var number = 0
    var isClosed = false
  }

  private let connections: [PostgreSQLConnection]
  private let server: String
  private let timeLimit: Duration
  private let mostWaiting: Int
  private let state: Locked<State>

  /// - Parameters:
  ///   - count: The number of connections, at least 1. Each has a thread. They are opened when they are needed.
  ///   - mostWaiting: The maximum number of calls that wait for a connection.
  /// - Throws: ``PostgreSQLError`` with `cannotConnect`, if the process has no more file descriptors.
  public init(
    to address: PostgreSQLAddress, count: Int, mostWaiting: Int = 1_000,
    options: PostgreSQLConnection.Options = PostgreSQLConnection.Options()
  ) throws(PostgreSQLError) {
    var connections: [PostgreSQLConnection] = []
    for _ in 0..<max(1, count) { connections.append(try PostgreSQLConnection(to: address, options: options)) }
    self.connections = connections
    self.mostWaiting = mostWaiting
    server = address.description
    timeLimit = options.timeLimit
    state = Locked(State(free: Array(connections.indices.reversed())))
  }

  /// The present state of each connection.
  public var states: [PostgreSQLConnection.State] { connections.map(\.state) }

  /// The number of calls that wait for a connection.
  public var waiting: Int { state.withLock { $0.waiting.count } }

  /// Runs work on a connection that nobody else uses meanwhile; see ``PostgreSQLConnection/run(within:_:)``. The time
  /// limit includes waiting for a connection.
  ///
  /// - Throws: ``PostgreSQLError``, with `noFreeConnection` if none became free before the deadline, and with
  ///   `tooManyWaiting` if too many calls wait already.
  @discardableResult
  public func run<Value: Sendable>(
    within limit: Duration? = nil,
    _ work: @escaping @Sendable (borrowing PostgreSQLSession) throws(PostgreSQLError) -> Value
  ) async throws(PostgreSQLError) -> Value {
    let deadline = ContinuousClock.Instant.deadline(after: limit ?? timeLimit)
    let place = try await take(until: deadline)
    return try await connections[place].run(until: deadline, whenFree: { self.giveBack(place) }, work)
  }

  /// Runs work in a transaction; see ``PostgreSQLSession/transaction(_:attempts:_:)``.
  @discardableResult
  public func transaction<Value: Sendable>(
    _ isolation: PostgreSQLIsolation = .readCommitted, within limit: Duration? = nil,
    _ work: @escaping @Sendable (borrowing PostgreSQLSession) throws(PostgreSQLError) -> Value
  ) async throws(PostgreSQLError) -> Value {
    try await run(within: limit) { session throws(PostgreSQLError) in try session.transaction(isolation, work) }
  }

  /// Closes all connections, and returns when they are closed. All calls that wait fail.
  public func close() async {
    let waiting = state.withLock { state in
      state.isClosed = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for call in waiting { call.outcome.end(.failure(error(.closed))) }
    for connection in connections { await connection.close() }
  }

  private func take(until deadline: ContinuousClock.Instant) async throws(PostgreSQLError) -> Int {
    let outcome = FirstOutcome<Int, PostgreSQLError>()
    let number: Int
    switch state.withLock({ $0.take(outcome, mostWaiting: mostWaiting) }) {
    case .free(let place): return place
    case .refused(let code): throw error(code)
    case .waiting(let own): number = own
    }
    let result = await outcome.wait(
      start: {
        [
          Task {
            guard (try? await Task.sleep(until: deadline, clock: .continuous)) != nil else { return }
            giveUp(number, .noFreeConnection)
          }
        ]
      },
      onCancel: { [self] in giveUp(number, .cancelled) })
    return try result.get()
  }

  /// Ends the wait of a call, unless it has a connection already.
  private func giveUp(_ number: Int, _ code: PostgreSQLError.Code) {
    let call = state.withLock { state -> Waiting? in
      guard let index = state.waiting.firstIndex(where: { $0.number == number }) else { return nil }
      return state.waiting.remove(at: index)
    }
    call?.outcome.end(.failure(error(code)))
  }

  private func giveBack(_ place: Int) {
    let next = state.withLock { state -> Waiting? in
      guard !state.waiting.isEmpty else {
        state.free.append(place)
        return nil
      }
      return state.waiting.removeFirst()
    }
    next?.outcome.end(.success(place))
  }

  private func error(_ code: PostgreSQLError.Code) -> PostgreSQLError {
    PostgreSQLError(code, while: .waiting, server: server)
  }
}

extension PostgreSQLPool.State {
  fileprivate enum Turn {
    case free(Int)
    case waiting(Int)
    case refused(PostgreSQLError.Code)
  }

  fileprivate mutating func take(_ outcome: FirstOutcome<Int, PostgreSQLError>, mostWaiting: Int) -> Turn {
    if isClosed { return .refused(.closed) }
    // While a call waits, no connection is free, so a later call cannot get one before it.
    if let place = free.popLast() { return .free(place) }
    guard waiting.count < mostWaiting else { return .refused(.tooManyWaiting) }
    number += 1
    waiting.append(PostgreSQLPool.Waiting(number: number, outcome: outcome))
    return .waiting(number)
  }
}
