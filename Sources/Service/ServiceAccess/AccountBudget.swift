// SPDX-License-Identifier: Apache-2.0

/// The limits of the work that one account may cause. They complement ``RateLimit``, which limits requests, because one
/// request can be a list of a hundred thousand clips.
public struct WorkLimits: Sendable, Hashable {
  /// The number of new clips that may be made at the same time.
  public var clipsAtOnce = 32
  /// The maximum number of new clips in 24 hours.
  public var clipsADay = 20_000
  /// The maximum number of bytes of new clips in 24 hours.
  public var bytesADay = 4 << 30
  /// The number of event streams that may be open at the same time.
  public var eventStreams = 25
  /// The number of streams of a batch's progress that may be open at the same time.
  public var batchStreams = 10
  /// The number of batches that may run or wait at the same time.
  public var batches = 4

  public init() {}
}

/// An amount that may be used within 24 hours, all at once or in parts. Used amounts become available again evenly, and
/// completely within 24 hours.
///
/// A pure value. The caller passes the time of any clock that does not run backwards.
public struct DailyAllowance: Sendable, Hashable {
  static let day: Duration = .seconds(86_400)

  public let amount: Int
  /// The time from which nothing counts as used; nil when nothing was ever used.
  private var freeAt: Duration?

  /// Creates an unused allowance.
  ///
  /// - Parameter amount: The amount for 24 hours, at least 1.
  public init(_ amount: Int) {
    // Not from outside: the settings refuse a limit below 1.
    precondition(amount > 0, "An allowance must be above zero; otherwise it never comes back.")
    self.amount = amount
  }

  /// Uses part of the allowance. The allowance can be overdrawn, because the size of some work is known only when it is
  /// done.
  public mutating func use(_ count: Int, at now: Duration) {
    freeAt = now + used(at: now) + Self.day * count / amount
  }

  /// Gives back a used amount that was not needed.
  public mutating func giveBack(_ count: Int, at now: Duration) {
    freeAt = now + max(.zero, used(at: now) - Self.day * count / amount)
  }

  /// Returns the time until one more unit may be used; zero when it may be used now.
  ///
  /// - Parameter kept: The part of the amount that must stay free for other purposes.
  public func wait(at now: Duration, keeping kept: Int = 0) -> Duration {
    max(.zero, used(at: now) + Self.day * (1 + kept) / amount - Self.day)
  }

  /// The part of the amount that lists may not use, because it is reserved for announcements: a fifth of the amount,
  /// rounded up, but 0 when the amount is 1.
  public var keptForAnnouncements: Int { amount - max(1, amount / 5 * 4 + amount % 5 * 4 / 5) }

  /// Returns the amount that counts as used, rounded up.
  public func count(at now: Duration) -> Int {
    let product = used(at: now).attoseconds * Int128(amount)
    let (quotient, rest) = product.quotientAndRemainder(dividingBy: Self.day.attoseconds)
    return Int(quotient + (rest > 0 ? 1 : 0))
  }

  /// Returns the used amount, expressed as the time until the whole budget is available again.
  private func used(at now: Duration) -> Duration { freeAt.map { max(.zero, $0 - now) } ?? .zero }
}

/// The work that one account has caused, and whether it may cause more: new clips and their size on the disk.
///
/// A pure value; the caller passes the time. Existing clips cost nothing and are not counted here.
public struct AccountBudget: Sendable, Hashable {
  /// The purpose of a new clip.
  public enum Purpose: Sendable, Hashable {
    /// An announcement, which may use the whole daily allowance.
    case announcement
    /// A row of a list. Lists leave ``DailyAllowance/keptForAnnouncements`` free, so that they never cause a payment to
    /// be refused.
    case list
  }

  /// The reason why a new clip is refused.
  public enum Shortage: Sendable, Hashable {
    /// The account has reached its limit of clips that are made at the same time.
    case clipsAtOnce
    /// The account has used its daily allowance. Part of the allowance is available again after this time.
    case day(Duration)
  }

  /// The used part of a daily allowance, as it is stored across restarts.
  public struct Use: Sendable, Hashable, Codable {
    public var clips: Int
    public var bytes: Int

    public init(clips: Int, bytes: Int) {
      self.clips = clips
      self.bytes = bytes
    }
  }

  /// The number of new clips that are being made.
  public private(set) var underWay = 0
  private let atOnce: Int
  private var clips: DailyAllowance
  private var bytes: DailyAllowance

  /// Creates the budget of an account.
  ///
  /// - Parameters:
  ///   - limits: The limits of the account.
  ///   - used: The use that an earlier run of the service counted. It is capped at the limits, which may have been
  ///     higher then, so that no account waits longer than a day.
  ///   - moment: The time of that count, by the clock of `begin` and `end`. It is negative for a time before the
  ///     clock's zero.
  public init(_ limits: WorkLimits, used: Use = Use(clips: 0, bytes: 0), at moment: Duration = .zero) {
    atOnce = limits.clipsAtOnce
    clips = DailyAllowance(limits.clipsADay)
    bytes = DailyAllowance(limits.bytesADay)
    clips.use(min(max(0, used.clips), clips.amount), at: moment)
    bytes.use(min(max(0, used.bytes), bytes.amount), at: moment)
  }

  /// Takes a new clip from the budget.
  ///
  /// - Returns: The reason why the clip may not be made; nil when it may be made. After a nil, the caller must call
  ///   ``end(bytes:at:)`` later.
  public mutating func begin(_ purpose: Purpose = .announcement, at now: Duration) -> Shortage? {
    func wait(_ allowance: DailyAllowance) -> Duration {
      allowance.wait(at: now, keeping: purpose == .list ? allowance.keptForAnnouncements : 0)
    }
    let wait = max(wait(clips), wait(bytes))
    if wait > .zero { return .day(wait) }
    guard underWay < atOnce else { return .clipsAtOnce }
    underWay += 1
    clips.use(1, at: now)
    return nil
  }

  /// Ends a clip that was begun.
  ///
  /// - Parameter size: The clip's size in bytes; 0 for work that failed but still counts; nil for work that does not
  ///   count.
  public mutating func end(bytes size: Int?, at now: Duration) {
    underWay -= 1
    if let size { bytes.use(size, at: now) } else { clips.giveBack(1, at: now) }
  }

  /// Returns the amounts that count as used.
  public func use(at now: Duration) -> Use { Use(clips: clips.count(at: now), bytes: bytes.count(at: now)) }

  /// Returns whether the budget equals a new one, so that it can be discarded.
  public func isUnused(at now: Duration) -> Bool { underWay == 0 && use(at: now) == Use(clips: 0, bytes: 0) }
}
