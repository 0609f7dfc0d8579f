// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import HostAddresses
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Opens a connection for each question, and closes it after the answer. A late answer can therefore never be mistaken
/// for the answer to the next question.
struct ServerConnection: Sendable {
  /// The progress of a question. It determines which error is reported when the time is over.
  private enum Stage: Sendable { case waiting, connecting, asking, receiving }

  /// The largest number of a host's addresses that are tried.
  private static let mostAddresses = 3

  let server: SpeechServer
  let permits: Permits
  let resolver: any HostResolving
  let sleep: @Sendable (Duration) async throws -> Void
  /// The settings of TLS; nil without TLS.
  let tls: NIOSSLContext?

  /// Asks a question and returns the answer.
  ///
  /// The function returns when the time is over or the task is cancelled, even if closing the connection takes longer.
  func ask<Exchange: SpeechExchange>(_ exchange: Exchange) async throws(SpeechServerError) -> Exchange.Answer {
    let first = FirstOutcome<Exchange.Answer, SpeechServerError>()
    let stage = Locked(Stage.waiting)
    let limits = server.limits
    func alarm(after limit: Duration) -> Task<Void, Never> {
      Task.detached { [sleep] in
        do { try await sleep(limit) } catch { return }
        first.end(.failure(Self.late(stage.withLock { $0 })))
      }
    }
    return try await first.wait {
      let soundAlarm = alarm(after: limits.firstSound)
      let job = Task.detached {
        await permits.withOne {
          guard !Task.isCancelled else { return }
          do throws(SpeechServerError) {
            let channel = try await open(for: Exchange.self, stage)
            try await converse(on: channel, exchange, stage, soundAlarm) { first.end(.success($0)) }
          } catch {
            first.end(.failure(error))
          }
        }
      }
      return [job, soundAlarm, alarm(after: limits.whole)]
    } onCancel: {
      first.end(.failure(SpeechServerError(.cancelled, "got a request that was cancelled", remedy: "ask it again")))
    }.get()
  }

  private typealias Opened<Exchange: SpeechExchange> = NIOAsyncChannel<Exchange.Received, Exchange.Sent>

  private func open<Exchange: SpeechExchange>(
    for exchange: Exchange.Type, _ stage: Locked<Stage>
  ) async throws(SpeechServerError) -> Opened<Exchange> {
    stage.withLock { $0 = .connecting }
    let addresses = try await socketAddresses()
    let limits = server.limits
    var failure = SpeechServerError.unreachable
    for address in addresses {
      // One address of a host may never answer. Each address gets an equal part of the time, so that the others are
      // tried too.
      let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connectTimeout(TimeAmount(limits.connect / addresses.count))
      do {
        return try await bootstrap.connect(to: address) { channel in
          channel.eventLoop.makeCompletedFuture {
            if let tls { try channel.pipeline.syncOperations.addHandler(Self.handler(tls, server.address)) }
            try Exchange.addHandlers(to: channel, within: limits)
            return try Opened<Exchange>(wrappingChannelSynchronously: channel)
          }
        }
      } catch {
        failure = .connecting(error)
      }
      if Task.isCancelled { break }
    }
    throw failure
  }

  private func socketAddresses() async throws(SpeechServerError) -> [SocketAddress] {
    do {
      switch server.address {
      case .wyomingSocket(let path): return [try SocketAddress(unixDomainSocketPath: path)]
      case .wyoming(let host, let port), .openAI(let host, let port, _, _):
        var found = await resolver.addresses(of: host)
        // Names and notes may be sent to `localhost`. They must not leave the machine if it resolves to another
        // address.
        if SpeechServerAddress.isLocalName(host) { found = found.filter(\.isLoopback) }
        guard !found.isEmpty else { throw SpeechServerError.unreachable }
        return try found.prefix(Self.mostAddresses).map { try SocketAddress(ipAddress: "\($0)", port: port) }
      }
    } catch {
      throw .unreachable
    }
  }

