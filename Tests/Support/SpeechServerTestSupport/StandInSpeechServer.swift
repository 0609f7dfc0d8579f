// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import TestSupport

/// A speech server for tests, for both protocols. It does with each request what its test says, however wrong that is.
/// It shares no code with the client, so that a fault of the client cannot hide itself.
public final class StandInSpeechServer: Sendable {
  /// A request as the server received it.
  public struct Request: Sendable {
    /// The first line: a Wyoming event, or the request line of HTTP.
    public var firstLine: String
    /// The header fields of HTTP, with names in lower case.
    public var headers: [String: String] = [:]
    /// The body of HTTP; the first line for Wyoming.
    public var body: [UInt8]

    /// Whether the request asks for the server's programs and voices, or its models.
    public var asksForDescription: Bool { firstLine.contains(#""describe""#) || firstLine.hasPrefix("GET ") }

    /// The text that should be spoken; empty if the request has none.
    public var text: String {
      struct Line: Decodable {
        struct Content: Decodable { var text: String? }
        var data: Content?
        var input: String?
      }
      let line = try? JSONDecoder().decode(Line.self, from: Data(body))
      return line?.input ?? line?.data?.text ?? ""
    }
  }

  public enum Place: Sendable {
    /// A free port of 127.0.0.1.
    case loopback
    case socket(path: String)
  }

  /// The port; nil for a Unix socket.
  public let port: Int?
  private let channel: any Channel
  private let seen: Locked<[Request]>
  private let connections: Locked<Int>

  /// - Parameters:
  ///   - tls: The certificate and the key, as files in PEM; nil for a server without TLS.
  ///   - answering: Returns the answer to a request.
  public init(
    at place: Place = .loopback, tls: (certificate: String, key: String)? = nil,
    answering: @escaping @Sendable (Request) -> StandInAnswer
  ) async throws {
    let (seen, connections) = (Locked<[Request]>([]), Locked(0))
    (self.seen, self.connections) = (seen, connections)
    let context = try tls.map { tls in
      try NIOSSLContext(
        configuration: .makeServerConfiguration(
          certificateChain: try NIOSSLCertificate.fromPEMFile(tls.certificate).map { .certificate($0) },
          privateKey: .privateKey(try NIOSSLPrivateKey(file: tls.key, format: .pem))))
    }
    let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        connections.withLock { $0 += 1 }
        return channel.eventLoop.makeCompletedFuture {
          if let context {
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
          }
          let handler = Conversation { request in
            seen.withLock { $0.append(request) }
            return answering(request)
          }
          try channel.pipeline.syncOperations.addHandler(handler)
        }
      }
    switch place {
    case .loopback: channel = try await bootstrap.bind(host: "127.0.0.1", port: 0).get()
    case .socket(let path): channel = try await bootstrap.bind(unixDomainSocketPath: path).get()
    }
    port = channel.localAddress?.port
  }

  deinit { channel.close(promise: nil) }

  public var requests: [Request] { seen.withLock { $0 } }

  /// The number of connections that were accepted, including connections that never sent a request.
  public var connectionCount: Int { connections.withLock { $0 } }

  /// Waits until a number of requests have arrived, and returns them.
  public func received(_ count: Int) async throws -> [Request] {
    try await eventually("\(count) requests arrive") { requests.count >= count }
    return requests
  }

  /// Stops listening. Open connections remain.
  public func stop() async throws { try await channel.close().get() }
}

/// One connection: reads a request, and then takes the steps of the answer.
private final class Conversation: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let answering: (StandInSpeechServer.Request) -> StandInAnswer
  private var received: [UInt8] = []

  init(answering: @escaping (StandInSpeechServer.Request) -> StandInAnswer) { self.answering = answering }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    received += Array(unwrapInboundIn(data).readableBytesView)
    // A client speaks TLS to a server without TLS. Most servers of HTTP answer like this.
    if received.first == 0x16 {
      context.writeAndFlush(
        wrapOutboundOut(ByteBuffer(string: "HTTP/1.1 400 Bad Request\r\n\r\n")), promise: nil)
      return context.close(promise: nil)
    }
    while let request = takeRequest() {
      for step in answering(request).steps {
        switch step {
        case .send(let bytes): context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
        case .sendForEver(let bytes):
          let count = max(1, 65_536 / max(1, bytes.count))
          sendMore(context, ByteBuffer(bytes: repeatElement(bytes, count: count).joined()))
        case .stall: break
        case .close:
          // Closing would drop what is not written yet.
          context.writeAndFlush(wrapOutboundOut(ByteBuffer())).assumeIsolated().whenComplete { _ in
            context.close(promise: nil)
          }
        }
      }
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  /// Sends the endless bytes once more. The next bytes follow in a later turn of the event loop, when these bytes have
  /// been sent.
  private func sendMore(_ context: ChannelHandlerContext, _ bytes: ByteBuffer) {
    context.writeAndFlush(wrapOutboundOut(bytes)).assumeIsolated().whenSuccess { _ in
      context.eventLoop.assumeIsolated().execute { self.sendMore(context, bytes) }
    }
  }

  private func takeRequest() -> StandInSpeechServer.Request? {
    if received.first == UInt8(ascii: "{") {
      guard let end = received.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
      let line = Array(received[..<end])
      received.removeFirst(end + 1)
      return StandInSpeechServer.Request(firstLine: String(decoding: line, as: UTF8.self), body: line)
    }
    guard let end = received.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
    var lines = String(decoding: received[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
    let first = lines.removeFirst()
    var headers: [String: String] = [:]
    for line in lines {
      let parts = line.split(separator: ":", maxSplits: 1)
      guard parts.count == 2 else { continue }
      headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
    }
    let length = Int(headers["content-length"] ?? "") ?? 0
    guard received.count >= end.upperBound + length else { return nil }
    let body = Array(received[end.upperBound..<end.upperBound + length])
    received.removeFirst(end.upperBound + length)
    return StandInSpeechServer.Request(firstLine: first, headers: headers, body: body)
  }
}
