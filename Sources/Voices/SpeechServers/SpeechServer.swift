// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A speech server as the settings name it: an entry of `speech_servers`.
public struct SpeechServer: Sendable, Hashable {
  /// The name by which settings, reports and metrics know the server.
  public var id: String
  public var address: SpeechServerAddress
  /// The name of a voice of the server.
  public var voice: String
  /// The model that the OpenAI protocol asks for. Most servers ignore it.
  public var model = "tts-1"
  /// The form of the sound that the OpenAI protocol asks for.
  public var soundForm = SoundForm.wav
  /// The locales that the voice speaks, as BCP 47 tags.
  public var locales: [String]
  /// The speaking rate in percent of the voice's own, 25 to 400. Wyoming servers always speak at their own rate.
  public var speedPercent = 100
  /// How many utterances the server may be asked for at the same time.
  public var mostAtOnce = 2
  /// Whether the voice may say amounts and counts; nil if it may after its test (`crier voices test`).
  public var saysAmounts: Bool?
  /// Whether the server may hear names, notes and other text from outside.
  public var hearsNames: Bool
  public var limits = SpeechServerLimits()
  /// The file with the bearer key; nil if the server needs none.
  public var keyFile: URL?
  /// The certificates that sign the server's certificate, in PEM; nil for those that the system trusts.
  public var trustRoots: URL?

  /// The form of a sound in an answer of the OpenAI protocol.
  public enum SoundForm: Sendable, Hashable {
    case wav
    /// Samples of 16 bits with one channel, without a header. OpenAI's own service sends 24,000 Hz.
    case pcm(sampleRate: Int)
  }

  /// - Parameter hearsNames: nil if only a server on this machine may hear names.
  public init(id: String, address: SpeechServerAddress, voice: String, locales: [String], hearsNames: Bool? = nil) {
    self.id = id
    self.address = address
    self.voice = voice
    self.locales = locales
    self.hearsNames = hearsNames ?? address.isLoopback
  }

  /// Whether the voice speaks a locale: one of ``locales``, or another region of a language that is named alone.
  public func speaks(_ locale: String) -> Bool {
    let language = locale.prefix { $0 != "-" }
    return locales.contains { $0.lowercased() == locale.lowercased() || $0.lowercased() == language.lowercased() }
  }
}
