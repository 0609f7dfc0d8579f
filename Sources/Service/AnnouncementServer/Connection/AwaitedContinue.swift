// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport

/// A sender that waits for `100 Continue` before it sends the body (RFC 9110, section 10.1.1).
final class AwaitedContinue: Sendable {
  private let send: @Sendable () async -> Void
  private let sent = Locked(false)

  /// - Parameter send: Sends `100 Continue`.
  init(send: @escaping @Sendable () async -> Void) { self.send = send }

  /// Whether `100 Continue` was sent.
  var isSent: Bool { sent.withLock { $0 } }

  /// Sends `100 Continue`, on the first call only.
  func answer() async {
    let isFirst = sent.withLock { sent in
      defer { sent = true }
      return !sent
    }
    if isFirst { await send() }
  }
}
