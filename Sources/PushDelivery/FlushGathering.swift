// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// Gathers the flushes of one turn of the event loop into one.
///
/// Every stream flushes its own request. Without this handler, each of a hundred requests that begin together would be a
/// TLS record and a system call of its own.
final class FlushGathering: ChannelDuplexHandler {
  typealias InboundIn = Any
  typealias OutboundIn = Any

  private var isScheduled = false

  func flush(context: ChannelHandlerContext) {
    guard !isScheduled else { return }
    isScheduled = true
    // What is scheduled now runs after everything that is already waiting for this event loop.
    context.eventLoop.assumeIsolated().execute { [self] in
      isScheduled = false
      context.flush()
    }
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    // What was written before must not be lost.
    if isScheduled { context.flush() }
    context.close(mode: mode, promise: promise)
  }
}
