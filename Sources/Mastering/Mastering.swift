// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Dispatch
public import Waveforms

/// Makes every announcement equally loud, without silence or clicks at its ends: EBU R 128 for a sound of seconds.
///
/// What `master` does, in this order: takes off a constant offset; sets the gain that brings the integrated
/// loudness (ITU-R BS.1770-4, by libebur128) to -16 LUFS; limits the true peak to -1 dBTP; rounds to 16 bits (halves
/// to even, no dither, which would be noise of another kind in every file); trims to 30 ms of near silence at both
/// ends, where zeros are added to a recording that has less; fades 2 ms in and 5 ms out where what is left of the
/// recording begins and ends; and measures the samples it hands out.
///
/// **Near silence** is everything at or below -50 dBFS *after* levelling: 34 dB below the voice, which no room where
/// a payment is announced is quiet enough to hear, and far below any sound of speech (the engine's softest, f and h,
/// peak at -24 dBFS). The threshold is laid at the levelled sound so that it is the same for quiet and loud voices.
///
/// The same samples give the same samples on every machine (see `Decibels`): libebur128's own last bits may differ
/// between processors, so gains are derived from its reading in whole hundredths of a LU.
public struct Mastering: Sendable, Hashable {
  /// Part of a clip's recipe: rises with every change that changes samples.
  public static let version: Int = 2

  /// The only rate taken, in Hz. Every native voice of the engine has it, and a sound that never is converted keeps
  /// its samples; another rate is refused and not converted silently.
  public static let sampleRate: Int = 22_050

  /// The highest sample that counts as silence, in dBFS after levelling.
  public static let silenceThresholdDBFS: Double = -50

  private let target: Int
  private let maximumTruePeak: Int
  private let edgeSilence: Int

  /// - Parameters:
  ///   - targetLUFS: the integrated loudness to reach, in LUFS; taken in steps of 0.01.
  ///   - maximumTruePeakDBTP: the highest true peak, in dBTP, at most 0; taken in steps of 0.01.
  ///   - edgeSilenceMilliseconds: near silence to leave at both ends, in ms.
  /// - Precondition: the loudness is between -70 and 0 LUFS, the peak between -40 and 0 dBTP, the silence between 0
  ///   and 1,000 ms.
  public init(
    targetLUFS: Double = -16, maximumTruePeakDBTP: Double = -1, edgeSilenceMilliseconds: Int = 30
  ) {
    precondition((-70...0).contains(targetLUFS), "The target is between -70 and 0 LUFS.")
    precondition((-40...0).contains(maximumTruePeakDBTP), "The true peak is between -40 and 0 dBTP.")
    precondition((0...1000).contains(edgeSilenceMilliseconds), "The silence is between 0 and 1,000 ms.")
    target = Decibels.hundredths(targetLUFS)
    maximumTruePeak = Decibels.hundredths(maximumTruePeakDBTP)
    edgeSilence = edgeSilenceMilliseconds
  }

  /// A whole announcement, ready to be written: within 1 LU of the target (0.2 LU, unless limiting hinders it).
  ///
  /// Marks move along with what is trimmed and are clamped to what is left. A sound of less than 400 ms has no
  /// integrated loudness in the standard; it is measured repeated, which is how loud it is while it lasts.
  /// - Throws: `MasteringError`: `silent`, `unsupportedSampleRate`, `loudnessUnreachable`, `meterFailed`.
  public func master(_ waveform: Waveform) throws(MasteringError) -> MasteredWaveform {
    let mastered = try process(waveform, edgeMilliseconds: edgeSilence)
    guard distance(mastered) <= 1 else {
      throw MasteringError(
        .loudnessUnreachable,
        "its peaks stand so high above its loudness that no limiter can hide it; use a recording without clicks.")
    }
    return mastered
  }

  /// A whole announcement of clips that were mastered one by one: measured, and handed out as it is when it holds what
  /// ``master(_:)`` promises, within half the tolerance of 1 LU; mastered when it does not.
  ///
  /// - Parameter waveform: near silent at both ends for as long as `master` would leave it.
  /// - Throws: as ``master(_:)``.
  public func verified(_ waveform: Waveform) throws(MasteringError) -> MasteredWaveform {
    guard waveform.sampleRate == Self.sampleRate else { return try master(waveform) }
    let peak = TruePeak.hundredthsDBTP(of: waveform.samples)
    guard peak <= maximumTruePeak,
      let loudness = try LoudnessMeter.hundredths(of: waveform.samples, sampleRate: waveform.sampleRate),
      abs(target - loudness) <= Self.verifiedTolerance
    else { return try master(waveform) }
    return MasteredWaveform(
      waveform: waveform, loudnessLUFS: Double(loudness) / 100, truePeakDBTP: Double(peak) / 100)
  }

