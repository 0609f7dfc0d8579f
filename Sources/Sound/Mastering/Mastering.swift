// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Dispatch
public import Waveforms

/// Makes every announcement equally loud, without silence or clicks at its ends. It applies EBU R 128 to sounds of a
/// few seconds.
///
/// `master` takes the following steps, in this order:
/// 1. It removes a constant offset.
/// 2. It sets the gain that gives an integrated loudness (ITU-R BS.1770-4, by libebur128) of -16 LUFS.
/// 3. It limits the true peak to -1 dBTP.
/// 4. It rounds to 16 bits, with halves to even. It adds no dither, because dither would add different noise to every
/// file.
/// 5. It trims both ends to 30 ms of near silence. If an end has less near silence, it adds zeros.
/// 6. It fades 2 ms in and 5 ms out at the ends of the remaining recording.
/// 7. It measures the samples that it returns.
///
/// **Near silence** is every sample at or below -50 dBFS *after* levelling. This is 34 dB below the voice, which is
/// inaudible in any room where a payment is announced. It is also far below any sound of speech: the engine's quietest
/// sounds, f and h, peak at -24 dBFS. The threshold applies to the levelled sound, so that it is the same for quiet and
/// loud voices.
///
/// The same samples give the same result on every machine (see `Decibels`). The last bits of libebur128's result may
/// differ between processors. Gains are therefore derived from that result in whole hundredths of a LU.
public struct Mastering: Sendable, Hashable {
  /// The version of the mastering. It is part of a clip's recipe, and increases with every change that affects samples.
  public static let version: Int = 2

  /// The only supported sample rate, in Hz. Every native voice of the engine has this rate, and a sound that is never
  /// converted keeps its samples. A sound with a different rate is refused, and not silently converted.
  public static let sampleRate: Int = 22_050

  /// The highest sample level that counts as silence, in dBFS after levelling.
  public static let silenceThresholdDBFS: Double = -50

  private let target: Int
  private let maximumTruePeak: Int

  /// Creates a mastering.
  ///
  /// - Parameters:
  ///   - targetLUFS: the target for the integrated loudness in LUFS, in steps of 0.01.
  ///   - maximumTruePeakDBTP: the highest permitted true peak in dBTP, at most 0, in steps of 0.01.
  /// - Precondition: the loudness is between -70 and 0 LUFS, the peak between -40 and 0 dBTP.
  public init(targetLUFS: Double = -16, maximumTruePeakDBTP: Double = -1) {
    // Not from outside: each caller passes constants.
    precondition((-70...0).contains(targetLUFS), "The target must be between -70 and 0 LUFS.")
    // Not from outside: each caller passes constants.
    precondition((-40...0).contains(maximumTruePeakDBTP), "The true peak must be between -40 and 0 dBTP.")
    target = Decibels.hundredths(targetLUFS)
    maximumTruePeak = Decibels.hundredths(maximumTruePeakDBTP)
  }

  /// Returns a complete announcement that is ready to be written. Its loudness is within 1 LU of the target, and within
  /// 0.2 LU unless limiting prevents that.
  ///
  /// Marks are shifted to match the trimming and limited to the remaining sound. The standard defines no integrated
  /// loudness for a sound shorter than 400 ms. For the measurement, such a sound is repeated, so that the result is its
  /// loudness while it is heard.
  ///
  /// - Throws: `MasteringError`: `silent`, `unsupportedSampleRate`, `loudnessUnreachable`, `meterFailed`.
  public func master(_ waveform: Waveform) throws(MasteringError) -> MasteredWaveform {
    let mastered = try process(waveform, edgeMilliseconds: 30)
    guard distance(mastered) <= 1 else {
      throw MasteringError(
        .loudnessUnreachable,
        "its peaks are so far above its loudness that limiting them would be heard; use a recording without clicks.")
    }
    return mastered
  }

  /// Returns an announcement that consists of separately mastered clips. If its loudness is within 0.5 LU of the
  /// target, and its peak within the limit, the announcement is returned unchanged. Otherwise it is mastered.
  ///
  /// - Parameter waveform: a sound whose near silence at each end is as long as `master` would leave it.
  /// - Throws: the same errors as ``master(_:)``.
  public func verified(_ waveform: Waveform) throws(MasteringError) -> MasteredWaveform {
    guard waveform.sampleRate == Self.sampleRate else { return try master(waveform) }
    guard let loudness = try LoudnessMeter.hundredths(of: waveform.samples, sampleRate: waveform.sampleRate),
      abs(target - loudness) <= Self.verifiedTolerance
    else { return try master(waveform) }
    let peak = TruePeak.hundredthsDBTP(of: waveform.samples)
    guard peak <= maximumTruePeak else { return try master(waveform) }
    return MasteredWaveform(
      waveform: waveform, loudnessLUFS: Double(loudness) / 100, truePeakDBTP: Double(peak) / 100)
  }

  /// Returns one run of an announcement, which is the words of one voice, as loud as every other run. It can then be
  /// joined with runs of other voices.
  ///
  /// Each end of the run is trimmed to 5 ms of near silence. The run is levelled to the target and limited like a whole
  /// announcement. A sound that cannot reach the target is made as loud as possible, which is not an error here.
  ///
  /// - Throws: `MasteringError`: `silent`, `unsupportedSampleRate`, `meterFailed`.
  public func leveled(_ waveform: Waveform) throws(MasteringError) -> Waveform {
    try process(waveform, edgeMilliseconds: 5).waveform
  }
}

/// A sound that is ready to be written, and the measurements of its final 16-bit samples.
public struct MasteredWaveform: Sendable, Hashable {
  public var waveform: Waveform

  /// The integrated loudness by libebur128 in LUFS, to 0.01.
  public var loudnessLUFS: Double

