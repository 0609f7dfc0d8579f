// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
public import Foundation
import NIOCore
import NIOHTTP2
import NIOPosix
import NIOSSL
import NIOTLS

/// A stand-in for Apple's push service: HTTP/2 with TLS on 127.0.0.1, with the checks and the answers that Apple
/// documents.
///
/// It shares no code with Crier's own client, so that it does not repeat the client's faults. `docs/push-simulator.md`
/// says how close it is to Apple's service.
public final class APNSSimulator: Sendable {
  /// The port that the simulator listens on.
  public let port: Int
  /// The certificate of the authority that signed the server's certificate, as PEM. The server's certificate is for
  /// `localhost` and `127.0.0.1`.
  public let certificateAuthority: String
  /// Whether the authority was made at this start. Otherwise an earlier start made it
  /// (``Configuration/certificateAuthorityFile``).
  public let hasNewAuthority: Bool

  private let service: SimulatedService
  private let channel: any Channel
  private let group: MultiThreadedEventLoopGroup
  private let connections: Connections

  /// The open connections.
  private final class Connections: Sendable {
    private let open = Locked<[Int: any Channel]>([:])

    func add(_ channel: any Channel, number: Int) {
      open.withLock { $0[number] = channel }
      channel.closeFuture.whenComplete { [self] _ in open.withLock { $0[number] = nil } }
    }

    var all: [any Channel] { open.withLock { Array($0.values) } }
  }

  private init(
    port: Int, authority: String, hasNewAuthority: Bool, service: SimulatedService, channel: any Channel,
    group: MultiThreadedEventLoopGroup, connections: Connections
  ) {
    (self.port, certificateAuthority, self.service) = (port, authority, service)
    self.hasNewAuthority = hasNewAuthority
    (self.channel, self.group, self.connections) = (channel, group, connections)
  }

  // MARK: Start and stop

