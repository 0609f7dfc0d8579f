// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Ledger
import ServiceAccess

/// The recent use of the keys: the state of each key's rate limit, and the times of use that are not yet in the ledger.
final class KeyUse: Sendable {
  private struct State {
    /// The rate limit of each key, by the id of the key.
    var buckets: [String: TokenBucket] = [:]
    var usedAt: [String: Date] = [:]
  }

  private let state = Locked(State())

  /// Counts one request towards a caller's rate limit.
  ///
  /// - Parameters:
  ///   - now: The time since an arbitrary origin.
  ///   - date: The calendar time, for lists of keys.
  func admit(_ caller: Caller, at now: Duration, date: Date) -> RateLimitDecision {
    state.withLock { state in
      var bucket = state.buckets[caller.keyID] ?? TokenBucket(caller.limit)
      if bucket.limit != caller.limit { bucket = TokenBucket(caller.limit) }
      let decision = bucket.take(at: now)
      state.buckets[caller.keyID] = bucket
      state.usedAt[caller.keyID] = date
      return decision
    }
  }

  /// Undoes the counting of a request.
  func giveBack(_ caller: Caller, at now: Duration) {
    state.withLock { $0.buckets[caller.keyID]?.giveBack(at: now) }
  }

  /// Stores in the ledger the times at which keys were used since the last call, and drops the rate limits of idle
  /// keys.
  func record(in ledger: any Ledger.KeyStore, at now: Duration) async {
    let usedAt = state.withLock { state in
      defer { state.usedAt = [:] }
      state.buckets = state.buckets.filter { !$0.value.isFull(at: now) }
      return state.usedAt
    }
    // The time of use is only shown in lists of keys, so a failed write is ignored.
    try? await ledger.recordUse(ofKeys: usedAt)
  }
}
