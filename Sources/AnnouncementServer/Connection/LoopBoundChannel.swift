// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import ServiceAccess

/// A connection whose requests are answered on the thread that reads and writes them.
///
/// The library answers on the threads that run all tasks: two changes of thread a request, which cost more than a clip from
/// memory does. What takes long here is done elsewhere: rendering in tasks of its own, the ledger and the disk on theirs.
struct LoopBoundChannel: ServerChildChannel {
  /// A connection as the library has it, and as calls see it.
  struct Value: ServerChildChannelValue {
    var base: HTTP1Channel.Value
    var connection: Connection

    var channel: any Channel { base.channel }
  }

  /// Of the socket, in bytes: a clip of 5 s is given to the system in one call, and what is not read of an answer
  /// takes no more of its memory than this. Linux gives twice as much, and no more than `net.core.wmem_max`.
  static let sendBuffer: SocketOptionValue = 256 << 10

  /// Of what waits to be written, in bytes: a clip of 10 s does not count as one that its reader cannot follow.
  static let waterMark = ChannelOptions.Types.WriteBufferWaterMark(low: 128 << 10, high: 512 << 10)

  let base: HTTP1Channel

  /// Of each connection, in front of the library's: they see requests and answers as HTTP/1.1 has them.
  let handlers: @Sendable () -> [any ChannelHandler]

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
      try pipeline.addHandlers([ConnectionEndHandler(connection)] + handlers(), position: .after(decoder))
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

/// Runs tasks on an event loop.
private final class LoopExecutor: TaskExecutor {
  private let loop: any EventLoop

  init(_ loop: any EventLoop) { self.loop = loop }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
