// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A voice pack's description of itself: `manifest.json` in the pack's folder, documented in `docs/voice-packs.md`.
public struct PackManifest: Sendable, Hashable, Codable {
  public static let fileName = "manifest.json"

  /// The version of the format that this program writes, and the only one that it reads.
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

    /// Returns whether the clip's words are those of the tokens, letter by letter. The separators between words may
    /// differ, because they depend on the language. A clip with different words would say something unintended, so it
    /// is never used.
    public func says(_ tokens: [String]) -> Bool {
      text.filter(\.isLetter) == tokens.joined().filter(\.isLetter)
    }
  }

  /// The clips of one token or phrase, by file name: one that fits every place, and others for places with a different
  /// intonation.
  public struct Alternates: Sendable, Hashable, Codable {
    public var plain: String
    /// The clip for a place before a comma.
    public var rising: String?
    /// The clip for a place before a full stop, and for the end.
    public var final: String?

    public init(plain: String, rising: String? = nil, final: String? = nil) {
      self.plain = plain
      self.rising = rising
      self.final = final
    }
  }

  /// Several tokens recorded without a break. A phrase takes precedence over the tokens' single clips.
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
  /// The locale (BCP 47) of the phrase book whose words are recorded.
  public var locale: String
  /// The person or voice that speaks.
  public var speaker: String
  /// On what terms the recordings may be used: an SPDX expression, or words.
  public var licence: String
  /// The sample rate of every clip, in Hz.
  public var sampleRate: Int
  /// Whether a speech engine made the clips. The value is `nil`, and absent from the JSON, if a person recorded them.
  private var synthesized: Bool?
  /// The SHA-256 digest of ``digestInput``, in hexadecimal. It is part of the name of every sound that the pack makes.
  public var digest: String
  /// The clips by file name in the pack's folder.
  public var clips: [String: Clip]
  /// The clips of each token, by token name.
  public var tokens: [String: Alternates]
  public var phrases: [Phrase]

  /// Whether a speech engine made the clips, instead of a person.
  public var isSynthesized: Bool { synthesized ?? false }

  public init(
    id: String, locale: String, speaker: String, licence: String, sampleRate: Int = 22_050,
    isSynthesized: Bool = false, digest: String = "", clips: [String: Clip] = [:], tokens: [String: Alternates] = [:],
    phrases: [Phrase] = []
  ) {
    format = Self.currentFormat
    self.id = id
    self.locale = locale
    self.speaker = speaker
    self.licence = licence
    self.sampleRate = sampleRate
    synthesized = isSynthesized ? true : nil
    self.digest = digest
    self.clips = clips
    self.tokens = tokens
    self.phrases = phrases
  }

  enum CodingKeys: String, CodingKey {
    case format, id, locale, speaker, licence, synthesized, digest, clips, tokens, phrases
    case sampleRate = "sample_rate"
  }

  /// The manifest's JSON, with keys in alphabetical order and indentation.
  public var json: Data {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
      return try encoder.encode(self)
    }
  }

  /// The bytes whose SHA-256 is the digest: the manifest as one line of JSON, with keys in alphabetical order and an
  /// empty digest. They include the digests of the clips, so that the digest also covers the clips' sound.
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
