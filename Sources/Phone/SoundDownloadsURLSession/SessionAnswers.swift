// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import SoundDownloads

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The delegate of a session. It passes the events of each task to the task's answer.
final class SessionAnswers: NSObject, URLSessionDataDelegate, Sendable {
  private let answers = Locked<[Int: SessionAnswer]>([:])

  func add(_ answer: SessionAnswer, of task: Int) { answers.withLock { $0[task] = answer } }

  func answer(of task: URLSessionTask) -> SessionAnswer? { answers.withLock { $0[task.taskIdentifier] } }

  /// Refuses to follow a redirect. The redirecting answer itself becomes the answer.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    if let response = response as? HTTPURLResponse {
      var fields: [String: String] = [:]
      for (name, value) in response.allHeaderFields { fields["\(name)"] = "\(value)" }
      answer(of: dataTask)?.receiveHead(status: response.statusCode, fields: fields)
    }
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    answer(of: dataTask)?.receive(Array(data))
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    answers.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.end(error.map { SoundFetchError($0) })
  }
}

extension SoundFetchError {
  /// Converts an error of the session.
  init(_ error: any Error) {
    guard let error = error as? URLError else {
      self = .connectionLost
      return
    }
    switch error.code {
    case .cannotFindHost, .dnsLookupFailed: self = .hostNotFound
    case .cannotConnectToHost, .notConnectedToInternet: self = .cannotConnect
    case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
      .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
      .clientCertificateRequired:
      self = .notTrusted
    case .unknown where ["SSL", "TLS", "certificate"].contains(where: error.localizedDescription.contains):
      // On Linux, TLS errors have no error code of their own, only the text of libcurl.
      self = .notTrusted
    default: self = .connectionLost
    }
  }
}
