// SPDX-License-Identifier: Apache-2.0

import Announcements

/// A speech server that can speak now, and what it may say.
package struct SpeakingServer: Sendable {
  package var voice: SpeechServerVoice
  /// What speaks at the server, in one line.
  package var identity: String
  /// Whether the voice may say amounts and counts in the locale of the announcement.
  package var saysAmounts: Bool

  package init(voice: SpeechServerVoice, identity: String, saysAmounts: Bool) {
    self.voice = voice
    self.identity = identity
    self.saysAmounts = saysAmounts
  }

  /// Returns why the server may not say words of a role, as a code for the report; nil if it may.
  func refusal(of role: Script.Role) -> String? {
    switch role {
    case .amount, .count: saysAmounts ? nil : "amounts_untested"
    case .channel, .payer, .note, .text:
      voice.server.hearsNames ? nil : SpeechServerError.Code.namesStay.rawValue
    case .phrase: nil
    }
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

  /// Returns the server that speaks a language: the first one of the settings that speaks it and answers. A server that
  /// rests is not asked.
  ///
  /// - Parameters:
  ///   - locale: The locale of the announcement, in which amounts are said.
  ///   - named: The server that was asked for by its id; nil for any.
  /// - Returns: Nil if no server of the settings speaks the language.
  /// - Throws: ``SpeechServerError`` of the first server that speaks the language, if none of them answers.
  package func server(
    for language: String, in locale: String, named: SpeechServerVoice? = nil
  ) async throws(SpeechServerError) -> SpeakingServer? {
    var failure: SpeechServerError?
    for voice in named.map({ [$0] }) ?? voices where voice.server.speaks(language) {
      do throws(SpeechServerError) {
        let identity = try await voice.identity()
        return SpeakingServer(voice: voice, identity: identity, saysAmounts: saysAmounts(voice, identity, locale))
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
    return nil
  }

  /// Returns the latest verdict on the voice of a server in a locale. It may be one on an earlier version of the voice,
  /// which decides nothing.
  public func latestVerdict(on server: String, in locale: String) -> SpeechServerVerdict? {
    verdicts?.all().last { $0.server == server && $0.locale.lowercased() == locale.lowercased() }
  }

  private func saysAmounts(_ voice: SpeechServerVoice, _ identity: String, _ locale: String) -> Bool {
    voice.server.saysAmounts
      ?? verdicts?.verdict(on: voice.server.id, identity: identity, locale: locale)?.isPassed ?? false
  }
}