  /// The true peak by the filter of ITU-R BS.1770-4, Annex 2, in dBTP, to 0.01.
  public var truePeakDBTP: Double

  public init(waveform: Waveform, loudnessLUFS: Double, truePeakDBTP: Double) {
    self.waveform = waveform
    self.loudnessLUFS = loudnessLUFS
    self.truePeakDBTP = truePeakDBTP
  }
}

extension Mastering {
  /// The distance from the target that is close enough, in hundredths of a LU. It is a fifth of the promised 1 LU.
  private static let tolerance = 20

  /// The distance from the target, in hundredths of a LU, up to which a joined sound is left unchanged.
  private static let verifiedTolerance = 50

  /// The largest number of attempts to correct the gain if the result misses the target. Speech needs one or two
  /// attempts.
  private static let rounds = 6

  /// The margin by which the limiter stays below the permitted true peak, in hundredths of a dB. It covers the rounding
  /// to 16 bits. It also covers meters that evaluate other points between the samples than the standard's filter does:
  /// for single words with hissing sounds, libebur128 measures up to 0.21 dB more.
  private static let headroom = 25

  /// The lowest peak that counts as a sound, -60 dBFS. A quieter sound contains more rounding noise than voice.
  private static let lowestPeak: Float = 33

  private func process(_ waveform: Waveform, edgeMilliseconds: Int) throws(MasteringError) -> MasteredWaveform {
    let rate = Self.sampleRate
    guard waveform.sampleRate == rate else {
      throw MasteringError(
        .unsupportedSampleRate, "its rate is \(waveform.sampleRate) Hz instead of \(rate) Hz; convert it first.")
    }
    let offset = ConstantOffset.find(in: waveform.samples)
    let centred = offset == 0 ? waveform.samples : waveform.samples.map { Int16(clamping: Int($0) - offset) }
    let signal = SampleBlocks(waveform.samples, offset: offset)
    var limiter = LookAheadLimiter(signal)
    guard limiter.highestSample >= Self.lowestPeak else { throw Self.silent }

    let silence = Int(Decibels.factor(hundredths: Decibels.hundredths(Self.silenceThresholdDBFS)) * 32_768)
    let edge = (edgeMilliseconds * rate + 500) / 1000
    // A levelled voice peaks near -1 dBFS. This threshold therefore finds approximately the same ends as the trimming
    // after levelling. If a measurement starts at these ends, the meter's blocks of 400 ms are where they are in the
    // final sound, so most sounds need no second attempt.
    guard let roughly = Trimming(centred, threshold: Int(limiter.highestSample) * silence / 29_205, edge: edge) else {
      throw Self.silent
    }
    let trimmed = roughly.apply(to: centred)
    var loudness = LoudnessEstimate.hundredths(of: trimmed)
    // The meter can also measure sounds that are too short or too quiet for the estimate.
    if loudness == nil { loudness = try LoudnessMeter.hundredths(of: trimmed, sampleRate: rate) }
    guard let loudness else { throw Self.silent }
    var gain = target - loudness
    var ceiling = maximumTruePeak - Self.headroom
    var best: MasteredWaveform?
    for _ in 0..<Self.rounds {
      let setting = limiter.setting(
        gain: LookAheadLimiter.quantised(Decibels.factor(hundredths: gain)),
        ceiling: Float(Decibels.factor(hundredths: ceiling) * 32_768))
      var whole = signal.rendered(gain: setting.gain, curve: setting.curve)
      Fade.apply(to: &whole, in: whole.indices)
      guard let trimming = Trimming(whole, threshold: silence, edge: edge) else { throw Self.silent }
      let samples = trimming.apply(to: whole)
      let (peak, reading) = Self.measured(samples)
      guard peak <= maximumTruePeak else {
        ceiling -= peak - maximumTruePeak + 1
        continue
      }
      guard let loudness = try reading.get() else { throw Self.silent }
      let mastered = MasteredWaveform(
        waveform: Waveform(
          samples: samples, sampleRate: rate, marks: trimming.marks(waveform.marks, sampleRate: rate)),
        loudnessLUFS: Double(loudness) / 100, truePeakDBTP: Double(peak) / 100)
      if abs(target - loudness) <= Self.tolerance { return mastered }
      if let best, distance(best) <= distance(mastered) { return best }  // Further attempts do not come closer.
      best = mastered
      gain += target - loudness
    }
    guard let best else {
      throw MasteringError(.loudnessUnreachable, "its true peak cannot be reduced below the ceiling.")
    }
    return best
  }

  /// Measures a finished sound. If a core is idle, both measurements run at the same time. The peak is in hundredths of
  /// a dBTP. The loudness is in hundredths of a LU; it is `nil` when every sample is zero.
  private static func measured(_ samples: [Int16]) -> (peak: Int, loudness: Result<Int?, MasteringError>) {
    let peak = Locked(0)
    let loudness = Locked<Result<Int?, MasteringError>>(.success(nil))
    DispatchQueue.concurrentPerform(iterations: 2) { index in
      if index == 0 {
        let reading = Result { () throws(MasteringError) in
          try LoudnessMeter.hundredths(of: samples, sampleRate: sampleRate)
        }
        loudness.withLock { $0 = reading }
      } else {
        let reading = TruePeak.hundredthsDBTP(of: samples)
        peak.withLock { $0 = reading }
      }
    }
    return (peak.withLock { $0 }, loudness.withLock { $0 })
  }

  /// Returns a sound's distance from the target in LU.
  private func distance(_ mastered: MasteredWaveform) -> Double {
    abs(mastered.loudnessLUFS - Double(target) / 100)
  }

  private static var silent: MasteringError {
    MasteringError(.silent, "no part of it is loud enough to be heard; check that the engine spoke the text.")
  }
}
