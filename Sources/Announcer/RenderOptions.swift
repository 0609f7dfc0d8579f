// SPDX-License-Identifier: Apache-2.0

public import SoundFiles

/// The options for rendering a clip, apart from its words.
public struct RenderOptions: Sendable, Hashable {
  /// The kind of voice: recorded clips, the engine, or the one that is understood best. The best is a person's
  /// recordings if they have the words, or else the engine, or a built pack if there is no engine.
  public enum Method: String, Sendable, Hashable, CaseIterable {
    case auto, clips, speech
  }

  public var method: Method

  /// The id of the requested voice pack; `nil` leaves the choice to the method. With `auto`, a requested pack is used
  /// even if it lacks words, and the engine speaks these.
  public var pack: String?

  /// The id of the voice pack for announcements of its locale that request none. A pack that is broken or missing is
  /// skipped.
  public var preferredPack: String?

  /// The engine's voice, instead of the phrase book's. Runs in other languages keep their voices.
  public var voice: String?

  /// The speed in words a minute, 80 to 450, instead of the phrase book's.
  public var rate: Int?

  public var format: SoundFormat

  /// The locale of announcements that name none.
  public var defaultLocale: String

  public static let rates = 80...450

  public init(
    method: Method = .auto, pack: String? = nil, voice: String? = nil, rate: Int? = nil,
    format: SoundFormat = SoundFormat(container: .wav, encoding: .pcm16), defaultLocale: String = "en-US"
  ) {
    self.method = method
    self.pack = pack
    self.voice = voice
    self.rate = rate
    self.format = format
    self.defaultLocale = defaultLocale
  }

  /// - Throws: `.optionInvalid`, with the option's name as the command line and the service spell it.
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
    let encodings = SoundFormat.encodings(of: format.container)
    guard encodings.contains(format.encoding) else {
      throw AnnouncerError(
        .optionInvalid, "encoding \(format.encoding.rawValue)", "cannot be stored in \(format.container.rawValue)",
        remedy: "choose one of \(encodings.map(\.rawValue).joined(separator: ", "))")
    }
  }
}
