// SPDX-License-Identifier: Apache-2.0

public import Waveforms

/// A recording converted to one channel and 22,050 Hz, but neither levelled nor trimmed.
public struct Recording: Sendable, Hashable {
  /// The sample rate of every recording in memory, in Hz, which is the rate of a pack's clips.
  public static let sampleRate = 22_050

  /// The samples: mono, with full scale at ±1. A float file may exceed full scale. Their mean is zero.
  public var samples: [Float]

  /// The mean of the source's samples, where 1 is full scale. It is removed before the rate conversion, which would
  /// turn it into a click at both ends.
  public var sourceOffset: Double

  /// The highest sample in any channel of the unmodified source; 1 is full scale.
  public var sourcePeak: Float

  /// The number of clipped samples in each 10 ms of the source. A sample is clipped if it belongs to three or more
  /// consecutive equal samples at 99 % of full scale or above, which no voice produces. The array is empty when the
  /// number is unknown.
  var clippedSamples: [Int32]

  /// The number of clipped samples in the source.
  public var clippedSampleCount: Int { clippedSamples.reduce(0) { $0 + Int($1) } }

  /// Creates a recording from a speech engine's sound.
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

  /// Returns a range of the recording, in samples.
  func part(_ range: Range<Int>) -> Recording {
    let blocks = range.lowerBound * 100 / Self.sampleRate..<(range.upperBound * 100 / Self.sampleRate + 1)
    let samples = Array(samples[range])
    return Recording(
      samples: samples, sourceOffset: sourceOffset, sourcePeak: samples.reduce(0) { max($0, $1.magnitude) },
      clippedSamples: Array(clippedSamples[blocks.clamped(to: clippedSamples.indices)]))
  }
}
