// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The settings of a speech server: an entry of `speech_servers`.
public struct SpeechServer: Sendable, Hashable {
  /// The name of the server in settings, reports and metrics.
  public var id: String
  public var address: SpeechServerAddress
  /// The name of the voice that the server should use.
  public var voice: String
  /// The name of the model in requests of the OpenAI protocol. Most servers ignore it.
  public var model = "tts-1"
  /// The form of the sound that requests of the OpenAI protocol ask for.
  public var soundForm = SoundForm.wav
  /// The locales that the voice speaks, as BCP 47 tags.
  public var locales: [String]
  /// The speaking rate in percent of the voice's own rate, 25 to 400. Wyoming servers always speak at their own rate.
  public var speedPercent = 100
  /// The largest number of utterances that the server is asked for at the same time.
  public var mostAtOnce = 2
  /// Whether the voice may say amounts and counts; nil if it may say them once it has passed its test (`crier voices
  /// test`).
  public var saysAmounts: Bool?
  /// Whether names, notes and other text from outside may be sent to the server.
  public var hearsNames: Bool
  public var limits = SpeechServerLimits()
  /// The file with the bearer key; nil if the server needs none.
  public var keyFile: URL?
  /// The certificates that sign the server's certificate, in PEM; nil for the certificates that the system trusts.
  public var trustRoots: URL?

  /// The form of a sound in an answer of the OpenAI protocol.
  public enum SoundForm: Sendable, Hashable {
    case wav
    /// Samples of 16 bits with one channel, without a header. OpenAI's own service sends 24,000 Hz.
    case pcm(sampleRate: Int)
  }

  /// - Parameter hearsNames: Whether names, notes and other text from outside may be sent to the server; nil to allow
  ///   this only for a server on this machine.
  public init(id: String, address: SpeechServerAddress, voice: String, locales: [String], hearsNames: Bool? = nil) {
    self.id = id
    self.address = address
    self.voice = voice
    self.locales = locales
    self.hearsNames = hearsNames ?? address.isLoopback
  }

  /// Whether the voice speaks a locale: one of ``locales``, or a region of a language that ``locales`` contains without
  /// a region.
  public func speaks(_ locale: String) -> Bool {
    let language = locale.prefix { $0 != "-" }
    return locales.contains { $0.lowercased() == locale.lowercased() || $0.lowercased() == language.lowercased() }
  }
}
