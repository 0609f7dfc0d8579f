// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The rule for work that was under way when the process ended: a webhook message, a push, a batch, or an announcement
/// that was being rendered or played.
///
/// Work that two crashes in a row interrupted may itself have caused them. Such work is set aside: other work continues
/// without it, and it is tried later, alone. An ordered stop does not count as a crash. A power cut does, because the
/// two look the same.
public enum InterruptedWork {
  /// The number of interrupted starts after which work is set aside.
  public static let patience = 2

  /// The pause between two items of work that were set aside, in seconds. Each of these items is done alone, and other
  /// work is done in the pause.
  public static let rest: TimeInterval = 60

  /// The delay in seconds after which work that was set aside is done even if other work is waiting.
  public static let longestDelay: TimeInterval = 600

  /// Returns how many of the items that one crash interrupted may be done at the same time: one in 64, but at least
  /// one. If a second crash follows, only a few items that did not cause it are set aside. The other items are delayed
  /// by at most 64 attempts.
  public static func mostSuspects(of count: Int) -> Int { max(1, count / 64) }

  /// Returns how long work is set aside after the process has started, in seconds: ten minutes, then an hour, then six
  /// hours each time. Nil for work that is not set aside.
  ///
  /// - Parameters:
  ///   - starts: The number of times that the work was begun since it last came to an end.
  ///   - isHeard: Whether the work is an announcement for the loudspeaker. After two crashes, such work only waits
  ///     until the other announcements have been played, so that a shop whose power fails twice does not hear a payment
  ///     ten minutes late. After more crashes, it starts half a minute before other kinds of work, so that their
  ///     crashes do not interrupt it.
  public static func pause(afterStarts starts: Int, isHeard: Bool = false) -> TimeInterval? {
    let pauses: [TimeInterval] = isHeard ? [0, 570, 3_570, 21_570] : [600, 3_600, 21_600]
    return starts < patience ? nil : pauses[min(starts - patience, pauses.count - 1)]
  }
}

/// Items of work that are set aside, each with the earliest moment at which it may be done. The type has no clock; the
/// caller passes the time.
public struct SetAsideWork<Item: Sendable, Moment: Comparable & Sendable>: Sendable {
  /// The items, soonest first.
  private var items: [(item: Item, moment: Moment)] = []

  public init() {}

  public var count: Int { items.count }
  /// The items, soonest first.
  public var all: [Item] { items.map(\.item) }
  /// The moment at which the next item may be done; nil if there is none.
  public var nextMoment: Moment? { items.first?.moment }

  /// Returns the lowest of the items' values; nil if there is no item.
  public func earliest<Value: Comparable>(_ value: (Item) -> Value) -> Value? { items.map { value($0.item) }.min() }

  public mutating func add(_ item: Item, until moment: Moment) {
    let index = items.firstIndex { $0.moment > moment } ?? items.endIndex
    items.insert((item, moment), at: index)
  }

  /// Removes and returns the next item if its moment has come.
  public mutating func next(at now: Moment) -> Item? {
    guard let moment = nextMoment, moment <= now else { return nil }
    return items.removeFirst().item
  }

  /// Removes and returns all items that meet a condition.
  public mutating func remove(where isMet: (Item) -> Bool) -> [Item] {
    let removed = items.map(\.item).filter(isMet)
    items.removeAll { isMet($0.item) }
    return removed
  }
}

extension Ledger {
  /// The numbers of unfinished deliveries that are set aside; see ``InterruptedWork``.
  public struct SetAsideCounts: Sendable, Hashable {
    public var announcements = 0
    public var pushes = 0
    public var webhooks = 0
    /// Payments that providers have reported, and that are not announced yet.
    public var providerPayments = 0
    /// The number of batches. A ledger in a file does not know them.
    public var batches = 0

    public var total: Int { announcements + pushes + webhooks + providerPayments + batches }

    public init(
      announcements: Int = 0, pushes: Int = 0, webhooks: Int = 0, providerPayments: Int = 0, batches: Int = 0
    ) {
      (self.announcements, self.pushes, self.webhooks) = (announcements, pushes, webhooks)
      (self.providerPayments, self.batches) = (providerPayments, batches)
    }
  }
}
