// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
  import Foundation
  import HostAddresses
  import SoundDownloads

  extension SessionAnswers {
    /// Stores the address of a task's connection. The session calls this before the task is complete.
    func urlSession(
      _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
      guard let transaction = metrics.transactionMetrics.last, !transaction.isProxyConnection,
        let text = transaction.remoteAddress
      else { return }
      // The system may add a zone after `%` at the end of an address.
      answer(of: task)?.connected(to: IPAddress(text.prefix { $0 != "%" }))
    }
  }
#endif
