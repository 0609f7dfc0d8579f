// SPDX-License-Identifier: Apache-2.0

public import Waveforms

/// The measurements of an unmodified sound. ``Mastering`` uses the same meters for levelling.
public struct SoundMeasures: Sendable, Hashable {
  /// The integrated loudness by libebur128 in LUFS, to 0.01. A sound shorter than 400 ms is repeated for the
  /// measurement.
  public var loudnessLUFS: Double

  /// The true peak by the filter of ITU-R BS.1770-4, Annex 2, in dBTP, to 0.01.
  public var truePeakDBTP: Double

  /// The constant offset of the sound from zero as a share of full scale, -1 to 1. It is the part that the mean of the
  /// whole sound and the mean of its quietest 32 ms have in common. It is zero if the mean differs from zero only
  /// because the voice is asymmetric.
  public var constantOffset: Double
}

extension Mastering {
  /// Measures a sound without changing it, at any sample rate that libebur128 accepts (16 Hz to 2.8 MHz).
  ///
  /// - Throws: `MasteringError`: `silent` if there is no sample or every sample is zero; `meterFailed`.
  public static func measure(_ waveform: Waveform) throws(MasteringError) -> SoundMeasures {
    SoundMeasures(
      loudnessLUFS: try loudness(of: waveform),
      truePeakDBTP: Double(TruePeak.hundredthsDBTP(of: waveform.samples)) / 100,
      constantOffset: Double(ConstantOffset.find(in: waveform.samples)) / 32_768)
  }

  /// Measures only the integrated loudness of a sound in LUFS, to 0.01, as ``measure(_:)`` does.
  ///
  /// - Throws: the same errors as ``measure(_:)``.
  public static func loudness(of waveform: Waveform) throws(MasteringError) -> Double {
    guard
      let loudness = try LoudnessMeter.hundredths(of: waveform.samples, sampleRate: waveform.sampleRate)
    else { throw MasteringError(.silent, "every sample is zero.") }
    return Double(loudness) / 100
  }
}
