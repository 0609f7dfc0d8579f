// SPDX-License-Identifier: Apache-2.0

public import Waveforms

/// A recording as it was made, brought to one channel and 22,050 Hz: neither levelled nor trimmed.
public struct Recording: Sendable, Hashable {
  /// In Hz, of every recording in memory: the rate of a pack's clips.
  public static let sampleRate = 22_050

  /// Mono, full scale being ±1; a float file may go beyond. Their mean is zero.
  public var samples: [Float]

  /// The mean of the source's samples, 1 being full scale. It is taken off before the rate is converted, which would
  /// make a click of it at both ends.
  public var sourceOffset: Double

  /// The highest sample of any channel of the source, before anything was done to it; 1 is full scale.
  public var sourcePeak: Float

  /// How many samples of the source were clipped, for each 10 ms: three or more equal samples on end at 99 % of full
  /// scale or above, which no voice makes. Empty when that is not known.
  var clippedSamples: [Int32]

  /// How many samples of the source were clipped.
  public var clippedSampleCount: Int { clippedSamples.reduce(0) { $0 + Int($1) } }

  /// A speech engine's sound.
  ///
  /// - Throws: `PackMakingError`: `conversionFailed`, `recordingUnreadable` for a rate outside 4,000 to 192,000 Hz.
  public init(_ waveform: Waveform) throws(PackMakingError) {
    var resampler = try RecordingResampler(from: waveform.sampleRate)
    let source = waveform.samples.map { Float($0) / 32_768 }
    let offset = source.reduce(0.0) { $0 + Double($1) } / Double(max(1, source.count))
    samples = try resampler.next(source.map { $0 - Float(offset) }) + resampler.finish()
    sourceOffset = offset
    sourcePeak = Float(waveform.samples.reduce(0) { max($0, $1.magnitude) }) / 32_768
    clippedSamples = []
  }

  init(samples: [Float], sourceOffset: Double, sourcePeak: Float, clippedSamples: [Int32]) {
    self.samples = samples
    self.sourceOffset = sourceOffset
    self.sourcePeak = sourcePeak
    self.clippedSamples = clippedSamples
  }

  /// A part of it, by samples.
  func part(_ range: Range<Int>) -> Recording {
    let blocks = range.lowerBound * 100 / Self.sampleRate..<(range.upperBound * 100 / Self.sampleRate + 1)
    let samples = Array(samples[range])
    return Recording(
      samples: samples, sourceOffset: sourceOffset, sourcePeak: samples.reduce(0) { max($0, $1.magnitude) },
      clippedSamples: Array(clippedSamples[blocks.clamped(to: clippedSamples.indices)]))
  }
}
