// SPDX-License-Identifier: Apache-2.0

import APNSSimulator
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS

/// A server that implements only the necessary parts of HTTP/2 with TLS, and answers each request at random.
struct PushPeer {
  let port: Int
  /// The certificate of the authority that signed the server's certificate, as PEM.
  let authority: String
  private let channel: any Channel
  private let group: MultiThreadedEventLoopGroup

  static func start(_ run: AnswerRun) async throws -> PushPeer {
    let certificates = try Certificates(signedBy: CertificateAuthority())
    let context = try certificates.tlsContext()
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let channel = try await ServerBootstrap(group: group)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers(
            NIOSSLServerHandler(context: context), PushPeerConnection(run))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    return PushPeer(
      port: channel.localAddress?.port ?? 0, authority: certificates.authority, channel: channel, group: group)
  }

  func stop() async throws {
    try await channel.close()
    try await group.shutdownGracefully()
  }
}

/// One connection of the peer. It reads the client's frames only as far as necessary to recognise the requests.
private final class PushPeerConnection: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private static let preface = 24
  private static let largestFrame = 1 << 14

  private let run: AnswerRun
  private let connection: AnswerConnection
  private var received = ByteBuffer()
  private var hasPreface = false
  /// The streams of the requests that have arrived completely and have no answer yet.
  private var requests: [Int] = []
  /// The number of answers that are still given on a connection on which the peer has broken the rules of HTTP/2; nil
  /// before that.
  private var answersLeft: Int?
  private var isClosed = false

  init(_ run: AnswerRun) {
    self.run = run
    connection = run.connect()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .handshakeCompleted? = event as? TLSUserEvent {
      send(PushFrames.beginning(&connection.random), context)
    }
    context.fireUserInboundEventTriggered(event)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var part = unwrapInboundIn(data)
    received.writeBuffer(&part)
    if !hasPreface {
      guard received.readSlice(length: Self.preface) != nil else { return }
      hasPreface = true
    }
    while let frame = nextFrame() { take(frame, context) }
    received.discardReadBytes()
  }

  private func nextFrame() -> (type: UInt8, flags: UInt8, stream: Int, payload: [UInt8])? {
    guard let head = received.getBytes(at: received.readerIndex, length: 9) else { return nil }
    let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
    guard received.readableBytes >= 9 + length else { return nil }
    received.moveReaderIndex(forwardBy: 9)
    let payload = received.readBytes(length: length) ?? []
    let stream = head[5...].reduce(0) { $0 << 8 | Int($1) } & 0x7FFF_FFFF
    return (head[3], head[4], stream, payload)
  }

  private func take(
    _ frame: (type: UInt8, flags: UInt8, stream: Int, payload: [UInt8]), _ context: ChannelHandlerContext
  ) {
    let isAnswer = frame.flags & 1 == 1
    switch frame.type {
    case PushFrames.data, PushFrames.headers: if isAnswer { requests.append(frame.stream) }
    case PushFrames.settings:
      if !isAnswer { send(PushFrames.frame(PushFrames.settings, flags: 1, stream: 0, []), context) }
    case PushFrames.ping:
      if !isAnswer, !connection.random.once(in: 100) {
        send(PushFrames.frame(PushFrames.ping, flags: 1, stream: 0, frame.payload), context)
      }
    default: break
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    var streams = requests
    requests = []
    if connection.random.once(in: 2) { connection.random.shuffle(&streams) }
    var bytes: [UInt8] = []
    for stream in streams {
      guard answersLeft != 0 else { break }
      let answer = PushFrames.answer(on: stream, &connection.random)
      bytes += answer.bytes
      // After the peer has broken the rules, the client may never read an answer, so it does not count.
      if answersLeft == nil { run.answered() }
      answersLeft = answersLeft.map { $0 - 1 } ?? (answer.breaksRules ? connection.random.number(0..<4) : nil)
    }
    if !bytes.isEmpty { send(bytes, context) }
    if answersLeft == 0 { close(context) }
    if answersLeft != nil { closeSoon(context) }
    context.fireChannelReadComplete()
  }

  /// Closes the connection in a moment, because the client may wait for the rest of a frame.
  private func closeSoon(_ context: ChannelHandlerContext) {
    context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(5)) { [self] in close(context) }
  }

  private func close(_ context: ChannelHandlerContext) {
    guard !isClosed else { return }
    isClosed = true
    guard connection.random.once(in: 4),
      let tls = try? context.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)
    else { return context.close(promise: nil) }
    // The connection ends without the closing message of TLS.
    tls.close(promise: nil)
  }

  private func send(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
    connection.record(bytes)
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  func channelInactive(context: ChannelHandlerContext) {
    connection.end()
    context.fireChannelInactive()
  }
}
