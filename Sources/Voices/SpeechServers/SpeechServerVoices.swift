// SPDX-License-Identifier: Apache-2.0

import Announcements
package import Waveforms

/// A speech server that can speak now, and what it may say.
package struct SpeakingServer: Sendable {
  package var voice: SpeechServerVoice
  /// The line that identifies the voice of the server; see ``SpeechServerDescription/identity(of:)``.
  package var identity: String
  /// Whether the voice may say amounts and counts in the locale of the announcement.
  package var saysAmounts: Bool
  /// The lengths of amounts that the test of the voice measured, as ratios to the expected length; nil if the settings
  /// let an untested voice say amounts.
  package var amountLengths: ClosedRange<Double>?

  /// Returns the reason why the server may not speak a segment, as a code for the report; nil if it may.
  ///
  /// - Parameter hasNumber: Returns whether a text has a word that occurs in numbers. A text from outside may contain a
  ///   sum, so a voice that may not say amounts does not say a text with such a word either.
  func refusal(of segment: Script.Segment, hasNumber: (String) -> Bool) -> String? {
    let amountsUntested = "amounts_untested"
    switch segment.role {
    case .amount, .count: return saysAmounts ? nil : amountsUntested
    case .channel, .payer, .note, .text:
      guard voice.server.hearsNames else { return SpeechServerError.Code.namesStay.rawValue }
      return saysAmounts || !hasNumber(segment.text) ? nil : amountsUntested
    case .phrase: return nil
    }
  }

  /// Speaks words. A sound that says an amount must have a length like those that the test measured.
  ///
  /// - Throws: The errors of ``SpeechServerVoice/speak(_:speedPercent:lengths:)``.
  package func speak(_ words: ReadBackWords) async throws(SpeechServerError) -> Waveform {
    try await voice.speak(words, lengths: words.saysAmount ? amountLengths : nil)
  }
}

/// The speech servers of the settings, in their order.
public struct SpeechServerVoices: Sendable {
  public static let none = SpeechServerVoices([], verdicts: nil)

  public let voices: [SpeechServerVoice]
  private let verdicts: SpeechServerVerdicts?

  /// - Parameter verdicts: The verdicts of the tests; nil if no voice counts as tested.
  public init(_ voices: [SpeechServerVoice], verdicts: SpeechServerVerdicts?) {
    self.voices = voices
    self.verdicts = verdicts
  }

  /// The state of each server, in the order of the settings.
  public var statuses: [SpeechServerVoice.Status] { voices.map(\.status) }

  /// Returns the server with an id; nil if there is none.
  public func voice(named id: String?) -> SpeechServerVoice? { voices.first { $0.server.id == id } }

  /// Returns the server that speaks a language: the first server of the settings that speaks the language and answers.
  /// A server that rests is not asked.
  ///
  /// - Parameters:
  ///   - locale: The locale of the announcement, in which amounts are said.
  ///   - named: The server that the request names; nil if any server may speak.
  /// - Returns: Nil if no server of the settings speaks the language.
  /// - Throws: ``SpeechServerError`` of the first server that speaks the language, if no such server answers.
  package func server(
    for language: String, in locale: String, named: SpeechServerVoice? = nil
  ) async throws(SpeechServerError) -> SpeakingServer? {
    var failure: SpeechServerError?
    let start = ContinuousClock.now
    for voice in named.map({ [$0] }) ?? voices where voice.server.speaks(language) {
      do throws(SpeechServerError) {
        let identity = try await voice.identity()
        let verdict = verdicts?.verdict(on: voice.server.id, identity: identity, locale: locale)
        return SpeakingServer(
          voice: voice, identity: identity, saysAmounts: voice.server.saysAmounts ?? verdict?.isPassed ?? false,
          amountLengths: verdict?.amountLengths)
      } catch {
        failure = failure ?? error
        // The time limit of the announcement is over, so no other server is asked.
        if start.duration(to: .now) >= voice.server.limits.whole { throw error }
      }
    }
    if let failure { throw failure }
    return nil
  }

  /// Returns the latest verdict on the voice of a server in a locale. It may be a verdict on an earlier version of the
  /// voice. Such a verdict does not decide whether the voice may say amounts.
  public func latestVerdict(on server: String, in locale: String) -> SpeechServerVerdict? {
    verdicts?.all().last { $0.server == server && $0.locale.lowercased() == locale.lowercased() }
  }

  /// Returns the latest verdicts on the voice of a server in a locale of the settings. For a language without a region,
  /// such as `en`, these are the verdicts in all its regions.
  public func latestVerdicts(on server: String, in locale: String) -> [SpeechServerVerdict] {
    verdicts?.all().filter { verdict in
      let tested = verdict.locale.lowercased()
      return verdict.server == server
        && [tested, String(tested.prefix { $0 != "-" })].contains(locale.lowercased())
    } ?? []
  }
}
