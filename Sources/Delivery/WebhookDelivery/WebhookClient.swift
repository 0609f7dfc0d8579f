// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import ConcurrencySupport
public import Foundation
public import HostAddresses
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
public import WebhookMessages

/// Sends messages to endpoints over HTTP/1.1.
///
/// - Each attempt resolves the host once, checks all its addresses, and connects to one of those that were checked. TLS
///   still verifies the host's name. If the name resolves to another address a moment later, this has no effect.
/// - Redirects are not followed. The client uses no proxy, no cookies and no other settings of the environment. Nothing
///   is sent twice within an attempt. At most 4 KiB of the answer's body are read, and ignored.
public final class WebhookClient: Sendable {
  public struct Settings: Sendable, Hashable {
    /// Whether a host may have a private address, such as 127.0.0.1 or 192.168.1.2; see `IPAddress.isPrivate`.
    public var allowsPrivateAddresses = false
    /// The longest time for finding the host's addresses, and then for the connection and the whole answer.
    public var longest: Duration = .seconds(15)
    /// The certificates that sign a receiver's certificate, in PEM; nil for those that the system trusts.
    public var trustRoots: URL?

    public init() {}
  }

  /// The answer to an attempt, or the reason why there is none.
  public struct Answer: Sendable, Hashable {
    public var outcome: WebhookOutcome
    /// The status of the answer; nil if there is none.
    public var status: Int?
    /// The pause that the receiver asked for, in seconds; nil if it did not ask for one.
    public var requestedPause: TimeInterval?
    /// Whether a connection with a trusted certificate was opened; nil if no connection was tried.
    public var couldConnect: Bool?

    public init(
      _ outcome: WebhookOutcome, status: Int? = nil, requestedPause: TimeInterval? = nil, couldConnect: Bool? = nil
    ) {
      self.outcome = outcome
      self.status = status
      self.requestedPause = requestedPause
      self.couldConnect = couldConnect
    }
  }

  /// The maximum number of bytes that are read of an answer's body.
  private static let mostAnswerBytes = 4096
  /// The maximum number of a host's addresses that are tried.
  private static let mostAddresses = 3

  private let settings: Settings
  private let resolver: any HostResolving
  private let lookUps = Permits(32)
  private let connections: CheckedConnections

  public init(settings: Settings = Settings(), resolver: any HostResolving = SystemHostResolver()) {
    self.settings = settings
    self.resolver = resolver
    connections = CheckedConnections(settings: settings)
  }

  /// Closes all connections.
  public func close() async { await connections.close() }

  /// Sends a message once.
  ///
  /// - Parameters:
  ///   - url: The text of the endpoint's URL.
  ///   - now: Returns the time that is signed. It is called when the host's addresses are known, because receivers
  ///     refuse messages that were signed long ago.
  public func send(
    _ message: WebhookMessage, to url: String, secrets: [WebhookSecret], at now: @autoclosure @Sendable () -> Date
  ) async -> Answer {
    // The URL is checked again, because the setting may have changed since the endpoint was registered.
    guard let url = try? WebhookURL(url, allowsPrivateAddresses: settings.allowsPrivateAddresses) else {
      return Answer(.addressRefused)
    }
    let addresses = await addresses(of: url.host)
    guard !addresses.isEmpty else { return Answer(.unreachable, couldConnect: false) }
    // The look-up may have taken long, and another sender may have taken over meanwhile.
    if Task.isCancelled { return Answer(.unreachable) }
    // The rule is the same as for downloads: one private address is enough to refuse the host.
    guard settings.allowsPrivateAddresses || !addresses.contains(where: \.isPrivate) else {
      return Answer(.addressRefused)
    }
    var request = HTTPClientRequest(url: url.text)
    request.method = .POST
    request.headers = HTTPHeaders(message.headers(at: now(), secrets: secrets).map { ($0.name, $0.value) })
    request.headers.add(name: "user-agent", value: "crier")
    request.body = .bytes(ByteBuffer(bytes: message.body))
    let deadline = NIODeadline.now() + TimeAmount(settings.longest)
    var answer = Answer(.unreachable)
    for address in addresses.prefix(Self.mostAddresses) {
      let wasConnected: Bool
      (answer, wasConnected) = await send(request, host: url.host, address: address, deadline: deadline)
      // Another address may work if there was no connection to this one. Otherwise, the message may have arrived.
      answer.couldConnect = wasConnected && answer.outcome != .certificateRefused
      if wasConnected { break }
    }
    return answer
  }

