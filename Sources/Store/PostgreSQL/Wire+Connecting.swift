// SPDX-License-Identifier: Apache-2.0

import CPQ
import Foundation

extension Wire {
  /// Connects to the first server of an address that accepts. The call blocks.
  ///
  /// - Parameter isStopped: Returns whether nobody needs the connection any more. It is called when the thread is woken.
  /// - Throws: ``PostgreSQLError`` with `cannotConnect`, `accessDenied`, `noDatabase`, `passwordFileUnusable`, `serverFull`,
  ///   `closed` or, for another SQLSTATE, `serverFailed`.
  static func connect(
    to address: PostgreSQLAddress, mostStatements: Int, wake: WakeUp, isStopped: () -> Bool
  ) throws(PostgreSQLError) -> Wire {
    var parameters = address.parameters
    parameters["password"] = try address.password()
    var failure: PostgreSQLError?
    for host in address.hosts {
      do {
        let pointer = unsafe try connect(
          parameters.merging(host.parameters) { _, own in own }, to: host.shown, within: address.connectTimeout,
          wake: wake, isStopped: isStopped)
        return unsafe Wire(pointer, server: host.shown, wake: wake, mostStatements: mostStatements)
      } catch {
        if error.code == .closed { throw error }
        // An answer of one server says more than the silence of another one.
        if failure == nil || error.code != .cannotConnect { failure = error }
      }
    }
    throw failure ?? PostgreSQLError(.cannotConnect, while: .connecting, server: address.description)
  }

  /// Connects to one server. `PQconnectdb` would do the same in one call. But it could neither be stopped, nor would it
  /// say the SQLSTATE of a refusal, and it would print the server's notices.
  private static func connect(
    _ parameters: [String: String], to server: String, within limit: Duration, wake: WakeUp, isStopped: () -> Bool
  ) throws(PostgreSQLError) -> OpaquePointer {
    let end = ContinuousClock.now + limit
    // Safe: the pointer is used only here, until it is returned or closed.
    guard let pointer = unsafe start(parameters) else {
      throw PostgreSQLError(.cannotConnect, while: .connecting, server: server)
    }
    do throws(PostgreSQLError) {
      unsafe PQsetErrorVerbosity(pointer, PQERRORS_SQLSTATE)
      unsafe PQsetNoticeReceiver(pointer, { _, _ in }, nil)
      // The manual says that the state is this one before the first call of PQconnectPoll.
      var state = PGRES_POLLING_WRITING
      if unsafe PQstatus(pointer) == CONNECTION_BAD { state = PGRES_POLLING_FAILED }
      while state != PGRES_POLLING_OK {
        guard !isStopped() else { throw PostgreSQLError(.closed, while: .connecting, server: server) }
        guard state != PGRES_POLLING_FAILED else { throw unsafe failure(of: pointer, server: server) }
        guard ContinuousClock.now < end else {
          throw PostgreSQLError(.cannotConnect, while: .connecting, server: server)
        }
        // The socket can be another one after each call.
        let events = wake.wait(
          for: unsafe PQsocket(pointer), reads: state == PGRES_POLLING_READING,
          writes: state == PGRES_POLLING_WRITING, until: end)
        if events.canRead || events.canWrite { state = unsafe PQconnectPoll(pointer) }
      }
      guard unsafe PQsetnonblocking(pointer, 1) == 0, unsafe PQenterPipelineMode(pointer) == 1 else {
        throw PostgreSQLError(.cannotConnect, while: .connecting, server: server)
      }
      return unsafe pointer
    } catch {
      unsafe PQfinish(pointer)
      throw error
    }
  }

  private static func start(_ parameters: [String: String]) -> OpaquePointer? {
    // Safe: the texts are freed after the call, which copies them. Both lists end with nil.
    let pairs = Array(parameters)
    let keywords = unsafe pairs.map { unsafe strdup($0.key) }
    let values = unsafe pairs.map { unsafe strdup($0.value) }
    defer { unsafe (keywords + values).forEach { unsafe free($0) } }
    let keywordList = unsafe keywords.map { unsafe UnsafePointer<CChar>($0) } + [nil]
    let valueList = unsafe values.map { unsafe UnsafePointer<CChar>($0) } + [nil]
    return unsafe PQconnectStartParams(keywordList, valueList, 0)
  }

  /// Returns why a server refused the connection. libpq has no call for the SQLSTATE here, but with this verbosity the
  /// message ends with it. The message itself names the user and the database.
  private static func failure(of pointer: OpaquePointer, server: String) -> PostgreSQLError {
    if unsafe PQconnectionNeedsPassword(pointer) == 1 {
      return PostgreSQLError(.accessDenied, while: .connecting, server: server)
    }
    let message = unsafe PQerrorMessage(pointer).map { unsafe String(cString: $0) } ?? ""
    guard let sqlState = sqlState(endOf: message) else {
      return PostgreSQLError(.cannotConnect, while: .connecting, server: server)
    }
    let code: PostgreSQLError.Code =
      // The server starts, stops or restores a backup.
      sqlState.hasPrefix("57P") ? .cannotConnect : PostgreSQLError.code(of: sqlState)
    return PostgreSQLError(code, while: .connecting, server: server, sqlState: sqlState)
  }

  /// Returns the SQLSTATE at the end of a message such as "… failed: FATAL:  28P01".
  static func sqlState(endOf message: String) -> String? {
    let text = message.utf8.reversed().drop { $0 == 10 || $0 == 13 || $0 == 32 }.reversed()
    let state = text.suffix(5)
    let isState = state.count == 5 && state.allSatisfy { 48...57 ~= $0 || 65...90 ~= $0 }
    let before = text.dropLast(5).suffix(2)
    guard isState, before.elementsEqual(": ".utf8) || before.elementsEqual("  ".utf8) else { return nil }
    return String(decoding: state, as: UTF8.self)
  }
}
