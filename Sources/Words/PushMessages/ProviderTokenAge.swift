// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The age of a provider token, and the rule for when the next token is made.
///
/// APNs refuses tokens that are older than 60 minutes, and senders that make tokens more often than every 20 minutes.
/// The age is measured by a clock that nobody can set. The time of day is needed for the token itself, whose field
/// `iat` must agree with Apple's clock.
public struct ProviderTokenAge: Sendable, Hashable {
  /// A reading of both clocks.
  public struct Moment: Sendable, Hashable {
    /// The time of day, which an administrator or a time server may set.
    public var date: Date
    /// The time since a fixed moment by `ContinuousClock`, which is never set and goes on while the machine sleeps.
    public var elapsed: Duration

    public init(date: Date, elapsed: Duration) {
      self.date = date
      self.elapsed = elapsed
    }
  }

  /// What to do after APNs answered that a token is too old.
  public enum Renewal: Sendable, Hashable {
    /// A newer token exists: the push is sent again with it.
    case useCurrent
    case makeNew
    /// The token is young, so the clock of this machine is wrong. A new token is allowed after the wait.
    case wait(Duration)
  }

  /// The smallest age at which a token may be replaced.
  public static let least: Duration = .seconds(20 * 60)
  /// The age at which a token is replaced. It is far from both limits, so neither a slow clock nor a slow request makes
  /// a token reach a limit.
  public static let usual: Duration = .seconds(40 * 60)
  /// The age at which APNs refuses a token.
  public static let most: Duration = .seconds(60 * 60)
  /// The difference between the clocks, in seconds, above which the time of day counts as set.
  public static let tolerance: TimeInterval = 5 * 60

  /// The moment at which the token was made. Its date is the token's `iat`.
  public let madeAt: Moment

  public init(madeAt: Moment) { self.madeAt = madeAt }

  /// Returns whether a new token must be made before the next push.
  ///
  /// A token is replaced after 40 minutes. If the time of day was set forward or back meanwhile, the token's issue time
  /// `iat` is wrong, so the token is replaced as soon as 20 minutes have passed.
  public func isDue(at now: Moment) -> Bool {
    let age = now.elapsed - madeAt.elapsed
    // If the clock went back, it is a different clock, for example after a restart of the machine. The age is then
    // unknown.
    guard age >= .zero else { return true }
    let wasSet = abs(now.date.timeIntervalSince(madeAt.date) - age / .seconds(1)) > Self.tolerance
    return age >= (wasSet ? Self.least : Self.usual)
  }

  /// Returns what to do after APNs answered `ExpiredProviderToken`.
  ///
  /// - Parameter refused: The age of the token with which the push was sent. Many pushes may have been sent with the
  ///   same token; only the first refusal leads to a new token.
  public func renewal(refused: ProviderTokenAge, at now: Moment) -> Renewal {
    guard refused == self else { return .useCurrent }
    let age = now.elapsed - madeAt.elapsed
    return age < .zero || age >= Self.least ? .makeNew : .wait(Self.least - age)
  }
}
