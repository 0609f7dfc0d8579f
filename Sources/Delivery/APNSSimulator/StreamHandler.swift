// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP2

/// A stream: one request and its answer.
final class StreamHandler: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias OutboundOut = HTTP2Frame.FramePayload

  /// The number of bytes of a payload that are kept. A payload that is longer is refused anyway.
  private static let mostKept = 16_384

  private let connection: ConnectionHandler
  private let stream: Int
  private var headers: PushHeaders?
  private var payload: [UInt8] = []
  private var count = 0
  private var isComplete = false
  private var isOpen = true

  private var service: SimulatedService { connection.service }

  init(connection: ConnectionHandler, stream: Int) { (self.connection, self.stream) = (connection, stream) }

  func handlerAdded(context: ChannelHandlerContext) { connection.streamOpened() }

  func channelInactive(context: ChannelHandlerContext) {
    isOpen = false
    connection.streamClosed()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  // MARK: The request

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .headers(let frame):
      // A second block of fields contains trailers, which the push service does not read.
      if headers == nil { headers = PushHeaders(frame.headers) }
      if frame.endStream { complete(context) }
    case .data(let frame):
      if case .byteBuffer(let buffer) = frame.data {
        count += buffer.readableBytes
        if payload.isEmpty {
          payload = Array(buffer.readableBytesView.prefix(Self.mostKept))
        } else {
          payload += buffer.readableBytesView.prefix(max(0, Self.mostKept - payload.count))
        }
      }
      if frame.endStream { complete(context) }
    default: break
    }
  }

  private func complete(_ context: ChannelHandlerContext) {
    guard !isComplete, let headers else { return }
    isComplete = true
    let request = WholeRequest(headers: headers, payload: payload, count: count)
    payload = []
    let fault = service.fault(of: request, connection: connection.number, stream: stream)
    guard let fault, fault.moment == .beforeProcessing else {
      return process(request, fault: fault?.action, context)
    }
    switch fault.action {
    case .answer(let status, let reason, let retryAfter):
      guard connection.process(stream) else { return }
      write(service.answer(status: status, reason: reason, retryAfter: retryAfter, to: request), context)
    case .delay(let milliseconds):
      after(milliseconds, context) { [self] in process(request, fault: nil, context) }
    case .goAway:
      connection.goAway()
      // GOAWAY cannot refuse a stream with a lower number than the last processed stream.
      process(request, fault: nil, context)
    case .reset, .closeConnection, .never:
      fail(fault.action, context)
    }
  }

  /// Processes the request, and answers it or lets the fault happen.
  private func process(_ request: WholeRequest, fault: Fault.Action?, _ context: ChannelHandlerContext) {
    guard connection.process(stream) else { return }
    let answer = service.process(request) { connection.tokenIsValid() }
    if let held = answer.held {
      let store = service.store
      context.eventLoop.scheduleTask(in: .milliseconds(Int64(service.configuration.reorderPatience))) {
        store.release(held.number, to: held.device)
      }
    }
    switch fault {
    case nil: write(answer, context)
    case .answer(let status, let reason, let retryAfter):
      write(service.answer(status: status, reason: reason, retryAfter: retryAfter, to: request), context)
    case .delay(let milliseconds): after(milliseconds, context) { [self] in write(answer, context) }
    case .goAway:
      connection.goAway(including: stream)
      write(answer, context)
    case .reset, .closeConnection, .never:
      if let fault { fail(fault, context) }
    }
  }

  /// Lets a fault happen that leaves the request without an answer.
  private func fail(_ fault: Fault.Action, _ context: ChannelHandlerContext) {
    switch fault {
    case .reset(let code):
      context.writeAndFlush(wrapOutboundOut(.rstStream(HTTP2ErrorCode(networkCode: code))), promise: nil)
    case .closeConnection: connection.close()
    case .never, .answer, .delay, .goAway: break
    }
  }

  // MARK: The answer

  private func write(_ answer: Answer, _ context: ChannelHandlerContext) {
    let delay = service.configuration.answerDelay
    guard delay == 0 else { return after(delay, context) { [self] in writeNow(answer, context) } }
    writeNow(answer, context)
  }

  private func writeNow(_ answer: Answer, _ context: ChannelHandlerContext) {
    let body = answer.body
    context.write(
      wrapOutboundOut(.headers(.init(headers: answer.headers, endStream: body == nil))), promise: nil)
    if let body {
      context.write(
        wrapOutboundOut(
          .data(.init(data: .byteBuffer(context.channel.allocator.buffer(string: body)), endStream: true))),
        promise: nil)
    }
    context.flush()
  }

  /// Runs the work after a time, unless the stream has ended.
  private func after(_ milliseconds: Int, _ context: ChannelHandlerContext, _ work: @escaping () -> Void) {
    context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(Int64(milliseconds))) { [self] in
      if isOpen { work() }
    }
  }
}
