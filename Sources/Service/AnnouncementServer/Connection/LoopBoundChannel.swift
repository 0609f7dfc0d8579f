// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import HTTPTypes
import HostAddresses
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// A connection whose requests are answered on the thread that reads and writes the connection.
///
/// By default, the library answers on the threads that run all tasks. That takes two thread changes for each request,
/// which cost more than sending a clip from memory. Work that may block or takes long runs elsewhere; see
/// ``Route/isOnLoop``.
struct LoopBoundChannel: ServerChildChannel {
  /// A connection as the library handles it, together with the ``Connection`` that calls use.
  struct Value: ServerChildChannelValue {
    var base: HTTP1Channel.Value
    var connection: Connection

    var channel: any Channel { base.channel }
  }

  /// The size of the socket's send buffer, in bytes. The operating system accepts a clip of 5 s in one call, and the
  /// unread part of a response takes no more kernel memory than this. Linux allocates twice this size, limited by
  /// `net.core.wmem_max`.
  static let sendBuffer: SocketOptionValue = 256 << 10

  /// The limits of the data that waits to be written, in bytes. They are large enough that a clip of 10 s does not
  /// count as a response that its client reads too slowly.
  static let waterMark = ChannelOptions.Types.WriteBufferWaterMark(low: 128 << 10, high: 512 << 10)

  let base: HTTP1Channel

  /// The host and port on which the service listens.
  let authority: String
  /// The time limit of a request, and of a client that reads nothing.
  let limit: TimeAmount

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
    channel.setOption(.socketOption(.so_sndbuf), value: Self.sendBuffer).and(
      channel.setOption(.writeBufferWaterMark, value: Self.waterMark)
    ).flatMap { _ in
      base.setup(channel: channel, logger: logger)
    }.flatMapThrowing { base in
      let connection = Connection(peer: channel.remoteAddress?.ipAddress.flatMap { IPAddress($0) }) {
        channel.close(promise: nil)
      }
      let pipeline = channel.pipeline.syncOperations
      let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
      try pipeline.addHandler(
        ConnectionHandler(connection, authority: authority, limit: limit), position: .after(decoder))
      return Value(base: base, connection: connection)
    }
  }

  func handle(value: Value, logger: Logger) async {
    await Connection.$current.withValue(value.connection) {
      await withTaskExecutorPreference(LoopExecutor(value.channel.eventLoop)) {
        await base.handle(value: value.base, logger: logger)
      }
    }
  }
}

/// Runs tasks on an event loop, whose thread must not block.
final class LoopExecutor: TaskExecutor {
  private let loop: any EventLoop

  init(_ loop: any EventLoop) { self.loop = loop }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute {
      BlockingWatchdog.forbidBlocking()
      job.runSynchronously(on: self.asUnownedTaskExecutor())
    }
  }
}
