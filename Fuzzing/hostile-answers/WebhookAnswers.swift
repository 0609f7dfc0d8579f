// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import HostAddresses
import NIOCore
import NIOPosix
import WebhookDelivery
import WebhookMessages

/// Crier's client of webhooks, and a receiver that gives random answers to its messages, in HTTP/1.1 or nearly so.
enum WebhookAnswers {
  private static let workers = 64

  @Sendable static func run(_ run: AnswerRun) async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let channel = try await ServerBootstrap(group: group)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(WebhookPeerConnection(run))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    var settings = WebhookClient.Settings()
    settings.allowsPrivateAddresses = true
    // The client gives up an answer that never becomes complete after this time.
    settings.longest = .seconds(2)
    let client = WebhookClient(settings: settings, resolver: Loopback())
    let url = "http://receiver.example:\(channel.localAddress?.port ?? 0)/hooks"
    let message = WebhookMessage(
      id: "msg_0123456789abcdef0123456789abcdef", body: Data(WebhookPeerConnection.body.utf8))
    let secret = WebhookSecret.make()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<workers {
        group.addTask {
          while run.begin() {
            let answer = await client.send(message, to: url, secrets: [secret], at: Date())
            check(answer, run)
            run.ended(answer.outcome.rawValue)
          }
        }
      }
    }
    await client.close()
    try await channel.close()
    try await group.shutdownGracefully()
  }

  /// Checks the properties of an answer on which the sender of webhooks relies.
  private static func check(_ answer: WebhookClient.Answer, _ run: AnswerRun) {
    if let status = answer.status, !(200..<600).contains(status) {
      run.fail("The status \(status) counts as an answer.")
    }
    if let status = answer.status, answer.outcome != WebhookOutcome(status: status) {
      run.fail("The status \(status) counts as \(answer.outcome.rawValue).")
    }
    if answer.outcome == .delivered, answer.status == nil {
      run.fail("A message counts as delivered without an answer.")
    }
    if let pause = answer.requestedPause, pause < 0 || !pause.isFinite { run.fail("A pause is not a time.") }
  }

  private struct Loopback: HostResolving {
    func addresses(of host: String) async -> [IPAddress] { [IPAddress(bytes: [127, 0, 0, 1])] }
  }
}

/// One connection of the receiver. It answers each message as soon as its body has arrived.
private final class WebhookPeerConnection: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  static let body = #"{"type":"test.ping","data":{"end":"of the message"}}"#
  private static let end = Array(body.utf8)

  private let run: AnswerRun
  private let connection: AnswerConnection
  private var received: [UInt8] = []
  private var isClosed = false

  init(_ run: AnswerRun) {
    self.run = run
    connection = run.connect()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    received += unwrapInboundIn(data).readableBytesView
    guard received.suffix(Self.end.count).elementsEqual(Self.end), !isClosed else { return }
    received = []
    run.answered()
    let answer = HostileAnswer(&connection.random)
    // An answer may begin before the message has ended, and come in parts.
    let middle = answer.bytes.isEmpty ? 0 : connection.random.number(0..<answer.bytes.count)
    for part in connection.random.once(in: 4)
      ? [answer.bytes[..<middle], answer.bytes[middle...]] : [answer.bytes[...]]
    {
      connection.record(Array(part))
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: part)), promise: nil)
    }
    // Only few incomplete answers are left open until the client's time limit, because that takes seconds.
    if !answer.keepsConnection, !connection.random.once(in: 5_000) {
      isClosed = true
      context.close(promise: nil)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  func channelInactive(context: ChannelHandlerContext) {
    connection.end()
    context.fireChannelInactive()
  }
}

/// The bytes of an answer in HTTP/1.1, or of one that is nearly valid.
private struct HostileAnswer {
  var bytes: [UInt8] = []
  /// Whether the answer is whole and leaves the connection open.
  var keepsConnection = false

  init(_ random: inout AnswerRandom) {
    switch random.number(0..<12) {
    case 0: bytes = random.bytes(random.number(0..<300))
    case 1...4: bytes = random.mutated(Self.plain(&random).bytes)
    case 5: bytes = Self.plain(&random).bytes + Self.plain(&random).bytes
    case 6:
      for _ in 0..<random.number(1..<200) {
        bytes += Array("HTTP/1.1 10\(random.number(0..<10)) x\r\na: b\r\n\r\n".utf8)
      }
      bytes += Self.plain(&random).bytes
    default: (bytes, keepsConnection) = Self.plain(&random)
    }
  }

  /// Returns an answer with unusual parts, and whether it leaves the connection open.
  private static func plain(_ random: inout AnswerRandom) -> (bytes: [UInt8], keepsConnection: Bool) {
    let odd = random.once(in: 3)
    let version = odd ? random.pick(["1.1", "1.0", "0.9", "2.0", "1.9", "11.1", "1"]) : "1.1"
    let usual = ["200", "204", "201", "302", "304", "404", "410", "429", "500", "503"]
    let strange = [
      "000", "001", "042", "099", "100", "101", "102", "199", "600", "999", "1000", "99", "1e2", "-1", "", "2OO",
    ]
    let status = random.pick(random.once(in: 2) ? strange : usual)
    var bytes = Array("HTTP/\(version) \(status) \(random.pick(["OK", "", "x", "\u{0}", "\r", "ü"]))\r\n".utf8)
    let body = random.bytes(random.pick([0, 0, 1, 3, 100, 4_095, 4_096, 4_097, 9_000]))
    var fields: [String] = []
    let isChunked = random.once(in: 4)
    if isChunked {
      fields.append("transfer-encoding: \(random.pick(["chunked", "Chunked", "gzip, chunked", "identity"]))")
    }
    if !isChunked || random.once(in: 5) {
      fields.append("content-length: \(random.once(in: 6) ? random.numberText() : "\(body.count)")")
    }
    if random.once(in: 3) { fields.append("retry-after: \(random.numberText())") }
    if random.once(in: 4) {
      fields.append("connection: \(random.pick(["close", "keep-alive", "upgrade", "close, close"]))")
    }
    if random.once(in: 10) { fields.append("upgrade: websocket") }
    if random.once(in: 20) { fields.append("x: " + String(repeating: "y", count: random.number(1..<100_000))) }
    if random.once(in: 20) { fields += (0..<random.number(1..<500)).map { "x-\($0): \($0)" } }
    if random.once(in: 10) { fields.append(" folded") }
    random.shuffle(&fields)
    for field in fields { bytes += Array("\(field)\r\n".utf8) }
    bytes += Array("\r\n".utf8)
    if isChunked {
      bytes += Array("\(random.once(in: 8) ? random.numberText() : String(body.count, radix: 16))\r\n".utf8) + body
      if !body.isEmpty { bytes += Array("\r\n0\r\n".utf8) }
      if random.once(in: 4) { bytes += Array("trailer: \(random.numberText())\r\n".utf8) }
      bytes += Array("\r\n".utf8)
    } else {
      bytes += body
    }
    return (
      bytes, !odd && !isChunked && usual.contains(status) && status != "204" && status != "304" && body.count <= 4_096
    )
  }
}
