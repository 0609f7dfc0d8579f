// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import ConcurrencySupport
import Foundation
import HostAddresses
import NIOCore
import NIOPosix
import NIOSSL

/// The connections to checked addresses.
///
/// A client of async-http-client connects to the address that its configuration names for a host, so each pair of a
/// host and an address has its own client. If there are too many clients, the least recently used ones are closed.
final class CheckedConnections: Sendable {
  struct Place: Hashable, Sendable {
    var host: String
    var address: IPAddress
  }

  private struct Entry {
    var client: HTTPClient
    var users = 0
    /// The value of `uses` after the latest use of this client. The least recently used client has the lowest value.
    var lastUse = 0
  }

  private struct State {
    var entries: [Place: Entry] = [:]
    var uses = 0
  }

  /// The number of clients that are kept while nobody uses them.
  private static let most = 32

  private let settings: WebhookClient.Settings
  private let state = Locked(State())

  init(settings: WebhookClient.Settings) { self.settings = settings }

  deinit {
    let clients = state.withLock { $0.entries.values.map(\.client) }
    // A client must be closed before it is released.
    Task { for client in clients { try? await client.shutdown() } }
  }

  func withClient<Value: Sendable>(
    for place: Place, _ work: (HTTPClient) async -> Value
  ) async -> Value {
    let client = take(place)
    let value = await work(client)
    for client in giveBack(place) { try? await client.shutdown() }
    return value
  }

  private func take(_ place: Place) -> HTTPClient {
    state.withLock { state in
      state.uses += 1
      var entry = state.entries[place] ?? Entry(client: makeClient(for: place))
      entry.users += 1
      entry.lastUse = state.uses
      state.entries[place] = entry
      return entry.client
    }
  }

  /// - Returns: The clients to close.
  private func giveBack(_ place: Place) -> [HTTPClient] {
    state.withLock { state in
      state.entries[place]?.users -= 1
      let idle = state.entries.filter { $0.value.users == 0 }
      guard idle.count > Self.most else { return [] }
      return idle.sorted { $0.value.lastUse < $1.value.lastUse }.prefix(idle.count - Self.most).compactMap { place, _ in
        state.entries.removeValue(forKey: place)?.client
      }
    }
  }

  /// Closes all clients.
  func close() async {
    let clients = state.withLock { state in
      defer { state.entries = [:] }
      return state.entries.values.map(\.client)
    }
    for client in clients { try? await client.shutdown() }
  }

  private func makeClient(for place: Place) -> HTTPClient {
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.minimumTLSVersion = .tlsv12
    if let roots = settings.trustRoots { tls.trustRoots = .file(roots.path(percentEncoded: false)) }
    let limit = TimeAmount(settings.longest)
    var configuration = HTTPClient.Configuration(
      tlsConfiguration: tls, redirectConfiguration: .disallow,
      // An address of the host may never answer. The limit leaves time for the host's other addresses.
      timeout: HTTPClient.Configuration.Timeout(
        connect: .nanoseconds(limit.nanoseconds / 3), read: limit, write: limit), proxy: nil)
    configuration.httpVersion = .http1Only
    configuration.dnsOverride = [place.host: "\(place.address)"]
    configuration.connectionPool.idleTimeout = .seconds(30)
    // Many endpoints may share a host. If a message had to wait for a connection, this would count as the receiver's
    // failure, so each message in progress may have its own connection.
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 256
    // The sender itself decides when a message is sent again.
    configuration.connectionPool.retryConnectionEstablishment = false
    // This hook was made for debugging, as its name says, but it is the only way to add a handler to each connection.
    configuration.http1_1ConnectionDebugInitializer = AnswerOrder.add(to:)
    return HTTPClient(
      eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton), configuration: configuration)
  }
}
