// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import NIOCore
import NIOHPACK
import NIOPosix
import NIOSSL
public import PushMessages
import Synchronization

/// The connections to one server: a few, each with many requests at a time.
///
/// Each push gets one result. The order is not guaranteed, so send a second push to a device only after the first has
/// its result. This type never sends a push again by itself, because the caller must count attempts.
///
/// swift-nio-http2 is used directly because the client of swift-server (async-http-client) opens one HTTP/2 connection
/// to a host, and hides which requests the server has certainly not processed.
public final class PushConnections: Sendable {
  public let server: PushServer
  private let authority: String
  private let connections: [JobQueue]
  private let turn = Atomic(0)

  /// Opens nothing yet: a connection is opened when there is something to send.
  ///
  /// - Parameters:
  ///   - count: The number of connections.
  ///   - timeout: The longest time that an answer may take, and the longest time that opening a connection may take.
  /// - Throws: ``PushTransportError`` with `trustRootsUnusable`.
  public init(server: PushServer, count: Int = 1, timeout: Duration = .seconds(20)) throws(PushTransportError) {
    self.server = server
    authority = server.authority
    let context = try server.tlsContext()
    let group = MultiThreadedEventLoopGroup.singleton
    let limit = TimeAmount(timeout)
    connections = (0..<max(1, count)).map { _ in
      let loop = group.next()
      return JobQueue(
        eventLoop: loop,
        connection: .makeBoxSendingValue(
          PushConnection(server: server, context: context, eventLoop: loop, timeout: limit), eventLoop: loop))
    }
  }

  /// The queue of requests to a connection. Requests that arrive while the event loop is busy are passed to it
  /// together.
  private final class JobQueue: Sendable {
    private let eventLoop: any EventLoop
    private let connection: NIOLoopBoundBox<PushConnection>
    private let arrived = Locked<[PushConnection.Job]>([])

    init(eventLoop: any EventLoop, connection: NIOLoopBoundBox<PushConnection>) {
      self.eventLoop = eventLoop
      self.connection = connection
    }

    func send(_ job: PushConnection.Job) {
      let isFirst = arrived.withLock { jobs in
        jobs.append(job)
        return jobs.count == 1
      }
      guard isFirst else { return }
      eventLoop.execute { [self] in
        let jobs = arrived.withLock { jobs in
          defer { jobs.removeAll() }
          return jobs
        }
        connection.value.send(jobs)
      }
    }

    func close() { eventLoop.execute { [self] in connection.value.close() } }
  }

  /// Sends a push and returns the answer, whatever its status is.
  ///
  /// - Parameters:
  ///   - providerToken: The provider token.
  ///   - maySend: Returns whether the push may still be sent. It is called on the event loop, just before the push is
  ///     written, and must return at once.
  /// - Throws: ``PushTransportError`` if there is no answer.
  public func send(
    _ request: PushRequest, providerToken: String, if maySend: @escaping @Sendable () -> Bool = { true }
  ) async throws(PushTransportError) -> PushResponse {
    let index = turn.wrappingAdd(1, ordering: .relaxed).oldValue.magnitude % UInt(connections.count)
    let connection = connections[Int(index)]
    let headers = headers(of: request, providerToken: providerToken)
    let body = ByteBuffer(bytes: request.body)
    let result: Result<PushResponse, PushTransportError> = await waitForAnswer { answer in
      connection.send(PushConnection.Job(headers: headers, body: body, maySend: maySend) { answer.give($0) })
    }
    return try result.get()
  }

  /// Closes the connections. Pushes without an answer fail.
  public func close() {
    for connection in connections { connection.close() }
  }

  /// Returns the header fields of a push. As Apple's page "Sending notification requests to APNs" recommends, the
  /// header compression remembers the provider token and the topic, which are long and often the same. It does not
  /// remember the path, which differs for every device.
  private func headers(of request: PushRequest, providerToken: String) -> HPACKHeaders {
    var headers = HPACKHeaders()
    headers.reserveCapacity(12)
    headers.add(name: ":method", value: "POST")
    headers.add(name: ":scheme", value: "https")
    headers.add(name: ":path", value: request.path, indexing: .nonIndexable)
    headers.add(name: ":authority", value: authority)
    headers.add(name: "authorization", value: "bearer \(providerToken)")
    for (name, value) in request.headers {
      let isSame = name != "apns-id" && name != "apns-expiration" && name != "apns-collapse-id"
      headers.add(name: name, value: value, indexing: isSame ? .indexable : .nonIndexable)
    }
    headers.add(name: "content-type", value: "application/json")
    headers.add(name: "content-length", value: "\(request.body.count)", indexing: .nonIndexable)
    return headers
  }
}
