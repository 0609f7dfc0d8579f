// SPDX-License-Identifier: Apache-2.0

import Foundation
package import HostAddresses

/// Sends the requests of downloads and of calls with the device's key. The rules must allow all addresses of the host.
package struct RequestSender: Sendable {
  private let fetcher: any SoundFetching
  private let resolver: any HostResolving
  private let rules: DownloadRules

  package init(_ fetcher: any SoundFetching, _ resolver: any HostResolving, _ rules: DownloadRules) {
    self.fetcher = fetcher
    self.resolver = resolver
    self.rules = rules
  }

  /// How a request ended, if no rule and no receiver of the answer threw an error.
  package enum End: Sendable {
    /// There was no answer.
    case noAnswer(SoundFetchError)
    /// The head was received, and the receiver does not want the body.
    case head
    /// The body has ended: completely, or because the connection broke.
    case body(SoundFetchError?)
  }

  /// Sends a request, and passes on its answer as it arrives.
  ///
  /// - Parameters:
  ///   - request: The request, without the addresses of the host.
  ///   - translate: Converts an error of the rules, or a cancellation, into the caller's error.
  ///   - head: Receives the answer when its head has arrived, and returns whether its body is read.
  ///   - piece: Receives the next bytes of the body.
  /// - Throws: A translated error, or an error of a receiver.
  package func send<Failure: Error>(
    _ request: SoundRequest, translating translate: (DownloadError) -> Failure,
    head: (SoundAnswer) async throws(Failure) -> Bool, piece: ([UInt8]) async throws(Failure) -> Void
  ) async throws(Failure) -> End {
    func check(_ addresses: [IPAddress]) throws(Failure) {
      do throws(DownloadError) { try rules.check(addresses, of: request.url) } catch { throw translate(error) }
    }
    func stopIfCancelled() throws(Failure) {
      if Task.isCancelled { throw translate(DownloadError(.cancelled)) }
    }
    var request = request
    request.addresses = await resolver.addresses(of: request.url.host(percentEncoded: false) ?? "")
    try stopIfCancelled()
    try check(request.addresses)
    let answer: SoundAnswer
    do {
      answer = try await fetcher.fetch(request)
    } catch {
      try stopIfCancelled()
      return .noAnswer(error as? SoundFetchError ?? .connectionLost)
    }
    guard try await head(answer) else { return .head }
    var failure: SoundFetchError?
    var pieces = answer.body.makeAsyncIterator()
    while true {
      let next: [UInt8]?
      do {
        next = try await pieces.next()
      } catch {
        failure = error as? SoundFetchError ?? .connectionLost
        break
      }
      guard let next else { break }
      try await piece(next)
    }
    // The iteration also ends early if the task is cancelled.
    try stopIfCancelled()
    // The host may have got another address between the check and the connection.
    if let address = await answer.connectedAddress() { try check([address]) }
    return .body(failure)
  }
}
