// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import HTTPTypes

/// The slots for responses that stay open. Their number is limited for each account and for all accounts together.
final class StreamSlots: Sendable {
  /// A slot that is occupied until it is freed or deallocated.
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
  ///   - what: The name of the responses in errors, in the plural.
  ///   - most: The maximum number for all accounts together.
  ///   - mostOfOne: The maximum number for one account.
  init(_ what: String, most: Int, mostOfOne: Int) {
    self.what = what
    self.most = most
    self.mostOfOne = mostOfOne
  }

  /// The number of occupied slots.
  var count: Int { taken.withLock { $0.values.reduce(0, +) } }

  /// Takes a slot for an account.
  ///
  /// - Throws: ``Problem`` with 429 `account_busy` if the account has reached its maximum, or 503 `busy` if all slots
  ///   are occupied.
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
    case .account:
      throw .accountBusy("The account has reached its limit of open \(what), which is \(mostOfOne)", retryAfter: 15)
    case .all:
      throw Problem(
        .serviceUnavailable, "busy", "The service has reached its limit of open \(what). Try again in a moment.",
        retryAfter: 15)
    }
  }

  private func give(_ account: String) {
    taken.withLock { taken in
      taken[account, default: 1] -= 1
      if taken[account] == 0 { taken[account] = nil }
    }
  }
}
