// SPDX-License-Identifier: Apache-2.0

public import Announcements
import Mastering
public import SoundFiles

/// The options for rendering a clip. They do not include its words.
public struct RenderOptions: Sendable, Hashable {
  /// The kind of voice: recorded clips, the engine, or an automatic choice of the voice that listeners understand best.
  /// The automatic choice uses a person's recordings if they have the words. Otherwise it uses the engine or, if there
  /// is no engine, a pack made by a speech engine.
  public enum Method: String, Sendable, Hashable, CaseIterable {
    case auto, clips, speech
  }

  public var method: Method

  /// The id of the requested voice pack. If it is `nil`, the method determines the pack. With `auto`, a requested pack
  /// is used even if it lacks words, and the engine speaks the words that it lacks.
  public var pack: String?

  /// The id of the voice pack that is preferred for announcements in the pack's locale, if they request no pack. It is
  /// skipped if it is broken or missing.
  public var preferredPack: String?

  /// The engine's voice to use instead of the phrase book's voice. Runs in other languages keep their voices.
  public var voice: String?

  /// The speaking rate in words per minute, 80 to 450, to use instead of the phrase book's rate.
  public var rate: Int?

  public var format: SoundFormat

  /// The sample rate of the clip in Hz, 8,000 to 48,000. The voices have 22,050 Hz. A lower rate makes a smaller file;
  /// a higher rate adds nothing that can be heard.
  public var sampleRate: Int

  /// The locale for announcements that name no locale.
  public var defaultLocale: String

  public static let rates = 80...450
  public static let sampleRates = 8_000...48_000
  /// The sample rate of the voices, in Hz.
  public static let standardSampleRate = Mastering.sampleRate

  public init(
    method: Method = .auto, pack: String? = nil, voice: String? = nil, rate: Int? = nil,
    format: SoundFormat = SoundFormat(container: .wav, encoding: .pcm16),
    sampleRate: Int = RenderOptions.standardSampleRate, defaultLocale: String = PhraseBooks.usualLocale
  ) {
    self.method = method
    self.pack = pack
    self.voice = voice
    self.rate = rate
    self.format = format
    self.sampleRate = sampleRate
    self.defaultLocale = defaultLocale
  }

  /// - Throws: `.optionInvalid`. It contains the option's name in the spelling of the command line and the service.
  func check() throws(AnnouncerError) {
    if let pack, method == .speech {
      throw AnnouncerError(
        .optionInvalid, "pack \(pack)", "cannot be used with method speech", remedy: "drop one of them")
    }
    if let rate, !Self.rates.contains(rate) {
      throw AnnouncerError(
        .optionInvalid, "rate", "is out of range",
        remedy: "give \(Self.rates.lowerBound) to \(Self.rates.upperBound) words a minute")
    }
    guard Self.sampleRates.contains(sampleRate) else {
      throw AnnouncerError(
        .optionInvalid, "sample_rate", "is out of range",
        remedy: "give \(Self.sampleRates.lowerBound) to \(Self.sampleRates.upperBound) Hz")
    }
    let encodings = SoundFormat.encodings(of: format.container)
    guard encodings.contains(format.encoding) else {
      throw AnnouncerError(
        .optionInvalid, "encoding \(format.encoding.rawValue)", "cannot be stored in \(format.container.rawValue)",
        remedy: "choose one of \(encodings.map(\.rawValue).joined(separator: ", "))")
    }
  }
}
