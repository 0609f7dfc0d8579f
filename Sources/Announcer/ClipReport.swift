// SPDX-License-Identifier: Apache-2.0

public import Announcements
import Foundation
public import Waveforms

/// What was made, as the command's `--json` and the service answer it: the contract of `docs/report.md`.
public struct ClipReport: Sendable, Hashable, Encodable {
  public struct Amount: Sendable, Hashable, Encodable {
    /// ISO 4217.
    public var currency: String
    /// Decimal text with all of the currency's digits.
    public var value: String
  }

  public struct Clip: Sendable, Hashable, Encodable {
    public var name: String
    public var path: String
    public var url: String
    /// The file's size.
    public var bytes: Int
    /// Over the whole file, hexadecimal.
    public var sha256: String
    /// In ms, rounded up.
    public var durationMilliseconds: Int
    public var format: String
    public var encoding: String
    /// In Hz.
    public var sampleRate: Int
    public var channels: Int

    enum CodingKeys: String, CodingKey {
      case name, path, url, bytes, sha256, format, encoding, channels
      case durationMilliseconds = "duration_ms"
      case sampleRate = "sample_rate"
    }
  }

  public struct Mark: Sendable, Hashable, Encodable {
    public var text: String
    public var startMilliseconds: Int
    public var endMilliseconds: Int

    init(_ mark: Waveform.Mark) {
      (text, startMilliseconds, endMilliseconds) = (mark.text, mark.startMilliseconds, mark.endMilliseconds)
    }

    enum CodingKeys: String, CodingKey {
      case text
      case startMilliseconds = "start_ms"
      case endMilliseconds = "end_ms"
    }
  }

  /// The payment's; null for free text and for payments typed at a command line.
  public var id: String?
  public var text: String
  public var locale: String
  /// Who speaks: `speech` (the engine), `clips` (a voice pack) or `mixed` (a pack, and the engine for what it lacks).
  public var method: String
  /// The engine's voice, or the pack's id.
  public var voice: String
  /// Null for free text.
  public var amount: Amount?
  public var clip: Clip
  /// Integrated loudness of the finished sound, by libebur128, in LUFS.
  public var loudnessLUFS: Double
  public var marks: [Mark]
  /// The steps taken to stay under 30 s, of `note`, `payer`, `rate`, `amount_only`.
  public var shortened: [String]
  /// Parts of the payload's texts that no voice says.
  public var unspoken: [Remarks.Unspoken]
  /// What is said otherwise than it is written, in sentences for people; they hold no amount and no name.
  public var warnings: [String]
  /// Whether the clip stood in the folder already.
  public var cached: Bool

  enum CodingKeys: String, CodingKey {
    case id, text, locale, method, voice, amount, clip, marks, shortened, unspoken, warnings, cached
    case loudnessLUFS = "loudness_lufs"
  }

  /// Every key is there, with null for what is not known: a reader need not ask which keys may be absent.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(id, forKey: .id)
    try fields.encode(text, forKey: .text)
    try fields.encode(locale, forKey: .locale)
    try fields.encode(method, forKey: .method)
    try fields.encode(voice, forKey: .voice)
    try fields.encode(amount, forKey: .amount)
    try fields.encode(clip, forKey: .clip)
    try fields.encode(loudnessLUFS, forKey: .loudnessLUFS)
    try fields.encode(marks, forKey: .marks)
    try fields.encode(shortened, forKey: .shortened)
    try fields.encode(unspoken, forKey: .unspoken)
    try fields.encode(warnings, forKey: .warnings)
    try fields.encode(cached, forKey: .cached)
  }

  /// One line of JSON, keys in alphabetical order.
  public var json: String {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
  }
}

/// A clip: the report, its bytes, and its sound for whoever draws or plays it.
public struct RenderedClip: Sendable, Hashable {
  public var report: ClipReport
  public var bytes: [UInt8]
  public var waveform: Waveform
}
