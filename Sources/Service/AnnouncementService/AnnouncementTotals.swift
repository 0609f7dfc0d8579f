// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Ledger
public import WeeklyTimes

/// The counts and the exact sums of amounts, in groups. It stores the groups, and not the amounts.
public struct AnnouncementTotals: Sendable {
  /// A property that all amounts of a group share.
  public enum Key: String, Sendable, Hashable, CaseIterable {
    case currency
    case kind
    case hour
  }

  public struct Group: Sendable, Hashable {
    /// The ISO 4217 code of the currency; nil if the groups are not divided by currency. Likewise, the kind and the
    /// hour are nil if the groups are not divided by them.
    public var currency: String?
    public var kind: String?
    /// The beginning of the hour on the clock of the time zone.
    public var hour: Date?
  }

  public struct Total: Sendable, Hashable {
    public fileprivate(set) var count = 0
    /// The sum of the amounts; nil if the groups are not divided by currency.
    public fileprivate(set) var sum: DecimalSum?
    /// The latest time of acceptance.
    public fileprivate(set) var lastAt: Date
  }

  /// The maximum number of groups. It is enough for each hour of a year (8,784) in one currency and of one kind.
  public static let mostGroups = 10_000

  public let keys: Set<Key>
  public let clock: LocalClock
  private var totals: [Group: Total] = [:]
  /// The minute of the last amount, and the hour of that minute. The hour is looked up only once for each minute,
  /// because amounts come in the order of time, and an hour begins with a minute.
  private var lastHour: (minute: Double, hour: Date)?
  /// Whether there are more groups than ``mostGroups``. The totals are then incomplete.
  public private(set) var isTooLong = false
  /// Whether an amount could not be read, for example in a damaged ledger.
  public private(set) var isUnreadable = false

  public init(by keys: Set<Key>, clock: LocalClock) { (self.keys, self.clock) = (keys, clock) }

  /// Adds an amount. A test of a provider's endpoint is a payment that was never made, and does not count.
  ///
  /// - Returns: Whether more amounts may be added.
  public mutating func add(_ amount: Ledger.StoredAmount) -> Bool {
    if amount.id.contains(ProviderPayments.testMark) { return true }
    let group = Group(
      currency: keys.contains(.currency) ? amount.currency : nil, kind: keys.contains(.kind) ? amount.kind : nil,
      hour: keys.contains(.hour) ? hour(of: amount.acceptedAt) : nil)
    var total = totals[group] ?? Total(sum: keys.contains(.currency) ? DecimalSum() : nil, lastAt: amount.acceptedAt)
    total.count += 1
    total.lastAt = max(total.lastAt, amount.acceptedAt)
    if total.sum?.add(amount.value) == false { isUnreadable = true }
    totals[group] = total
    isTooLong = totals.count > Self.mostGroups
    return !isTooLong && !isUnreadable
  }

  private mutating func hour(of moment: Date) -> Date {
    let minute = (moment.timeIntervalSince1970 / 60).rounded(.down)
    if let lastHour, lastHour.minute == minute { return lastHour.hour }
    let hour = clock.hour(of: moment)
    lastHour = (minute, hour)
    return hour
  }

  /// The groups, by hour, currency and kind.
  public var groups: [(group: Group, total: Total)] {
    totals.map { ($0.key, $0.value) }.sorted { Self.order($0.group) < Self.order($1.group) }
  }

  private static func order(_ group: Group) -> (Date, String, String) {
    (group.hour ?? .distantPast, group.currency ?? "", group.kind ?? "")
  }
}

/// An exact sum of decimal numbers.
public struct DecimalSum: Sendable, Hashable, CustomStringConvertible {
  /// The sum in units of the last decimal digit.
  private var units: Int128 = 0
  /// The number of decimal digits.
  private var digits = 0

  public init() {}

  /// Adds a number above zero, such as 12.50.
  ///
  /// - Returns: False if the text is not such a number, or if the sum has more than 38 digits. Nothing was added then.
  public mutating func add(_ text: String) -> Bool {
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), parts.allSatisfy({ !$0.isEmpty }) else { return false }
    var sum = DecimalSum()
    sum.digits = parts.count == 2 ? parts[1].count : 0
    for digit in parts.joined() {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit),
        sum.shift(adding: Int128(digit - UInt8(ascii: "0")))
      else { return false }
    }
    var total = self
    while sum.digits < total.digits { if !sum.widen() { return false } }
    while total.digits < sum.digits { if !total.widen() { return false } }
    let (units, isTooLarge) = total.units.addingReportingOverflow(sum.units)
    guard !isTooLarge else { return false }
    total.units = units
    self = total
    return true
  }

  private mutating func widen() -> Bool {
    digits += 1
    return shift(adding: 0)
  }

  private mutating func shift(adding digit: Int128) -> Bool {
    let (shifted, isTooLarge) = units.multipliedReportingOverflow(by: 10)
    let (sum, isStillTooLarge) = shifted.addingReportingOverflow(digit)
    units = sum
    return !isTooLarge && !isStillTooLarge
  }

  /// The sum as decimal text, with as many decimal digits as the number that has the most.
  public var description: String {
    let text = String(units)
    let padded = String(repeating: "0", count: max(0, digits + 1 - text.count)) + text
    return digits == 0 ? padded : "\(padded.dropLast(digits)).\(padded.suffix(digits))"
  }
}
