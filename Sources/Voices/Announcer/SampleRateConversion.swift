// SPDX-License-Identifier: Apache-2.0

import Foundation
import Mastering
import Resampling
import SoundFiles
import Waveforms

/// Gives a finished announcement another sample rate. It keeps the promises of the mastering: -16 LUFS within 1 LU, and
/// a true peak of at most -1 dBTP.
///
/// A lower rate removes high tones, so the sound becomes slightly quieter, and its peaks may rise. One gain corrects
/// both. libsoxr chooses its code by the processor, so the last bit of a sample may differ between machines. For this
/// reason, a clip may have different bytes on another machine if its rate differs from the rate of the voices. Other
/// clips do not have this difference.
enum SampleRateConversion {
  private static let target = -16.0

  /// - Parameter encoding: the encoding of the file. Encodings with fewer bits than PCM raise the peaks once more.
  /// - Returns: the sound with its marks; the unchanged sound if it has this rate already.
  /// - Throws: `AnnouncerError`, `optionInvalid`, if the sound cannot be loud enough at this rate; `ResamplingError`;
  ///   `MasteringError`.
  static func convert(_ mastered: MasteredWaveform, to rate: Int, for encoding: SoundFormat.Encoding) throws
    -> MasteredWaveform
  {
    guard rate != mastered.waveform.sampleRate else { return mastered }
    var waveform = Waveform(
      samples: try Resampler.convert(mastered.waveform.samples, from: mastered.waveform.sampleRate, to: rate),
      sampleRate: rate, marks: mastered.waveform.marks)
    var measures = try Mastering.measure(waveform)
    // The limit leaves room for other meters, which measure peaks up to 0.2 dB higher. At 8,000 Hz, IMA ADPCM raises
    // peaks by up to 0.8 dB (measured in six languages).
    let highestPeak =
      switch encoding {
      case .pcm16: -1.25
      case .ulaw, .alaw: -1.6
      case .ima4: -2.1
      }
    let gain = min(target - measures.loudnessLUFS, highestPeak - measures.truePeakDBTP)
    if abs(gain) > 0.02 {
      let factor = pow(10, gain / 20)
      waveform.samples = waveform.samples.map {
        Int16(max(-32_768, min(32_767, (Double($0) * factor).rounded(.toNearestOrEven))))
      }
      measures = try Mastering.measure(waveform)
    }
    guard abs(measures.loudnessLUFS - target) <= 1, measures.truePeakDBTP <= -1 else {
      throw AnnouncerError(
        .optionInvalid, "sample_rate \(rate)", "cannot keep the loudness of this announcement",
        remedy: "choose another rate, or leave it out")
    }
    return MasteredWaveform(
      waveform: waveform, loudnessLUFS: measures.loudnessLUFS, truePeakDBTP: measures.truePeakDBTP)
  }
}
