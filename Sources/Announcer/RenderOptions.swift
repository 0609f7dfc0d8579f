// SPDX-License-Identifier: Apache-2.0

public import SoundFiles

/// How a clip is to be made, apart from what it says.
public struct RenderOptions: Sendable, Hashable {
  /// Who speaks: clips, the engine, or the one that is understood best: a person's recordings where they have the words,
  /// else the engine, and a built pack where there is no engine.
  public enum Method: String, Sendable, Hashable, CaseIterable {
    case auto, clips, speech
  }

  public var method: Method

  /// The voice pack that speaks, by its id; `nil` leaves the choice to the method. A pack asked for is used with
  /// `auto` also where it lacks words: the engine fills them in.
  public var pack: String?

  /// The voice pack that speaks announcements of its locale where none was asked for, by its id. One that is broken or not
  /// there is passed over.
  public var preferredPack: String?

  /// Replaces the phrase book's voice; runs in other languages keep theirs.
  public var voice: String?

  /// Words a minute, 80 to 450; replaces the phrase book's.
  public var rate: Int?

  public var format: SoundFormat

  /// For announcements that name no locale.
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

  /// - Throws: `.optionInvalid`, naming the option as the command line and the service spell it.
  func check() throws(AnnouncerError) {
    if let pack, method == .speech {
      throw AnnouncerError(
        .optionInvalid, "pack \(pack)", "does not go with method speech", remedy: "drop one of them")
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
