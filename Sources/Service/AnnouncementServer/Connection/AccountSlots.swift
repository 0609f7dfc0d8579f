// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import HTTPTypes

/// The slots for resources that the service holds for a while, such as responses that stay open. The number of slots is
/// limited for each account and for all accounts together.
final class AccountSlots: Sendable {
  /// A slot that is occupied until it is freed or deallocated.
  final class Slot: Sendable {
    private let slots: AccountSlots
    private let account: String
    private let isFree = Locked(false)

    fileprivate init(_ slots: AccountSlots, _ account: String) {
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

  private let most: Int
  private let mostOfOne: Int
  private let accountBusy: Problem
  private let busy: Problem
  private let taken = Locked<[String: Int]>([:])

  /// - Parameters:
  ///   - most: The maximum number for all accounts together.
  ///   - mostOfOne: The maximum number for one account.
  ///   - accountBusy: The answer to an account that has reached its maximum.
  ///   - busy: The answer if all slots are occupied.
  init(most: Int, mostOfOne: Int, accountBusy: Problem, busy: Problem) {
    (self.most, self.mostOfOne, self.accountBusy, self.busy) = (most, mostOfOne, accountBusy, busy)
  }

  /// Makes the slots for responses that stay open.
  ///
  /// - Parameter what: The name of the responses in errors, in the plural.
  convenience init(_ what: String, most: Int, mostOfOne: Int) {
    self.init(
      most: most, mostOfOne: mostOfOne,
      accountBusy: .accountBusy(
        "The account has reached its limit of open \(what), which is \(mostOfOne)", retryAfter: 15),
      busy: Problem(
        .serviceUnavailable, "busy", "The service has reached its limit of open \(what). Try again in a moment.",
        retryAfter: 15))
  }

  /// The number of occupied slots.
  var count: Int { taken.withLock { $0.values.reduce(0, +) } }

  /// Takes a slot for an account.
  ///
  /// - Throws: The ``Problem`` for an account that has reached its maximum, or the one for the case that all slots are
  ///   occupied.
  func take(_ account: String) throws(Problem) -> Slot {
    let refusal: Problem? = taken.withLock { taken in
      if taken[account, default: 0] >= mostOfOne { return accountBusy }
      if taken.values.reduce(0, +) >= most { return busy }
      taken[account, default: 0] += 1
      return nil
    }
    if let refusal { throw refusal }
    return Slot(self, account)
  }

  private func give(_ account: String) {
    taken.withLock { taken in
      taken[account, default: 1] -= 1
      if taken[account] == 0 { taken[account] = nil }
    }
  }
}