  private static func handler(_ context: NIOSSLContext, _ address: SpeechServerAddress) throws -> NIOSSLClientHandler {
    guard case .openAI(let host, _, _, _) = address else {
      return try NIOSSLClientHandler(context: context, serverHostname: nil)
    }
    // The server name of TLS must be a host name. An IP address is not permitted there.
    return try NIOSSLClientHandler(context: context, serverHostname: IPAddress(host) == nil ? host : nil)
  }

  private func converse<Exchange: SpeechExchange>(
    on channel: Opened<Exchange>, _ exchange: Exchange, _ stage: Locked<Stage>, _ soundAlarm: Task<Void, Never>,
    _ end: (Exchange.Answer) -> Void
  ) async throws(SpeechServerError) {
    do {
      try await channel.executeThenClose { inbound, outbound in
        stage.withLock { $0 = .asking }
        // If writing fails because the connection ended, reading reports the reason: a refused certificate, or an early
        // answer.
        try? await outbound.write(contentsOf: exchange.question)
        var exchange = exchange
        for try await part in inbound {
          if let answer = try exchange.take(part) { return end(answer) }
          guard exchange.hasSound, !soundAlarm.isCancelled else { continue }
          stage.withLock { $0 = .receiving }
          soundAlarm.cancel()
        }
        throw SpeechServerError.closedEarly
      }
    } catch let error as SpeechServerError {
      throw error
    } catch {
      throw .conversing(error)
    }
  }

  private static func late(_ stage: Stage) -> SpeechServerError {
    switch stage {
    case .waiting:
      SpeechServerError(
        .busy, "was busy with earlier words until the time was over", remedy: "raise its at_once or timeout_ms")
    case .connecting:
      SpeechServerError(
        .connectTimedOut, "did not accept the connection in time", remedy: "check its address and the network")
    case .asking:
      SpeechServerError(
        .firstSoundTimedOut, "sent no sound in time", remedy: "raise its timeout_ms, or give it a faster machine")
    case .receiving:
      SpeechServerError(
        .timedOut, "did not finish in time", remedy: "raise its timeout_ms, or give it a faster machine")
    }
  }
}

extension SpeechServerError {
  fileprivate static var unreachable: SpeechServerError {
    SpeechServerError(.cannotConnect, "cannot be reached", remedy: "check its address, and that it runs")
  }

  /// Returns the error to report if a connection cannot be opened.
  fileprivate static func connecting(_ error: any Error) -> SpeechServerError {
    if case .connectTimeout? = error as? ChannelError {
      return SpeechServerError(
        .connectTimedOut, "did not accept the connection in time", remedy: "check its address and the network")
    }
    return .unreachable
  }

  /// Returns the error to report if an open connection fails. Any error that is not listed here means that the
  /// connection was closed.
  fileprivate static func conversing(_ error: any Error) -> SpeechServerError {
    switch error {
    case HTTPParserError.headerOverflow:
      SpeechServerError(.answerTooLarge, "sent too large a head of an answer", remedy: "update or restart the server")
    // The connection ended within an answer.
    case HTTPParserError.invalidEOFState: .closedEarly
    case is HTTPParserError: .invalid("sent an answer that is not valid HTTP")
    case is NIOSSLExtraError: .certificate
    // The error codes of BoringSSL are not public in swift-nio-ssl. Its description names them.
    case is NIOSSLError, is BoringSSLError:
      "\(error)".contains("CERTIFICATE_VERIFY_FAILED") ? .certificate : .tlsFailed(error)
    default: .closedEarly
    }
  }

  private static var certificate: SpeechServerError {
    SpeechServerError(
      .certificateRefused, "has a certificate that is not trusted", remedy: "check its name, or give its ca")
  }

  private static func tlsFailed(_ error: any Error) -> SpeechServerError {
    if case .uncleanShutdown? = error as? NIOSSLError { return .closedEarly }
    return SpeechServerError(.cannotConnect, "does not speak TLS", remedy: "give an address with http, or set TLS up")
  }
}
