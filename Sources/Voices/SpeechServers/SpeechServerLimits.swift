// SPDX-License-Identifier: Apache-2.0

/// The limits on one answer of a speech server. Whatever the server does, an answer takes no more time and no more
/// memory than these limits allow.
public struct SpeechServerLimits: Sendable, Hashable {
  /// The longest time for opening the connection, counted from the start of the attempt.
  public var connect: Duration
  /// The longest time from the call to the first byte of sound.
  public var firstSound: Duration
  /// The longest time from the call to the end of the sound, including the wait for earlier words.
  public var whole: Duration

  /// The largest answer, in bytes of sound and of everything around it. A description of the server's voices has the
  /// same limit.
  public var mostBytes = 8 << 20
  /// The longest sound, in seconds. A clip has less than 30 s.
  public var mostSeconds = 31
  /// The largest line of JSON before a sound, and the largest head of an HTTP answer, in bytes.
  public var mostHeaderBytes = 64 << 10
  /// The accepted sample rates, in Hz.
  public var sampleRates = 8_000...48_000
  /// The accepted numbers of channels. The sound is the mean of its channels.
  public var channels = 1...2

  /// - Parameters:
  ///   - whole: The time within which the server must have spoken. Otherwise another voice speaks.
  ///   - firstSound: The time limit for the first byte of sound; nil for the value of `whole`. Many servers send no
  ///     sound before they have made all of it.
  ///   - connect: The time limit for opening the connection; nil for 500 ms, or for `whole` if that is shorter.
  public init(whole: Duration = .milliseconds(1_500), firstSound: Duration? = nil, connect: Duration? = nil) {
    self.whole = whole
    self.firstSound = min(firstSound ?? whole, whole)
    self.connect = min(connect ?? .milliseconds(500), whole)
  }
  /// Returns the limits with all times multiplied by a factor, for work that no user waits for. The other limits stay
  /// the same.
  package func lengthened(by factor: Int) -> SpeechServerLimits {
    var limits = self
    (limits.connect, limits.firstSound, limits.whole) = (connect * factor, firstSound * factor, whole * factor)
    return limits
  }
}
