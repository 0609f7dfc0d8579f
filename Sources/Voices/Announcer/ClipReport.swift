// SPDX-License-Identifier: Apache-2.0

public import Announcements
import Foundation
public import TextFormats
public import Waveforms

/// The report of a clip. The command's `--json` and the service return it, and `docs/report.md` defines it. No key is
/// ever missing: an unknown value is null.
public struct ClipReport: Sendable, Hashable, Encodable {
  public struct Amount: Sendable, Hashable, Encodable {
    /// The ISO 4217 code of the currency.
    public var currency: String
    /// The amount as decimal text, with all decimal digits that the currency has.
    public var value: String
  }

  public struct Clip: Sendable, Hashable, Encodable {
    public var name: String
    public var path: String
    public var url: String
    /// The file's size in bytes.
    public var bytes: Int
    /// The SHA-256 digest of the whole file, in hexadecimal.
    public var sha256: String
    /// The duration of the clip in ms, rounded up.
    public var durationMilliseconds: Int
    public var format: String
    public var encoding: String
    /// The sample rate in Hz.
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

  /// The payment's id. It is null for free text, and for a payment that was given as command-line flags.
  @ExplicitNull public var id: String?
  public var text: String
  public var locale: String
  /// The kind of voice: `speech` (the engine or a speech server), `clips` (a voice pack) or `mixed` (a voice pack, and
  /// the engine or a speech server for words that the pack lacks).
  public var method: String
  /// The engine's voice, or the id of the speech server or the voice pack.
  public var voice: String
  /// Whether the same announcement gives the same bytes again. A speech server never gives the same bytes twice.
  public var reproducible: Bool = true
  /// The code of the reason why another voice spoke instead of a speech server. It is null if the server spoke all
  /// words that it should speak, or if no server should speak.
  @ExplicitNull public var fallback: String? = nil
  /// The amount; null for free text.
  @ExplicitNull public var amount: Amount?
  public var clip: Clip
  /// The integrated loudness of the finished sound, measured by libebur128, in LUFS.
  public var loudnessLUFS: Double
  public var marks: [Mark]
  /// The steps that were taken to keep the clip under 30 s: `note`, `payer`, `rate` or `amount_only`.
  public var shortened: [String]
  /// The parts of the payload's texts that no voice can speak.
  public var unspoken: [Remarks.Unspoken]
  /// Sentences for people about parts whose spoken form differs from their spelling. They contain no amounts or names.
  public var warnings: [String]
  /// Whether the clip already existed before this request.
  public var cached: Bool
  /// The clip tokens that the voice pack ``voice`` said, if it said everything; empty otherwise. They are not part of
  /// the JSON.
  public var tokens: [ClipToken] = []
  /// The digest of the voice pack ``voice``; nil if the engine said everything. It is not part of the JSON.
  public var packDigest: String?

  enum CodingKeys: String, CodingKey {
    case id, text, locale, method, voice, reproducible, fallback, amount, clip, marks, shortened, unspoken, warnings
    case cached
    case loudnessLUFS = "loudness_lufs"
  }

  /// The report as one line of JSON, with keys in alphabetical order.
  public var json: String {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
  }
}

/// A rendered clip: its report, its bytes, and its waveform for drawing and playback.
public struct RenderedClip: Sendable, Hashable {
  public var report: ClipReport
  public var bytes: [UInt8]
  public var waveform: Waveform
}
