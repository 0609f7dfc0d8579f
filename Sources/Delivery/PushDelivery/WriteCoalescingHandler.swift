// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// Collects the bytes that are written in one turn of the event loop, and flushes them together.
///
/// Each request is written in three parts. Without this handler, each part would be a TLS record of its own, and each
/// flush a system call.
final class WriteCoalescingHandler: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// The maximum size of a TLS record, in bytes (RFC 8446, section 5.1).
  private static let record = 16_384

  private var gathered = ByteBuffer()
  private var isScheduled = false

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let part = unwrapOutboundIn(data)
    if gathered.readableBytes + part.readableBytes > Self.record { passOn(context) }
    if promise != nil || part.readableBytes > Self.record {
      passOn(context)
      context.write(data, promise: promise)
    } else {
      if gathered.readableBytes == 0 { gathered = context.channel.allocator.buffer(capacity: Self.record) }
      gathered.writeImmutableBuffer(part)
    }
  }

  private func passOn(_ context: ChannelHandlerContext) {
    guard gathered.readableBytes > 0 else { return }
    context.write(wrapOutboundOut(gathered), promise: nil)
    gathered = ByteBuffer()
  }

  func flush(context: ChannelHandlerContext) {
    guard !isScheduled else { return }
    isScheduled = true
    // The event loop runs this task after everything that is already waiting for it.
    context.eventLoop.assumeIsolated().execute { [self] in
      isScheduled = false
      passOn(context)
      context.flush()
    }
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    // Bytes that were written before the connection closes must not be lost.
    passOn(context)
    if isScheduled { context.flush() }
    context.close(mode: mode, promise: promise)
  }
}
