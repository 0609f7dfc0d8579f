// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import HostAddresses
import SoundDownloads

/// The answer to one task of a session, from its request to the end of its body.
final class SessionAnswer: Sendable {
  typealias Head = Result<SoundAnswer, SoundFetchError>

  private struct State {
    /// The fetcher's wait for the head; nil after the head or an error was delivered.
    var waiting: AwaitedAnswer<Head>?
    /// The error of a task that was cancelled before it was started. At that time, the fetcher does not wait yet.
    var earlyEnd: SoundFetchError?
    /// The stream of the body, until it is handed over. Afterwards, only the downloader holds the stream, so that the
    /// task is cancelled when the downloader releases it.
    var stream: AsyncThrowingStream<[UInt8], any Error>?
    var byteCount = 0
    var connectedAddress: IPAddress?
  }

  private let state: Locked<State>
  private let continuation: AsyncThrowingStream<[UInt8], any Error>.Continuation
  private let mostBytes: Int
  private let cancel: @Sendable () -> Void

  /// - Parameter cancel: Cancels the session's task.
  init(mostBytes: Int, cancel: @escaping @Sendable () -> Void) {
    self.mostBytes = mostBytes
    self.cancel = cancel
    let (stream, continuation) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
    self.continuation = continuation
    state = Locked(State(stream: stream))
  }

  /// Starts the task and returns the answer when its head has arrived. A task that has already ended is not started.
  func head(start: () -> Void) async throws(SoundFetchError) -> SoundAnswer {
    let head: Head = await waitForAnswer { answer in
      let end = state.withLock { state in
        if state.earlyEnd == nil { state.waiting = answer }
        return state.earlyEnd
      }
      if let end { answer.give(.failure(end)) } else { start() }
    }
    return try head.get()
  }

  func receiveHead(status: Int, fields: [String: String]) {
    let taken = state.withLock { state in
      defer { state.stream = nil }
      return state.stream
    }
    guard let stream = taken else { return }
    continuation.onTermination = { [cancel] termination in
      if case .cancelled = termination { cancel() }
    }
    give(
      .success(
        SoundAnswer(status: status, fields: fields, body: stream) { [self] in
          state.withLock { $0.connectedAddress }
        }))
  }

  func receive(_ bytes: [UInt8]) {
    let (before, now) = state.withLock { state in
      defer { state.byteCount += bytes.count }
      return (state.byteCount, state.byteCount + bytes.count)
    }
    // The stream itself has no limit. The downloader refuses the answer when it reads the piece that exceeds the limit.
    if before <= mostBytes { continuation.yield(bytes) }
    // Pieces that had already arrived are still delivered after the cancellation. The task is cancelled only once: on
    // Linux, a session does not stop if it is cancelled again for each piece.
    if before <= mostBytes, now > mostBytes { cancel() }
  }

  func connected(to address: IPAddress?) { state.withLock { $0.connectedAddress = address } }

  /// - Parameter error: Why the task failed; nil if the body is complete.
  func end(_ error: SoundFetchError?) {
    give(.failure(error ?? .connectionLost))
    continuation.finish(throwing: error)
  }

  /// Delivers the head or an error to the fetcher, once.
  private func give(_ head: Head) {
    let waiting = state.withLock { state in
      // If the head was already delivered, nobody waits, and this error is not used.
      if state.waiting == nil, case .failure(let error) = head { state.earlyEnd = error }
      defer { state.waiting = nil }
      return state.waiting
    }
    waiting?.give(head)
  }
}
