// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOHPACK
import NIOHTTP2
import PushMessages

/// Sends one request on a stream of its own, and reads the answer. It gives exactly one result, whatever happens to the
/// stream.
final class PushStream: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias OutboundOut = HTTP2Frame.FramePayload

  /// The maximum size of an answer's body, in bytes. Those of APNs have less than 100.
  private static let largestBody = 4_096

  private let job: PushConnection.Job
  private let server: PushServer
  private let patience: TimeAmount
  private let place: PushConnection.Place
  /// The time at which the request was sent; nil before that.
  private var sentAt: NIODeadline?
  private var isFinished = false
  private var hasEnded = false
  private var status: Int?
  private var headers = HPACKHeaders()
  private var body = ByteBuffer()
  private var limit: Scheduled<Void>?

  /// - Parameters:
  ///   - patience: The time for which the answer may take.
  ///   - place: The connection. It learns once when the stream has ended, or could not begin.
  init(job: PushConnection.Job, server: PushServer, patience: TimeAmount, place: PushConnection.Place) {
    self.job = job
    self.server = server
    self.patience = patience
    self.place = place
  }

  func channelActive(context: ChannelHandlerContext) {
    let channel = context.channel
    let start = NIODeadline.now()
    sentAt = start
    limit = context.eventLoop.assumeIsolated().scheduleTask(deadline: start + patience) { [self] in
      finish(.failure(PushTransportError(.timedOut, server: server)))
      place.streamTimedOut(sentAt: start)
      channel.close(promise: nil)
    }
    context.write(wrapOutboundOut(.headers(.init(headers: job.headers))), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.data(.init(data: .byteBuffer(job.body), endStream: true))), promise: nil)
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .headers(let frame):
      // 1xx answers come before the final one (RFC 9110, section 15.2). Fields after the body are ignored.
      if status == nil || (100..<200).contains(status ?? 0) {
        status = frame.headers.first(name: ":status").flatMap { Int($0) }
        headers = frame.headers
      }
      if frame.endStream { answer(context) }
    case .data(let frame):
      if case .byteBuffer(var bytes) = frame.data { body.writeBuffer(&bytes) }
      if frame.endStream { return answer(context) }
      guard body.readableBytes > Self.largestBody else { return }
      // The status says enough, and the body might never end.
      body.clear()
      answer(context)
      context.close(promise: nil)
    default: break
    }
  }

  private func answer(_ context: ChannelHandlerContext) {
    guard let status, (200..<600).contains(status) else { return fail(.connectionLost) }
    let bytes = Data(body.readableBytesView)
    finish(.success(PushResponse(status: status, header: { headers.first(name: $0) }, body: bytes)))
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    let isRefused =
      switch error {
      // RFC 9113, section 8.7: a stream with REFUSED_STREAM was not processed, nor one after the last of GOAWAY.
      case let error as NIOHTTP2Errors.StreamClosed:
        error.errorCode == .refusedStream || place.isRefused(error.streamID)
      case let error as NIOHTTP2Errors.StreamError: error.baseError is NIOHTTP2Errors.CreatedStreamAfterGoaway
      default: false
      }
    fail(isRefused ? .notProcessed : .connectionLost)
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    fail(.connectionLost)
    context.fireChannelInactive()
  }

  /// Ends the request without an answer, unless it has one.
  func fail(_ code: PushTransportError.Code) {
    finish(.failure(PushTransportError(sentAt == nil ? .notProcessed : code, server: server)))
    if !hasEnded {
      hasEnded = true
      place.streamEnded()
    }
  }

  private func finish(_ result: Result<PushResponse, PushTransportError>) {
    guard !isFinished else { return }
    isFinished = true
    limit?.cancel()
    job.finish(result)
  }
}
