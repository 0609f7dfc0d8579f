// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import HTTPTypes
import HummingbirdCore
import NIOCore
import ServiceAccess

/// The bodies of signed requests. They are read before their sender is known, within a separate memory budget.
final class UnprovenBodies: Sendable {
  private struct State {
    var budget: BodyBudget
    /// The connections of the bodies that are being read.
    var connections: [BodyBudget.Ticket: Connection] = [:]
  }

  private let state: Locked<State>
  private let time: @Sendable () -> Duration

  init(_ limits: BodyBudget.Limits = BodyBudget.Limits(), time: @escaping @Sendable () -> Duration) {
    state = Locked(State(budget: BodyBudget(limits)))
    self.time = time
  }

  /// The number of bodies that are being read.
  var count: Int { state.withLock { $0.budget.count } }
  /// The memory that the bodies take, in bytes.
  var bytes: Int { state.withLock { $0.budget.bytes } }

  /// Reads a body.
  ///
  /// - Parameters:
  ///   - keyID: The id of the key that the sender names.
  ///   - limit: The maximum size of the body in bytes.
  /// - Throws: ``Problem`` with 429 if the budget is used up, 413 if the body is larger than the limit, or 400 if the
  ///   body is incomplete.
  func read(_ call: Call, keyID: String, upTo limit: Int) async throws -> Data {
    guard let ticket = begin(keyID) else { throw Self.overBudget }
    defer { end(ticket) }
    try await call.beginBody(upTo: limit)
    var body = Data()
    do {
      for try await piece in call.request.body {
        guard body.count + piece.readableBytes <= limit else { throw Call.tooLarge(limit) }
        guard grow(ticket, by: piece.readableBytes) else { throw Self.overBudget }
        body += piece.readableBytesView
      }
    } catch let problem as Problem {
      throw problem
    } catch {
      throw Call.incomplete
    }
    return body
  }

  private static let overBudget = Problem(
    .tooManyRequests, "busy", "Too many signed requests are being sent. Try again in a moment.", retryAfter: 2)

  private func begin(_ keyID: String) -> BodyBudget.Ticket? {
    let now = time()
    let connection = Connection.current
    let (ticket, closed) = state.withLock { state in
      let (ticket, dropped) = state.budget.begin(keyID, at: now)
      let closed = dropped.compactMap { state.connections.removeValue(forKey: $0) }
      if let ticket { state.connections[ticket] = connection }
      return (ticket, closed)
    }
    for connection in closed { connection.close() }
    return ticket
  }

  private func grow(_ ticket: BodyBudget.Ticket, by count: Int) -> Bool {
    let now = time()
    let (isHeld, closed) = state.withLock { state in
      let (isHeld, dropped) = state.budget.grow(ticket, by: count, at: now)
      return (isHeld, dropped.compactMap { state.connections.removeValue(forKey: $0) })
    }
    for connection in closed { connection.close() }
    return isHeld
  }

  private func end(_ ticket: BodyBudget.Ticket) {
    state.withLock { state in
      state.budget.end(ticket)
      state.connections[ticket] = nil
    }
  }
}
