// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import HostAddresses

/// One HTTP request.
public struct SoundRequest: Sendable, Hashable {
  /// The method, `GET` for all downloads.
  public var method: String

  public var url: URL

  /// The header fields.
  public var fields: [String: String]

  /// The addresses of the host, all of which were checked. If a fetcher can choose the address of its connection, it
  /// must use one of these.
  public var addresses: [IPAddress]

  /// The number of body bytes after which the fetcher may end the answer. The downloader refuses an answer with more
  /// bytes.
  public var mostBytes: Int

  /// The body; nil for a request without one.
  public var body: Data?

  public init(
    method: String = "GET", url: URL, fields: [String: String], addresses: [IPAddress], mostBytes: Int,
    body: Data? = nil
  ) {
    self.method = method
    self.url = url
    self.fields = fields
    self.addresses = addresses
    self.mostBytes = mostBytes
    self.body = body
  }
}

/// The answer to a ``SoundRequest``.
public struct SoundAnswer: Sendable {
  public var status: Int

  /// The header fields by their names in lower case.
  public private(set) var fields: [String: String]

  /// The bytes of the body, in pieces. The fetcher ends its connection when the stream is no longer used.
  public var body: AsyncThrowingStream<[UInt8], any Error>

  /// Returns the address of the connection; nil if the system does not report it. This closure is called after the end
  /// of the body.
  public var connectedAddress: @Sendable () async -> IPAddress?

  public init(
    status: Int, fields: [String: String], body: AsyncThrowingStream<[UInt8], any Error>,
    connectedAddress: @escaping @Sendable () async -> IPAddress? = { nil }
  ) {
    self.status = status
    self.fields = Dictionary(fields.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
    self.body = body
    self.connectedAddress = connectedAddress
  }
}

/// The reason why a fetcher got no answer, or only a part of an answer.
public enum SoundFetchError: Error, Sendable, Hashable {
  case hostNotFound
  case cannotConnect
  /// The host's certificate is invalid, or the client and the host support no common encryption.
  case notTrusted
  case connectionLost
}

/// A client that sends single HTTP requests.
///
/// It follows no redirects, stores no cookies and no answers, sends no credentials, and does not retry.
public protocol SoundFetching: Sendable {
  /// Sends a request and returns when the head of the answer has arrived.
  ///
  /// - Throws: ``SoundFetchError``; any other error counts as ``SoundFetchError/connectionLost``. The body throws the
  ///   same errors.
  func fetch(_ request: SoundRequest) async throws -> SoundAnswer
}
