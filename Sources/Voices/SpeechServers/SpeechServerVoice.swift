// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
public import HostAddresses
public import Waveforms

/// A speech server as a voice. It asks the server unless the server rests, and checks the sound.
///
/// A failure always results in an error within the time limit. The caller then lets another voice speak, and reports
/// ``SpeechServerError/reason`` as the `fallback`.
public final class SpeechServerVoice: Sendable {
  /// The state of a voice, for `readyz`, metrics, the console and the doctor.
  public struct Status: Sendable, Hashable {
    public var id: String
    /// The line that identifies the voice of the server, from the server's last description; nil if the server has not
    /// answered yet, or has failed since.
    public var identity: String?
    public var state: SpeechServerCircuit.State
    /// The failures since the last success.
    public var failures: Int
    /// The code of the reason why the latest utterance failed; nil after a success.
    public var reason: String?
    /// The remaining time of the rest; nil if the server does not rest.
    public var rest: Duration?
    /// The time since the first failure; nil after a success.
    public var failingFor: Duration?
  }

  public var server: SpeechServer { client.server }
  private let client: SpeechServerClient
  private let circuit: Locked<SpeechServerCircuit>
  private let knownIdentity = Locked<(text: String, at: Duration)?>(nil)
  private let now: @Sendable () -> Duration

  /// The time for which the description of a server is cached.
  public static let identityLifetime = Duration.seconds(60)

  /// - Parameters:
  ///   - now: Returns the time since a fixed moment, and never decreases. By default, this moment is the creation of
  ///     the voice.
  ///   - sleep: Waits for a duration, or throws if its task is cancelled. Tests pass a clock of their own.
  /// - Throws: `keyUnusable`, `addressInvalid`.
  public init(
    _ server: SpeechServer, resolver: any HostResolving = SystemHostResolver(), now: (@Sendable () -> Duration)? = nil,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) throws(SpeechServerError) {
    client = try SpeechServerClient(server, resolver: resolver, sleep: sleep)
    circuit = Locked(SpeechServerCircuit(longestTrial: server.limits.whole * 2))
    let start = ContinuousClock.now
    self.now = now ?? { start.duration(to: .now) }
  }

  /// Returns the server's description of itself. The result of the call does not affect the circuit breaker.
  ///
  /// - Throws: ``SpeechServerError``.
  public func describe() async throws(SpeechServerError) -> SpeechServerDescription { try await client.describe() }

  /// Returns the line that identifies the voice of the server; see ``SpeechServerDescription/identity(of:)``. The
  /// server is asked at most once in ``identityLifetime``, and again after a failure.
  ///
  /// A server of OpenAI's protocol need not list its models, because its line comes from the settings.
  ///
  /// - Throws: ``SpeechServerError``; `resting` at once if the server rests. A failure counts in the circuit breaker.
  public func identity() async throws(SpeechServerError) -> String {
    let time = now()
    let permission = circuit.withLock { $0.permission(at: time) }
    if case .rest = permission { throw resting }
    // This call does not decide the trial. The utterance that follows it does.
    defer { if permission == .trial { circuit.withLock { $0.abandoned() } } }
    if let known = knownIdentity.withLock({ $0 }), time - known.at < Self.identityLifetime { return known.text }
    let text: String
    do throws(SpeechServerError) {
      text = try await client.describe().identity(of: server)
    } catch {
      guard client.appliesSpeed, [.requestRefused, .answerInvalid, .serverFailed].contains(error.code) else {
        note(error)
        throw error
      }
      text = SpeechServerDescription().identity(of: server)
    }
    knownIdentity.withLock { $0 = (text, time) }
    return text
  }

  private var resting: SpeechServerError {
    SpeechServerError(
      .resting, server: server.id, "is not asked for a while, because it failed",
      remedy: "another voice speaks; mend the server")
  }

  /// Records the failure of a call.
  private func note(_ error: SpeechServerError) {
    circuit.withLock { circuit in
      if error.isOfServer { circuit.failed(reason: error.reason, at: now()) } else { circuit.abandoned() }
    }
    // After a failure, the server may run another version of the voice.
    if error.isOfServer { knownIdentity.withLock { $0 = nil } }
  }

  public var status: Status {
    let (now, identity) = (now(), knownIdentity.withLock { $0?.text })
    return circuit.withLock { circuit in
      Status(
        id: server.id, identity: identity, state: circuit.state(at: now), failures: circuit.failures,
        reason: circuit.reason,
        rest: circuit.rest(at: now), failingFor: circuit.failingSince.map { now - $0 })
    }
  }

  /// Speaks words.
  ///
  /// - Parameters:
  ///   - speedPercent: The speaking rate in percent of the rate in the server's settings.
  ///   - lengths: The lengths that a test measured for sounds of this kind, as ratios to the expected length; nil if
  ///     there are no such measurements.
  /// - Returns: The sound, neither levelled nor trimmed, and without marks.
  /// - Throws: ``SpeechServerError``: `resting` at once if the server rests, and `soundRefused` if the sound cannot be
  ///   a reading of the words.
  public func speak(
    _ words: ReadBackWords, speedPercent: Int = 100, lengths: ClosedRange<Double>? = nil
  ) async throws(SpeechServerError) -> Waveform {
    if case .rest = circuit.withLock({ $0.permission(at: now()) }) { throw resting }
    do throws(SpeechServerError) {
      let speed = server.speedPercent * speedPercent / 100
      let sound = try await client.speak(words, speedPercent: speed)
      try judge(sound, words, client.appliesSpeed ? speed : 100, lengths)
      circuit.withLock { $0.succeeded() }
      return sound
    } catch {
      note(error)
      throw error
    }
  }

  private func judge(
    _ sound: Waveform, _ words: ReadBackWords, _ speedPercent: Int, _ lengths: ClosedRange<Double>?
  ) throws(SpeechServerError) {
    var plausibility = SoundPlausibility(pace: .of(words.language))
    if let lengths { plausibility.pace.narrow(to: lengths) }
    guard let refusal = plausibility.refusal(of: sound, saying: words.text, speedPercent: speedPercent) else { return }
    throw SpeechServerError(
      .soundRefused, server: server.id, "sent a sound that cannot belong to the words (\(refusal.rawValue))",
      remedy: "check its voice and language", refusal: refusal)
  }
}
