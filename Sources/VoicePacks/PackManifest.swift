// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What a voice pack says about itself: `manifest.json` in the pack's folder, described in `docs/voice-packs.md`.
public struct PackManifest: Sendable, Hashable, Codable {
  public static let fileName = "manifest.json"

  /// The version of the format that this program writes, and the only one it reads.
  public static let currentFormat = 1

  /// A recording.
  public struct Clip: Sendable, Hashable, Codable {
    /// What is said in it, as the phrase book writes it: the amount that is heard is read back from these words.
    public var text: String

    /// Over the file's bytes, hexadecimal.
    public var sha256: String

    public init(text: String, sha256: String) {
      self.text = text
      self.sha256 = sha256
    }

    /// Whether the words said are those of the tokens, letter by letter: how they are joined is the language's matter.
    /// A clip of which this is not so says something else than it was chosen for, and is never used.
    public func says(_ tokens: [String]) -> Bool {
      text.filter(\.isLetter) == tokens.joined().filter(\.isLetter)
    }
  }

  /// The clips of one token or phrase, by file name: one that always serves, and others for places where the voice
  /// moves differently.
  public struct Alternates: Sendable, Hashable, Codable {
    public var plain: String
    /// Before a comma.
    public var rising: String?
    /// Before a full stop, and at the end.
    public var final: String?

    public init(plain: String, rising: String? = nil, final: String? = nil) {
      self.plain = plain
      self.rising = rising
      self.final = final
    }
  }

  /// Several tokens recorded in one breath; wins over their single clips.
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
  /// The pack's folder has this name: 1 to 64 letters, digits, `-`, `_` and `.` of ASCII, not beginning with `.`.
  public var id: String
  /// The phrase book whose words are recorded, BCP 47.
  public var locale: String
  /// Who speaks.
  public var speaker: String
  /// On what terms the recordings may be used: an SPDX expression, or words.
  public var licence: String
  /// In Hz, of every clip.
  public var sampleRate: Int
  /// Whether a speech engine says the clips. `nil`, and then not in the JSON, where a person recorded them.
  private var synthesized: Bool?
  /// SHA-256 over ``digestInput``, hexadecimal: part of the name of every sound that the pack makes.
  public var digest: String
  /// By file name, in the pack's folder.
  public var clips: [String: Clip]
  /// By token name.
  public var tokens: [String: Alternates]
  public var phrases: [Phrase]

  /// Whether a speech engine said the clips, rather than a person.
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

  /// The manifest's JSON, keys in alphabetical order, indented for people.
  public var json: Data {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
      return try encoder.encode(self)
    }
  }

  /// The bytes whose SHA-256 is the digest: the manifest as one line of JSON, keys in alphabetical order, with an empty
  /// digest. The clips' own digests stand in it, so that it covers their sound.
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
