// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
public import HostAddresses
public import Waveforms

/// A speech server as a voice: it asks the server unless the server rests, and judges the sound.
///
/// A failure is never more than an error within the time limit. The caller lets another voice speak, and reports
/// ``SpeechServerError/reason`` as the `fallback`.
public final class SpeechServerVoice: Sendable {
  /// The state of a voice, for `readyz`, metrics, the console and the doctor.
  public struct Status: Sendable, Hashable {
    public var id: String
    public var state: SpeechServerCircuit.State
    /// The failures since the last success.
    public var failures: Int
    /// Why the latest utterance failed, as a code; nil after a success.
    public var reason: String?
    /// How long the server still rests; nil if it does not.
    public var rest: Duration?
    /// How long the server has failed; nil after a success.
    public var failingFor: Duration?
  }

  public var server: SpeechServer { client.server }
  private let client: SpeechServerClient
  private let circuit: Locked<SpeechServerCircuit>
  private let now: @Sendable () -> Duration

  /// - Parameters:
  ///   - now: Returns the time since any fixed moment; it never decreases. By default, since the start.
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

  /// Returns what the server says about itself. The call does not count for the state.
  ///
  /// - Throws: ``SpeechServerError``.
  public func describe() async throws(SpeechServerError) -> SpeechServerDescription { try await client.describe() }

  public var status: Status {
    let now = now()
    return circuit.withLock { circuit in
      Status(
        id: server.id, state: circuit.state(at: now), failures: circuit.failures, reason: circuit.reason,
        rest: circuit.rest(at: now), failingFor: circuit.failingSince.map { now - $0 })
    }
  }

  /// Speaks words.
  ///
  /// - Parameter speedPercent: The speaking rate in percent of the server's own setting.
  /// - Returns: The sound, neither levelled nor trimmed, and without marks.
  /// - Throws: ``SpeechServerError``: `resting` at once if the server rests, and `soundRefused` if the sound cannot be
  ///   that of the words.
  public func speak(_ words: ReadBackWords, speedPercent: Int = 100) async throws(SpeechServerError) -> Waveform {
    if case .rest = circuit.withLock({ $0.permission(at: now()) }) {
      throw SpeechServerError(
        .resting, server: server.id, "rests, because it failed", remedy: "another voice speaks; mend the server")
    }
    do throws(SpeechServerError) {
      let speed = server.speedPercent * speedPercent / 100
      let sound = try await client.speak(words, speedPercent: speed)
      try judge(sound, words, client.appliesSpeed ? speed : 100)
      circuit.withLock { $0.succeeded() }
      return sound
    } catch {
      circuit.withLock { circuit in
        if error.isOfServer { circuit.failed(reason: error.reason, at: now()) } else { circuit.abandoned() }
      }
      throw error
    }
  }

  private func judge(_ sound: Waveform, _ words: ReadBackWords, _ speedPercent: Int) throws(SpeechServerError) {
    let plausibility = SoundPlausibility(pace: .of(words.language))
    guard let refusal = plausibility.refusal(of: sound, saying: words.text, speedPercent: speedPercent) else { return }
    throw SpeechServerError(
      .soundRefused, server: server.id, "sent a sound that cannot be that of the words (\(refusal.rawValue))",
      remedy: "check its voice and language", refusal: refusal)
  }
}