  /// One run of an announcement, as loud as every other run, to be joined with runs of other voices.
  ///
  /// Trimmed to 5 ms at both ends, levelled to the target and limited like a whole. A sound that cannot reach the
  /// target comes as loud as it can be made; that is no error here.
  /// - Throws: `MasteringError`: `silent`, `unsupportedSampleRate`, `meterFailed`.
  public func leveled(_ waveform: Waveform) throws(MasteringError) -> Waveform {
    try process(waveform, edgeMilliseconds: 5).waveform
  }
}

/// A sound that is ready to be written, and what was measured on its final 16-bit samples.
public struct MasteredWaveform: Sendable, Hashable {
  public var waveform: Waveform

  /// Integrated loudness by libebur128, in LUFS, to 0.01.
  public var loudnessLUFS: Double

  /// The true peak by the filter of ITU-R BS.1770-4, Annex 2, in dBTP, to 0.01.
  public var truePeakDBTP: Double
}

extension Mastering {
  /// How near to the target is near enough, in hundredths of a LU. A fifth of what is promised.
  private static let tolerance = 20

  /// How near to the target a joined sound may lie to be left as it is, in hundredths of a LU.
  private static let verifiedTolerance = 50

  /// How often the gain is set anew when the result measures wrong. Speech needs one round, or two.
  private static let rounds = 6

  /// How far below the permitted true peak the limiter aims, in hundredths of a dB: for rounding to 16 bits, and for
  /// meters that look at other points between the samples than the standard's filter does (on hissing single words
  /// libebur128 reads up to 0.21 dB higher).
  private static let headroom = 25

  /// The lowest peak that is a sound at all, -60 dBFS: below it there is more rounding noise than voice.
  private static let lowestPeak: Float = 33

  private func process(_ waveform: Waveform, edgeMilliseconds: Int) throws(MasteringError) -> MasteredWaveform {
    let rate = Self.sampleRate
    guard waveform.sampleRate == rate else {
      throw MasteringError(
        .unsupportedSampleRate, "it has \(waveform.sampleRate) Hz and must have \(rate) Hz; convert it first.")
    }
    let offset = ConstantOffset.find(in: waveform.samples)
    let centred = offset == 0 ? waveform.samples : waveform.samples.map { Int16(clamping: Int($0) - offset) }
    let signal = SampleBlocks(waveform.samples, offset: offset)
    var limiter = LookAheadLimiter(signal)
    guard limiter.highestSample >= Self.lowestPeak else { throw Self.silent }

    let silence = Int(Decibels.factor(hundredths: Decibels.hundredths(Self.silenceThresholdDBFS)) * 32_768)
    let edge = (edgeMilliseconds * rate + 500) / 1000
    // A levelled voice peaks near -1 dBFS, so this finds about the ends that are found after levelling. Measuring from
    // there puts the meter's blocks of 400 ms where they will lie in the end: it saves most sounds a second round.
    guard let roughly = Trimming(centred, threshold: Int(limiter.highestSample) * silence / 29_205, edge: edge) else {
      throw Self.silent
    }
    let trimmed = roughly.apply(to: centred)
    var loudness = LoudnessEstimate.hundredths(of: trimmed)
    // What the estimate cannot read, because it is short or soft, the meter has a rule for.
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
      if let best, distance(best) <= distance(mastered) { return best }  // it gets no nearer
      best = mastered
      gain += target - loudness
    }
    guard let best else {
      throw MasteringError(.loudnessUnreachable, "its true peak cannot be brought under the ceiling.")
    }
    return best
  }

  /// The two readings of a finished sound, at the same time where a core has nothing to do: its true peak in hundredths of
  /// a dBTP, and its loudness in hundredths of a LU, `nil` when every sample is zero.
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

  /// How far from the target a sound is, in LU.
  private func distance(_ mastered: MasteredWaveform) -> Double {
    abs(mastered.loudnessLUFS - Double(target) / 100)
  }

  private static var silent: MasteringError {
    MasteringError(.silent, "nothing in it is loud enough to be heard; check that the engine spoke the text.")
  }
}