  /// Starts a simulator, and returns when it listens.
  ///
  /// - Throws: ``APNSSimulatorError``.
  public static func start(_ configuration: Configuration = Configuration()) async throws -> APNSSimulator {
    let (certificates, tls, hasNewAuthority) = try makeCertificates(configuration)
    let service = SimulatedService(configuration)
    let connections = Connections()
    let group = MultiThreadedEventLoopGroup(numberOfThreads: max(1, configuration.threads))
    let bootstrap = ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 256)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        let number = service.store.count { counts in
          counts.connections += 1
          return counts.connections
        }
        connections.add(channel, number: number)
        return channel.eventLoop.makeCompletedFuture {
          try prepare(channel, number: number, service: service, tls: tls)
        }
      }
    let bound: Result<any Channel, any Error> = await waitForAnswer { answer in
      bootstrap.bind(host: "127.0.0.1", port: configuration.port).whenComplete { answer.give($0) }
    }
    do {
      let channel = try bound.get()
      return APNSSimulator(
        port: channel.localAddress?.port ?? configuration.port, authority: certificates.authority,
        hasNewAuthority: hasNewAuthority, service: service, channel: channel, group: group, connections: connections)
    } catch {
      await Self.stop(group)
      throw APNSSimulatorError(
        code: .cannotListen,
        description: "port: the simulator cannot listen on 127.0.0.1:\(configuration.port) (\(error)); choose another "
          + "port, or 0 for a free one.")
    }
  }

  private static func makeCertificates(
    _ configuration: Configuration
  ) throws(APNSSimulatorError) -> (Certificates, NIOSSLContext, hasNewAuthority: Bool) {
    let kept = try configuration.certificateAuthorityFile.map { file throws(APNSSimulatorError) in
      try AuthorityFiles(certificate: file).authority()
    }
    do {
      let certificates = try Certificates(signedBy: kept?.authority ?? CertificateAuthority())
      return (certificates, try certificates.tlsContext(), kept?.isNew ?? true)
    } catch {
      throw .certificatesFailed(error)
    }
  }

  /// Prepares a connection: TLS, then HTTP/2 if both sides agree on it. A connection without HTTP/2 is closed, as
  /// Apple's servers do.
  private static func prepare(
    _ channel: any Channel, number: Int, service: SimulatedService, tls: NIOSSLContext
  ) throws {
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(NIOSSLServerHandler(context: tls))
    try pipeline.addHandler(
      ApplicationProtocolNegotiationHandler { result, channel in
        guard case .negotiated("h2") = result else { return channel.close() }
        return channel.eventLoop.makeCompletedFuture { try speakHTTP2(channel, number: number, service: service) }
      })
  }

  private static func speakHTTP2(_ channel: any Channel, number: Int, service: SimulatedService) throws {
    let settings = service.configuration
    var connection = NIOHTTP2Handler.ConnectionConfiguration()
    connection.initialSettings = [
      HTTP2Setting(
        parameter: .maxConcurrentStreams, value: settings.hasStrictStreams ? 1 : settings.maxConcurrentStreams),
      HTTP2Setting(parameter: .maxHeaderListSize, value: 8_000),
    ]
    connection.targetWindowSize = 1 << 24
    // A client under test may reset streams and ping as often as it likes, and faults must not close connections.
    connection.maximumConnectionGlitches = .max
    connection.controlFrameRateLimit.windowLength = .zero
    var stream = NIOHTTP2Handler.StreamConfiguration()
    stream.streamErrorRateLimit.windowLength = .zero
    stream.streamResetFrameRateLimit.windowLength = .zero
    let handler = ConnectionHandler(service: service, number: number)
    let bound = NIOLoopBound(handler, eventLoop: channel.eventLoop)
    let pipeline = channel.pipeline.syncOperations
    _ = try pipeline.configureHTTP2Pipeline(
      mode: .server, connectionConfiguration: connection, streamConfiguration: stream
    ) { stream in
      stream.eventLoop.makeCompletedFuture {
        guard let options = stream.syncOptions else { throw ChannelError.operationUnsupported }
        let id = try options.getOption(HTTP2StreamChannelOptions.streamID)
        try stream.pipeline.syncOperations.addHandler(StreamHandler(connection: bound.value, stream: Int(id)))
      }
    }
    try pipeline.addHandler(handler)
  }

  /// Closes all connections and stops. Streams of pushes end.
  public func stop() async {
    let _: Bool = await waitForAnswer { answer in
      channel.close().whenComplete { _ in answer.give(true) }
    }
    closeConnections()
    service.store.finish()
    await Self.stop(group)
  }

  private static func stop(_ group: MultiThreadedEventLoopGroup) async {
    let _: Bool = await waitForAnswer { answer in
      group.shutdownGracefully { _ in answer.give(true) }
    }
  }

  /// Closes all connections. New ones are accepted.
  public func closeConnections() {
    for connection in connections.all { connection.close(promise: nil) }
  }

  /// Sends GOAWAY on all connections. Requests that arrived before are answered. New connections are accepted.
  public func goAway() {
    for connection in connections.all {
      connection.eventLoop.execute {
        // A connection has no such handler before TLS is established.
        guard let handler = try? connection.pipeline.syncOperations.handler(type: ConnectionHandler.self) else {
          return connection.close(promise: nil)
        }
        handler.goAway()
      }
    }
  }

  // MARK: Devices

  /// Returns the device with this token, if it exists.
  public func device(_ token: String) -> Device? { service.store.device(token.lowercased()) }

  /// Adds a device, or changes one that exists. A device that comes back gets the pushes that wait for it.
  public func set(_ device: Device) { service.store.set(device) }

  /// Connects or disconnects a device. The device is added if it does not exist. Pushes on the way to a disconnected
  /// device wait for it.
  public func setOnline(_ token: String, _ isOnline: Bool) {
    var device = device(token) ?? Device(token)
    device.isOnline = isOnline
    set(device)
  }

  /// Delivers the pushes that are held back to change places with the next push.
  public func releaseHeldPushes() { service.store.releaseAll() }

  // MARK: Records

  /// Returns the pushes that a device got, in the order of delivery.
  public func deliveries(to token: String) -> [Push] { service.store.deliveries(to: token.lowercased()) }

  /// Returns a stream of all pushes from now on, in the order of delivery.
  public func deliveries() -> AsyncStream<Push> { service.store.listenToDeliveries() }

  /// Returns a stream of all accepted pushes from now on, in the order of acceptance.
  public func acceptances() -> AsyncStream<Push> { service.store.listenToAcceptances() }

  /// Returns a stream of all refused pushes, and of all pushes that a fault affected, from now on.
  public func refusals() -> AsyncStream<RefusedPush> { service.store.listenToRefusals() }

  /// The accepted pushes by their ids, as many as ``Configuration/recordSize`` allows.
  public var record: [UUID: RecordedPush] { service.store.record }

  /// Returns the record of a push; nil if the push was never accepted, or is forgotten.
  public func entry(_ id: UUID) -> RecordedPush? { service.store.entry(id) }

  public var counts: Counts { service.store.counts }
}
