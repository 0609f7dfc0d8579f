// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
public import SoundDownloads

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A fetcher that uses `URLSession`.
///
/// `URLSession` resolves the host's name itself, and does not let its caller choose the address. Between the
/// downloader's check and the connection, a hostile name server can therefore replace a public address by a private
/// one. On Apple's systems, the fetcher reports the address of the connection after the answer, so that such an answer
/// is discarded. On Linux, `URLSession` does not report the address. With `https`, a private server would also need a
/// valid certificate for the host's name.
///
/// On Linux, the session reads data faster than its delegate takes it, and collects the body of a redirect without a
/// limit. A cancellation takes effect only when the server pauses. A hostile server on a fast network can therefore
/// make the process use more memory than ``SoundRequest/mostBytes``. It can also delay the other sessions of the
/// process, which share a queue. On Linux, use this fetcher only with servers that you trust. `docs/sounds.md` has a
/// measurement.
///
/// The session uses a proxy of the system if there is one. The proxy then resolves the name, and no address is
/// reported.
public final class URLSessionSoundFetcher: SoundFetching {
  private let answers = SessionAnswers()
  private let session: URLSession
  /// The queue that cancels tasks. On Linux, a call that cancels a task waits for the session, which can be busy with a
  /// fast server.
  private let cancellations = DispatchQueue(label: "crier.downloads.cancellations")

  public init() {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.httpCookieStorage = nil
    configuration.urlCredentialStorage = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    // The delegate calls must arrive in order, so the operation queue runs one operation at a time.
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    session = URLSession(configuration: configuration, delegate: answers, delegateQueue: queue)
  }

  deinit { session.finishTasksAndInvalidate() }

  public func fetch(_ request: SoundRequest) async throws -> SoundAnswer {
    var sent = URLRequest(url: request.url)
    sent.httpMethod = request.method
    sent.httpBody = request.body
    for (name, value) in request.fields { sent.setValue(value, forHTTPHeaderField: name) }
    let task = session.dataTask(with: sent)
    let cancel = { @Sendable [cancellations] in cancellations.async { task.cancel() } }
    let answer = SessionAnswer(mostBytes: request.mostBytes, cancel: cancel)
    answers.add(answer, of: task.taskIdentifier)
    return try await withTaskCancellationHandler {
      try await answer.head { task.resume() }
    } onCancel: {
      cancel()
    }
  }
}
