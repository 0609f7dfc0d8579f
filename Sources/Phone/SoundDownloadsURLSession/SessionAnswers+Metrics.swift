// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
  import Darwin
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
      answer(of: task)?.connected(to: HostAddress(text))
    }
  }

  extension HostAddress {
    /// Reads an address as the system writes it; a zone at its end is ignored.
    fileprivate init?(_ text: String) {
      let text = String(text.prefix { $0 != "%" })
      var short = in_addr()
      var long = in6_addr()
      if unsafe inet_pton(AF_INET, text, &short) == 1 {
        self.init(bytes: unsafe withUnsafeBytes(of: short) { unsafe Array($0) })
      } else if unsafe inet_pton(AF_INET6, text, &long) == 1 {
        self.init(bytes: unsafe withUnsafeBytes(of: long) { unsafe Array($0) })
      } else {
        return nil
      }
    }
  }
#endif
