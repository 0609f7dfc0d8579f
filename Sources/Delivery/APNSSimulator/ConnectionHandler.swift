// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP2

/// The last handler in a connection's pipeline. It decides which streams are processed, sends GOAWAY, and counts the
/// open streams.
final class ConnectionHandler: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame
  typealias OutboundOut = HTTP2Frame

  let service: SimulatedService
  /// The number of the connection, from 1.
  let number: Int
  private var context: ChannelHandlerContext?
  private var openStreams = 0
  /// The highest number of a stream that was processed.
  private var lastProcessed = 0
  /// The last stream that is still processed after GOAWAY; `nil` before GOAWAY.
  private var lastAllowed: Int?
  private var hasAllStreams: Bool

  init(service: SimulatedService, number: Int) {
    (self.service, self.number) = (service, number)
    hasAllStreams = !service.configuration.hasStrictStreams
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }
  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    // The HTTP/2 handler has already acted on the frames of the connection.
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // An error of one stream must not end the other streams. A client may also open streams before it has seen GOAWAY.
    guard !(error is NIOHTTP2Errors.StreamError) else { return }
    context.close(promise: nil)
  }

  // MARK: Streams

  func streamOpened() { openStreams += 1 }

  func streamClosed() {
    openStreams -= 1
    closeIfFinished()
  }

  /// Notes that the stream is processed.
  ///
  /// - Returns: False if GOAWAY has refused the stream.
  func process(_ stream: Int) -> Bool {
    if let lastAllowed, stream > lastAllowed { return false }
    lastProcessed = max(lastProcessed, stream)
    return true
  }

  /// Allows all streams after the first valid provider token.
  func tokenIsValid() {
    guard !hasAllStreams, let context else { return }
    hasAllStreams = true
    let setting = HTTP2Setting(parameter: .maxConcurrentStreams, value: service.configuration.maxConcurrentStreams)
    write(.settings(.settings([setting])), context)
  }

  // MARK: Faults

  /// Sends GOAWAY. The streams that were processed, and those before them, are still answered.
  ///
  /// - Parameter including: The stream that is processed too. `nil` for none.
  func goAway(including stream: Int? = nil) {
    guard let context, lastAllowed == nil else { return }
    let last = max(lastProcessed, stream ?? 0)
    lastAllowed = last
    write(
      .goAway(
        lastStreamID: HTTP2StreamID(last), errorCode: .noError,
        opaqueData: ByteBuffer(string: #"{"reason":"Shutdown"}"#)), context)
    closeIfFinished()
  }

  func close() { context?.close(promise: nil) }

  private func closeIfFinished() {
    guard lastAllowed != nil, openStreams == 0, let context else { return }
    // The frame that ended the last stream may still be on its way through the pipeline.
    context.eventLoop.assumeIsolated().execute { [self] in close() }
  }

  private func write(_ payload: HTTP2Frame.FramePayload, _ context: ChannelHandlerContext) {
    context.writeAndFlush(wrapOutboundOut(HTTP2Frame(streamID: .rootStream, payload: payload)), promise: nil)
  }
}
