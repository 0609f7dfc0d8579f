// SPDX-License-Identifier: Apache-2.0

/// The decision whether a speech server is asked. A server that fails twice in a row rests, so that payments do not wait
/// for it: 5 s, then 10, 20, … up to 5 minutes. After each rest, one utterance is its trial.
///
/// It is a value without a clock. All times are durations since the same moment, and never decrease.
public struct SpeechServerCircuit: Sendable, Hashable {
  public enum Permission: Sendable, Hashable {
    /// The server may be asked.
    case speak
    /// The server may be asked for this one utterance, which decides whether it may be asked again.
    case trial
    /// The server is not asked before this time.
    case rest(until: Duration)
  }

  /// The state for `readyz`, metrics and the console. The names are those of the pattern (Nygard, "Release It!").
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// The server is asked.
    case closed
    /// The server rests.
    case open
    /// The rest is over, and the next utterance or the one under way is the trial.
    case halfOpen = "half_open"
  }

  /// The number of failures in a row after which the server rests.
  public static let failuresBeforeRest = 2
  public static let firstRest = Duration.seconds(5)
  public static let longestRest = Duration.seconds(300)

  /// The number of failures since the last success.
  public private(set) var failures = 0
  /// Why the latest utterance failed, as a code; nil after a success.
  public private(set) var reason: String?
  /// The time of the first failure since the last success.
  public private(set) var failingSince: Duration?
  /// The number of rests since the last success.
  private var rests = 0
  /// The time at which the rest ends; nil if the server does not rest.
  private var restEnds: Duration?
  /// The time at which a trial counts as lost, if one is under way.
  private var trialEnds: Duration?

  /// The longest time of a trial. A trial of which nothing is heard does not keep the server resting for ever.
  private let longestTrial: Duration

  public init(longestTrial: Duration) { self.longestTrial = longestTrial }

  /// Returns whether the server may be asked now. After `speak` and `trial`, call ``succeeded()``,
  /// ``failed(reason:at:)`` or ``abandoned()``.
  public mutating func permission(at now: Duration) -> Permission {
    guard let restEnds else { return .speak }
    if now < restEnds { return .rest(until: restEnds) }
    if let trialEnds, now < trialEnds { return .rest(until: trialEnds) }
    trialEnds = now + longestTrial
    return .trial
  }

  /// Records that the server has spoken.
  public mutating func succeeded() { self = SpeechServerCircuit(longestTrial: longestTrial) }

  /// Records that the server has failed.
  ///
  /// - Parameter reason: A code, such as ``SpeechServerError/reason``.
  public mutating func failed(reason: String, at now: Duration) {
    failures += 1
    self.reason = reason
    failingSince = failingSince ?? now
    // Utterances that were under way when the rest began do not make it longer.
    if let restEnds, now < restEnds { return }
    guard restEnds != nil || failures >= Self.failuresBeforeRest else { return }
    let rest = Self.firstRest * (1 << min(rests, 6))
    rests += 1
    restEnds = now + min(rest, Self.longestRest)
    trialEnds = nil
  }

  /// Records that an utterance ended without saying anything about the server, for example because it was cancelled.
  public mutating func abandoned() { trialEnds = nil }

  /// Returns the state at a time.
  public func state(at now: Duration) -> State {
    guard let restEnds else { return .closed }
    return now < restEnds ? .open : .halfOpen
  }

  /// Returns how long the server still rests; nil if it does not.
  public func rest(at now: Duration) -> Duration? {
    guard let restEnds, now < restEnds else { return nil }
    return restEnds - now
  }
}
