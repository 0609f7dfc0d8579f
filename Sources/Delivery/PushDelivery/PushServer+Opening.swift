// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import NIOSSL

extension PushServer {
  /// Opens a connection, to the end of the TLS handshake, in which the server must choose HTTP/2.
  ///
  /// - Parameter timeout: The longest time that connecting may take, and also the longest time for the handshake.
  func open(with context: NIOSSLContext, on eventLoop: any EventLoop, timeout: TimeAmount) -> EventLoopFuture<
    any Channel
  > {
    let host = host
    let opened = eventLoop.makePromise(of: (any Channel).self)
    let isName = (try? SocketAddress(ipAddress: host, port: 0)) == nil
    let bootstrap = ClientBootstrap(group: eventLoop)
      .connectTimeout(timeout)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let tls = try NIOSSLClientHandler(context: context, serverHostname: isName ? host : nil)
          try channel.pipeline.syncOperations.addHandlers(tls, HandshakeWatch(opened: opened))
        }
      }
    bootstrap.connect(host: host, port: port).whenComplete { result in
      switch result {
      case .failure(let error): opened.fail(error)
      case .success(let channel):
        // A server that accepts the connection and then sends nothing must not make the caller wait for ever.
        let limit = channel.eventLoop.scheduleTask(in: timeout) { opened.fail(ChannelError.connectTimeout(timeout)) }
        opened.futureResult.whenComplete { result in
          limit.cancel()
          if case .failure = result { channel.close(promise: nil) }
        }
      }
    }
    return opened.futureResult
  }

  /// Opens a connection in the same way as for pushes, and closes it. No request is sent to the server.
  ///
  /// - Parameter timeout: The longest time that connecting may take, and also the longest time for the handshake.
  /// - Throws: ``PushTransportError``.
  public func tryConnecting(timeout: Duration = .seconds(5)) async throws(PushTransportError) {
    let context = try tlsContext()
    do {
      let channel = try await open(
        with: context, on: MultiThreadedEventLoopGroup.singleton.next(), timeout: TimeAmount(timeout)
      ).get()
      // The trial has succeeded, however the connection ends.
      try? await channel.close()
    } catch {
      throw PushTransportError(opening: self, error)
    }
  }
}

extension PushTransportError {
  /// Creates the error of a connection that could not be opened.
  init(opening server: PushServer, _ error: any Error) {
    self.init(Self.code(of: error), server: server, reason: Self.text(of: error))
  }

  private static func code(of error: any Error) -> Code {
    switch error {
    case let error as HandshakeWatch.Failure where error == .notHTTP2: return .notHTTP2
    case is NIOSSLExtraError: return .certificateRefused
    case is NIOSSLError, is BoringSSLError:
      // The error codes of BoringSSL are not public in swift-nio-ssl. Its description names them.
      let text = "\(error)"
      if text.contains("CERTIFICATE_VERIFY_FAILED") { return .certificateRefused }
      return text.contains("NO_APPLICATION_PROTOCOL") ? .notHTTP2 : .cannotConnect
    default: return .cannotConnect
    }
  }

  /// Returns what a connection's error says, without anything that a server could have put into it.
  private static func text(of error: any Error) -> String? {
    switch error {
    case let error as IOError: "\(error.errnoCode): \(error.localizedDescription)".prefix(120).description
    case is NIOConnectionError: "no address of the host accepts connections"
    case is ChannelError: "the connection was not opened in time"
    case is BoringSSLError, is NIOSSLError, is NIOSSLExtraError: "TLS failed"
    default: nil
    }
  }
}