  /// Returns the addresses of a host; an empty array when none is known in time.
  ///
  /// If a host's name servers do not answer, the look-up occupies one of a few slots until the system gives up, but no
  /// thread that other work needs. The caller stops waiting earlier.
  private func addresses(of host: String) async -> [IPAddress] {
    let addresses = FirstOutcome<[IPAddress], Never>()
    return await addresses.wait {
      [
        Task { [lookUps, resolver] in
          let found = await lookUps.withOne { Task.isCancelled ? [] : await resolver.addresses(of: host) }
          addresses.end(.success(found))
        },
        Task { [longest = settings.longest] in
          // The sleep throws only if the addresses were found first.
          if (try? await Task.sleep(for: longest)) != nil { addresses.end(.success([])) }
        },
      ]
    } onCancel: {
      // The task is cancelled when the sender stops.
      addresses.end(.success([]))
    }.get()
  }

  private func send(
    _ request: HTTPClientRequest, host: String, address: IPAddress, deadline: NIODeadline
  ) async -> (answer: Answer, wasConnected: Bool) {
    let place = CheckedConnections.Place(host: host, address: address)
    return await connections.withClient(for: place) { client in
      do {
        let response = try await client.execute(request, deadline: deadline)
        await Self.readSome(of: response, until: deadline)
        let status = Int(response.status.code)
        return (Answer(WebhookOutcome(status: status), status: status, requestedPause: Self.pause(response)), true)
      } catch {
        let outcome = Self.outcome(of: error)
        return (Answer(outcome), outcome != .unreachable && !Self.isWithoutConnection(error))
      }
    }
  }

  /// Returns whether an error says that no connection was opened in time.
  private static func isWithoutConnection(_ error: any Error) -> Bool {
    switch error {
    case let error as HTTPClientError: error == .connectTimeout
    case let error as ChannelError: if case .connectTimeout = error { true } else { false }
    default: false
    }
  }

  /// Reads the beginning of the answer's body. If the body is complete then, the connection can be used again. The
  /// answer counts even if its body fails or is too slow.
  private static func readSome(of response: HTTPClientResponse, until deadline: NIODeadline) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        var left = mostAnswerBytes
        do {
          for try await part in response.body {
            left -= part.readableBytes
            if left < 0 { return }
          }
        } catch {
          return
        }
      }
      group.addTask {
        // The sleep throws only if the body was read to its end first.
        try? await Task.sleep(for: .nanoseconds((deadline - .now()).nanoseconds))
      }
      await group.next()
      group.cancelAll()
    }
  }

  private static func pause(_ response: HTTPClientResponse) -> TimeInterval? {
    guard [429, 503].contains(response.status.code), let text = response.headers.first(name: "retry-after"),
      let seconds = Int(text), seconds >= 0
    else { return nil }
    return TimeInterval(seconds)
  }

  /// Returns what an error of the client means. Any other error means that the connection ended.
  static func outcome(of error: any Error) -> WebhookOutcome {
    switch error {
    case let error as HTTPClientError:
      switch error {
      case .deadlineExceeded, .readTimeout, .writeTimeout, .connectTimeout, .tlsHandshakeTimeout,
        .getConnectionFromPoolTimeout:
        .timedOut
      case .cancelled, .alreadyShutdown: .unreachable
      default: .closedEarly
      }
    case is HTTPParserError: .answerInvalid
    case is NIOSSLExtraError: .certificateRefused
    case is NIOSSLError, is BoringSSLError:
      // The error codes of BoringSSL are not public in swift-nio-ssl. Its description names them.
      "\(error)".contains("CERTIFICATE_VERIFY_FAILED") ? .certificateRefused : .unreachable
    case is NIOConnectionError: .unreachable
    case let error as ChannelError:
      if case .connectTimeout = error { .timedOut } else { .closedEarly }
    case let error as IOError:
      [ECONNRESET, EPIPE].contains(error.errnoCode) ? .closedEarly : .unreachable
    default: .closedEarly
    }
  }
}
