// SPDX-License-Identifier: Apache-2.0

/// A circuit breaker: it decides whether a speech server may be asked. After two failures in a row the server rests, so
/// that payments do not wait for it. The rests take 5 s, then 10 s, 20 s and so on, up to 5 minutes. After each rest,
/// one utterance is the trial of the server.
///
/// It uses no clock. All times are durations since the same moment, and never decrease.
public struct SpeechServerCircuit: Sendable, Hashable {
  public enum Permission: Sendable, Hashable {
    /// The server may be asked.
    case speak
    /// The server may be asked for this one utterance, which decides whether it may be asked again.
    case trial
    /// The server is not asked before this time.
    case rest(until: Duration)
  }

  /// The state for `readyz`, metrics and the console. The names come from the circuit breaker pattern (Nygard, "Release
  /// It!").
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// The server is asked.
    case closed
    /// The server rests.
    case open
    /// The rest is over. The trial is in progress, or the next utterance is the trial.
    case halfOpen = "half_open"
  }

  /// The number of failures in a row after which the server rests.
  public static let failuresBeforeRest = 2
  public static let firstRest = Duration.seconds(5)
  public static let longestRest = Duration.seconds(300)

  /// The number of failures since the last success.
  public private(set) var failures = 0
  /// The code of the reason why the latest utterance failed; nil after a success.
  public private(set) var reason: String?
  /// The time of the first failure since the last success.
  public private(set) var failingSince: Duration?
  /// The number of rests since the last success.
  private var rests = 0
  /// The time at which the rest ends; nil if the server does not rest.
  private var restEnds: Duration?
  /// The time at which a trial counts as lost, if one is under way.
  private var trialEnds: Duration?

  /// The longest time of a trial. Without this limit, a trial that never reports its result would keep the server
  /// resting forever.
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
    // Utterances that were already in progress when the rest began do not extend it.
    if let restEnds, now < restEnds { return }
    guard restEnds != nil || failures >= Self.failuresBeforeRest else { return }
    let rest = Self.firstRest * (1 << min(rests, 6))
    rests += 1
    restEnds = now + min(rest, Self.longestRest)
    trialEnds = nil
  }

  /// Records that an utterance ended without showing whether the server works, for example because it was cancelled.
  public mutating func abandoned() { trialEnds = nil }

  /// Returns the state at a time.
  public func state(at now: Duration) -> State {
    guard let restEnds else { return .closed }
    return now < restEnds ? .open : .halfOpen
  }

  /// Returns the remaining time of the rest; nil if the server does not rest.
  public func rest(at now: Duration) -> Duration? {
    guard let restEnds, now < restEnds else { return nil }
    return restEnds - now
  }
}
