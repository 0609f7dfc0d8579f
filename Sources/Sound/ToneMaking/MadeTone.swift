// SPDX-License-Identifier: Apache-2.0

import Mastering
import Waveforms

/// A tone that was made from its description: a mono WAV file with 16-bit samples at 22,050 Hz.
public struct MadeTone: Sendable, Hashable {
  /// The loudness of all tones in LUFS. It is 4 LU above the loudness of announcements, because a tone must be noticed
  /// by somebody who is not listening.
  public static let targetLUFS: Double = -12

  /// The highest true peak in dBTP, the same as for announcements.
  public static let maximumTruePeakDBTP: Double = -1

  public let name: String
  public let title: String
  /// The complete file.
  public let bytes: [UInt8]
  public let durationMilliseconds: Int
  /// The measured loudness in LUFS.
  public let loudnessLUFS: Double
  /// The measured true peak in dBTP.
  public let truePeakDBTP: Double

  /// The name of the sound file.
  public var fileName: String { Self.fileName(of: name) }

  public static func fileName(of name: String) -> String { "\(name).wav" }

  /// Makes a tone. The same description gives the same bytes on every machine.
  ///
  /// - Throws: ``ToneError``.
  public init(_ name: String, from descriptions: ToneDescriptions) throws(ToneError) {
    try self.init(name, try descriptions.description(of: name))
  }

  init(_ name: String, _ description: ToneDescription) throws(ToneError) {
    let mastering = Mastering(targetLUFS: Self.targetLUFS, maximumTruePeakDBTP: Self.maximumTruePeakDBTP)
    let mastered: MasteredWaveform
    do throws(MasteringError) {
      mastered = try mastering.master(description.waveform(sampleRate: Mastering.sampleRate))
    } catch {
      throw ToneError(
        .descriptionInvalid, name, "the tone cannot be made as loud as the others (\(error))",
        remedy: "change its description, for example by longer decays")
    }
    self.name = name
    title = description.title
    bytes = WAVFile.encode(mastered.waveform)
    durationMilliseconds = mastered.waveform.durationMilliseconds
    loudnessLUFS = mastered.loudnessLUFS
    truePeakDBTP = mastered.truePeakDBTP
  }
}
