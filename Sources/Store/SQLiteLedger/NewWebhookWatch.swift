// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import GRDB

/// Notices that a transaction has stored messages to webhook endpoints.
///
/// Several functions store such messages, each in a transaction of its own. The database itself reports each commit, so
/// that none of these functions can forget to wake the sender.
final class NewWebhookWatch: TransactionObserver, Sendable {
  private struct State {
    var notify: (@Sendable () -> Void)?
    var hasNew = false
  }

  private let state = Locked(State())

  var notify: (@Sendable () -> Void)? {
    get { state.withLock { $0.notify } }
    set { state.withLock { $0.notify = newValue } }
  }

  func observes(eventsOfKind kind: DatabaseEventKind) -> Bool {
    if case .insert(let table) = kind { table == "webhooks" } else { false }
  }

  func databaseDidChange(with event: DatabaseEvent) {
    state.withLock { $0.hasNew = true }
    stopObservingDatabaseChangesUntilNextTransaction()
  }

  func databaseDidCommit(_ database: Database) {
    let notify = state.withLock { state -> (@Sendable () -> Void)? in
      defer { state.hasNew = false }
      return state.hasNew ? state.notify : nil
    }
    notify?()
  }

  func databaseDidRollback(_ database: Database) { state.withLock { $0.hasNew = false } }
}
