// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import HTTPTypes

/// Slots for answers that stay open: so many for each account, and so many in all.
final class StreamSlots: Sendable {
  /// A slot that is taken until it is freed, or nobody has it any more.
  final class Slot: Sendable {
    private let slots: StreamSlots
    private let account: String
    private let isFree = Locked(false)

    fileprivate init(_ slots: StreamSlots, _ account: String) {
      self.slots = slots
      self.account = account
    }

    deinit { free() }

    func free() {
      let wasFree = isFree.withLock { isFree in
        defer { isFree = true }
        return isFree
      }
      if !wasFree { slots.give(account) }
    }
  }

  private let what: String
  private let most: Int
  private let mostOfOne: Int
  private let taken = Locked<[String: Int]>([:])

  /// - Parameters:
  ///   - what: what they are called in errors, in the plural.
  ///   - most: of all accounts together.
  ///   - mostOfOne: of one account.
  init(_ what: String, most: Int, mostOfOne: Int) {
    self.what = what
    self.most = most
    self.mostOfOne = mostOfOne
  }

  /// How many are taken.
  var count: Int { taken.withLock { $0.values.reduce(0, +) } }

  /// - Throws: ``Problem``: 429 `account_busy` when the account has as many as it may, 503 `busy` when all are taken.
  func take(_ account: String) throws(Problem) -> Slot {
    enum Shortage { case account, all }
    let shortage: Shortage? = taken.withLock { taken in
      if taken[account, default: 0] >= mostOfOne { return .account }
      if taken.values.reduce(0, +) >= most { return .all }
      taken[account, default: 0] += 1
      return nil
    }
    switch shortage {
    case nil: return Slot(self, account)
    case .account: throw .accountBusy("The account has \(mostOfOne) \(what) open", retryAfter: 15)
    case .all:
      throw Problem(.serviceUnavailable, "busy", "\(most) \(what) are open: try again in a moment.", retryAfter: 15)
    }
  }

  private func give(_ account: String) {
    taken.withLock { taken in
      taken[account, default: 1] -= 1
      if taken[account] == 0 { taken[account] = nil }
    }
  }
}
