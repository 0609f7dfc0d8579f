// SPDX-License-Identifier: Apache-2.0

public import Announcements
public import Foundation

/// A voice pack's description of itself: `manifest.json` in the pack's folder, documented in `docs/voice-packs.md`.
public struct PackManifest: Sendable, Hashable, Codable {
  public static let fileName = "manifest.json"

  /// The version of the manifest format that this program writes. It reads no other version.
  public static let currentFormat = 1

  /// A recording.
  public struct Clip: Sendable, Hashable, Codable {
    /// The recorded words, spelled as in the phrase book. The amount that a listener hears is read back from these
    /// words.
    public var text: String

    /// The SHA-256 digest of the file's bytes, in hexadecimal.
    public var sha256: String

    public init(text: String, sha256: String) {
      self.text = text
      self.sha256 = sha256
    }

    /// Returns whether the clip has the words of the tokens, letter by letter. The separators between words may differ,
    /// because they depend on the language. A clip with other words would say something unintended, and is therefore
    /// never used.
    public func says(_ tokens: [String]) -> Bool {
      text.filter(\.isLetter) == tokens.joined().filter(\.isLetter)
    }
  }

  /// The clips of one token or phrase, by file name: one clip that fits every position, and others for positions with a
  /// different intonation.
  public struct Alternates: Sendable, Hashable, Codable {
    public var plain: String
    /// The clip for a position before a comma.
    public var rising: String?
    /// The clip for a position before a full stop, or at the end.
    public var final: String?

    public init(plain: String, rising: String? = nil, final: String? = nil) {
      self.plain = plain
      self.rising = rising
      self.final = final
    }
  }

  /// Several tokens that were recorded without a break. The clip of a phrase is used instead of the single clips of its
  /// tokens.
  public struct Phrase: Sendable, Hashable, Codable {
    /// Two or more token names, in order.
    public var tokens: [String]
    public var clips: Alternates

    public init(tokens: [String], clips: Alternates) {
      self.tokens = tokens
      self.clips = clips
    }
  }

  public var format: Int
  /// The pack's id, which is also the name of its folder: 1 to 64 ASCII letters, digits, `-`, `_` and `.`, not
  /// beginning with `.`.
  public var id: String
  /// The locale (BCP 47) of the phrase book that contains the recorded words.
  public var locale: String
  /// The person or voice that speaks.
  public var speaker: String
  /// The terms on which the recordings may be used: an SPDX expression, or words.
  public var licence: String
  /// The sample rate of every clip, in Hz.
  public var sampleRate: Int
  /// Whether a speech engine made the clips. If a person recorded them, the value is `nil`, and the JSON does not
  /// contain it.
  private var synthesized: Bool?
  /// The tested speech server that made the clips: its program, voice and versions in one line. If no speech server
  /// made the clips, the value is `nil`, and the JSON does not contain it.
  public var speechServer: String?
  /// The SHA-256 digest of ``digestInput``, in hexadecimal. It affects the name of every sound that is made from the
  /// pack.
  public var digest: String
  /// The clips. The keys are their file names in the pack's folder.
  public var clips: [String: Clip]
  /// The clips of each token. The keys are the names of the tokens.
  public var tokens: [String: Alternates]
  public var phrases: [Phrase]

  /// Whether a speech engine made the clips, instead of a person.
  public var isSynthesized: Bool { synthesized ?? false }

  public init(
    id: String, locale: String, speaker: String, licence: String, sampleRate: Int = 22_050,
    isSynthesized: Bool = false, speechServer: String? = nil, digest: String = "", clips: [String: Clip] = [:],
    tokens: [String: Alternates] = [:], phrases: [Phrase] = []
  ) {
    format = Self.currentFormat
    self.id = id
    self.locale = locale
    self.speaker = speaker
    self.licence = licence
    self.sampleRate = sampleRate
    synthesized = isSynthesized ? true : nil
    self.speechServer = speechServer
    self.digest = digest
    self.clips = clips
    self.tokens = tokens
    self.phrases = phrases
  }

  enum CodingKeys: String, CodingKey {
    case format, id, locale, speaker, licence, synthesized, digest, clips, tokens, phrases
    case sampleRate = "sample_rate"
    case speechServer = "speech_server"
  }

  /// The manifest's JSON, indented, with keys in alphabetical order.
  public var json: Data {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
      return try encoder.encode(self)
    }
  }

  /// The bytes whose SHA-256 digest is ``digest``. They are the manifest as one line of JSON, with keys in alphabetical
  /// order and with an empty digest. They contain the digests of the clips, so ``digest`` also covers the clips' sound.
  public var digestInput: Data {
    get throws {
      var bare = self
      bare.digest = ""
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return try encoder.encode(bare)
    }
  }
}

extension PackManifest {
  /// Returns the tokens that every announcement of the locale may need, and that the pack lacks. The tokens that are
  /// most useful to record come first.
  public func tokensLacking(of vocabulary: Vocabulary) -> [String] {
    vocabulary.blocks.filter(\.isRequired).flatMap(\.words).map(\.token).filter { tokens[$0] == nil }
  }
}
