// SPDX-License-Identifier: Apache-2.0

public import Waveforms

/// What a sound measures as it stands, by the very meters that ``Mastering`` levels with.
public struct SoundMeasures: Sendable, Hashable {
  /// Integrated loudness by libebur128, in LUFS, to 0.01; a sound of less than 400 ms is measured repeated.
  public var loudnessLUFS: Double

  /// By the filter of ITU-R BS.1770-4, Annex 2, in dBTP, to 0.01.
  public var truePeakDBTP: Double

  /// By how much the whole lies off zero, as a share of full scale, -1 to 1. Zero where a mean is only the lopsidedness
  /// of a voice: the offset is what the whole and its quietest 32 ms have in common.
  public var constantOffset: Double
}

extension Mastering {
  /// Measures a sound without changing it, at any sample rate that libebur128 takes (16 Hz to 2.8 MHz).
  ///
  /// - Throws: `MasteringError`: `silent` when every sample is zero, or there is none; `meterFailed`.
  public static func measure(_ waveform: Waveform) throws(MasteringError) -> SoundMeasures {
    guard
      let loudness = try LoudnessMeter.hundredths(of: waveform.samples, sampleRate: waveform.sampleRate)
    else { throw MasteringError(.silent, "every sample of it is zero.") }
    return SoundMeasures(
      loudnessLUFS: Double(loudness) / 100,
      truePeakDBTP: Double(TruePeak.hundredthsDBTP(of: waveform.samples)) / 100,
      constantOffset: Double(ConstantOffset.find(in: waveform.samples)) / 32_768)
  }
}
