// SPDX-License-Identifier: Apache-2.0

public import PushMessages

/// Sends pushes with the provider tokens of one key to one server.
public struct PushClient: Sendable {
  private let connections: PushConnections
  private let tokens: ProviderTokens

  public init(connections: PushConnections, tokens: ProviderTokens) {
    self.connections = connections
    self.tokens = tokens
  }

  /// The host and the port of the server.
  public var server: String { connections.server.name }

  /// The result of an attempt to send a push.
  public struct Attempt: Sendable, Hashable {
    /// The last answer, whatever its status is.
    public var response: PushResponse
    /// The action of the sender on the push and its device. The value is never `refreshToken`.
    public var consequence: PushConsequence
  }

  /// Sends a push once, or twice if APNs refuses the provider token as expired and allows a newer one.
  ///
  /// - Parameter maySend: Returns whether the push may still be sent. It is called just before the push is written to a
  ///   connection, and must return at once.
  /// - Throws: ``PushTransportError`` if there is no answer, if the provider token cannot be signed, and with `closed` if
  ///   the push may not be sent any more.
  public func send(
    _ request: PushRequest, if maySend: @escaping @Sendable () -> Bool = { true }
  ) async throws(PushTransportError) -> Attempt {
    let token = try await sign { try await tokens.token() }
    let response = try await connections.send(request, providerToken: token.text, if: maySend)
    let consequence = PushConsequence(response)
    guard consequence == .refreshToken else { return Attempt(response: response, consequence: consequence) }
    guard let newer = try await sign({ try await tokens.token(afterRefusalOf: token) }) else {
      return Attempt(response: response, consequence: PushConsequence(response, afterRefresh: true))
    }
    let second = try await connections.send(request, providerToken: newer.text, if: maySend)
    return Attempt(response: second, consequence: PushConsequence(second, afterRefresh: true))
  }

  private func sign<Token: Sendable>(_ work: () async throws -> Token) async throws(PushTransportError) -> Token {
    do { return try await work() } catch { throw PushTransportError(.cannotSign, server: connections.server) }
  }
}
