// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport

/// Tells the sender of webhooks that this process has stored messages.
final class NewWebhookNotice: Sendable {
  private struct State {
    var count = 0
    var notify: (@Sendable () -> Void)?
  }

  private let state = Locked(State())

  /// The number of messages that transactions of this process have stored, including transactions that were rolled
  /// back.
  var count: Int { state.withLock { $0.count } }

  func setNotify(_ notify: @escaping @Sendable () -> Void) { state.withLock { $0.notify = notify } }

  /// Counts messages that a transaction has stored, and that become visible when it commits.
  func add(_ messages: Int = 1) { state.withLock { $0.count += messages } }

  /// Calls the closure if messages were counted since the beginning of a transaction that has just committed. Messages
  /// of other transactions count too, because a needless call only makes the sender look once more.
  func committed(since count: Int) {
    let notify = state.withLock { $0.count == count ? nil : $0.notify }
    notify?()
  }
}
