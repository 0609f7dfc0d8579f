// SPDX-License-Identifier: Apache-2.0

/// How much work one account may have done. Requests are limited by ``RateLimit``: one of them may be a list of a hundred
/// thousand clips.
public struct WorkLimits: Sendable, Hashable {
  /// New clips that are being made at once.
  public var clipsAtOnce = 32
  /// New clips in 24 hours.
  public var clipsADay = 20_000
  /// Bytes of new clips in 24 hours.
  public var bytesADay = 4 << 30
  /// Streams of events that are open at once.
  public var eventStreams = 25
  /// Streams of a batch's progress that are open at once.
  public var batchStreams = 10
  /// Batches that run or wait at once.
  public var batches = 4

  public init() {}
}

/// An amount that may be used within 24 hours, at once or bit by bit. What was used comes back evenly, all of it within
/// 24 hours.
///
/// A pure value. Its time is of any clock that does not run backwards.
public struct DailyAllowance: Sendable, Hashable {
  static let day: Duration = .seconds(86_400)

  public let amount: Int
  /// When nothing counts as used any more; nil when nothing ever was used.
  private var freeAt: Duration?

  /// An allowance that is not used.
  ///
  /// - Parameter amount: at least 1.
  public init(_ amount: Int) {
    precondition(amount > 0, "An allowance of nothing never comes back.")
    self.amount = amount
  }

  /// Takes from it. It may be overdrawn, for what is known only when it is done.
  public mutating func use(_ count: Int, at now: Duration) {
    freeAt = now + used(at: now) + Self.day * count / amount
  }

  /// Puts back what was taken and is not needed.
  public mutating func giveBack(_ count: Int, at now: Duration) {
    freeAt = now + max(.zero, used(at: now) - Self.day * count / amount)
  }

  /// The time until one more may be used; zero when it may at once.
  ///
  /// - Parameter kept: so much of the amount is to be left for others.
  public func wait(at now: Duration, keeping kept: Int = 0) -> Duration {
    max(.zero, used(at: now) + Self.day * (1 + kept) / amount - Self.day)
  }

  /// As much as is kept for announcements, which lists may not use: a fifth, but never the only one there is.
  public var keptForAnnouncements: Int { amount - max(1, amount / 5 * 4 + amount % 5 * 4 / 5) }

  /// As many count as used, rounded up.
  public func count(at now: Duration) -> Int {
    let product = used(at: now).attoseconds * Int128(amount)
    let (quotient, rest) = product.quotientAndRemainder(dividingBy: Self.day.attoseconds)
    return Int(quotient + (rest > 0 ? 1 : 0))
  }

  /// What is used, as the time in which it comes back.
  private func used(at now: Duration) -> Duration { freeAt.map { max(.zero, $0 - now) } ?? .zero }
}

/// What one account has had done, and whether it may have more: new clips, and what they take on the disk.
///
/// A pure value, with the time passed in. Clips that stand already cost nothing and are not asked for here.
public struct AccountBudget: Sendable, Hashable {
  /// What a new clip is for.
  public enum Purpose: Sendable, Hashable {
    /// An announcement, which may use the whole day.
    case announcement
    /// A row of a list. Lists leave ``DailyAllowance/keptForAnnouncements``: a payment is not to be refused for them.
    case list
  }

  /// Why a new clip is refused.
  public enum Shortage: Sendable, Hashable {
    /// As many of the account's clips as may be are being made.
    case clipsAtOnce
    /// The account has used what it may use in a day; some of it comes back after this time.
    case day(Duration)
  }

  /// What was used of a day, as it is kept over a restart.
  public struct Use: Sendable, Hashable, Codable {
    public var clips: Int
    public var bytes: Int

    public init(clips: Int, bytes: Int) {
      self.clips = clips
      self.bytes = bytes
    }
  }

  /// New clips that are being made.
  public private(set) var underWay = 0
  private let atOnce: Int
  private var clips: DailyAllowance
  private var bytes: DailyAllowance

  /// - Parameters:
  ///   - used: what a former service counted. Of more than the limits allow, which may have been larger then, the limits
  ///     count: no account waits for longer than a day.
  ///   - moment: when it did, by the clock of `begin` and `end`; before zero for what was before its beginning.
  public init(_ limits: WorkLimits, used: Use = Use(clips: 0, bytes: 0), at moment: Duration = .zero) {
    atOnce = limits.clipsAtOnce
    clips = DailyAllowance(limits.clipsADay)
    bytes = DailyAllowance(limits.bytesADay)
    clips.use(min(max(0, used.clips), clips.amount), at: moment)
    bytes.use(min(max(0, used.bytes), bytes.amount), at: moment)
  }

  /// Takes a new clip from the budget.
  ///
  /// - Returns: why it may not be made; nil when it may, and then ``end(bytes:at:)`` is to be called.
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

  /// A clip that was begun has ended.
  ///
  /// - Parameter size: in bytes, 0 for work that came to nothing and is to be paid; nil when it costs nothing.
  public mutating func end(bytes size: Int?, at now: Duration) {
    underWay -= 1
    if let size { bytes.use(size, at: now) } else { clips.giveBack(1, at: now) }
  }

  /// What counts as used.
  public func use(at now: Duration) -> Use { Use(clips: clips.count(at: now), bytes: bytes.count(at: now)) }

  /// Whether it is as good as a new one, so that it may be forgotten.
  public func isUnused(at now: Duration) -> Bool { underWay == 0 && use(at: now) == Use(clips: 0, bytes: 0) }
}
