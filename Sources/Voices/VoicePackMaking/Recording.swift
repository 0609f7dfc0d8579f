// SPDX-License-Identifier: Apache-2.0

public import Waveforms

/// A recording that was converted to one channel and 22,050 Hz, but was neither levelled nor trimmed.
public struct Recording: Sendable, Hashable {
  /// The sample rate in Hz of every recording in memory. It equals the rate of a pack's clips.
  public static let sampleRate = 22_050

  /// The mono samples, with full scale at ±1. Samples from a float file may exceed full scale. Their mean is zero.
  public var samples: [Float]

  /// The sample rate of the source in Hz.
  public var sourceSampleRate: Int

  /// The number of clipped samples in each 10 ms of the source. A sample is clipped if it belongs to at least three
  /// consecutive equal samples at 99 % of full scale or above. No voice produces such samples. The array is empty when
  /// the numbers are unknown.
  var clippedSamples: [Int32]

  /// The number of clipped samples in the source.
  public var clippedSampleCount: Int { clippedSamples.reduce(0) { $0 + Int($1) } }

  /// Creates a recording from the sound of a speech engine.
  ///
  /// - Throws: `PackMakingError`: `conversionFailed`; `recordingUnreadable` for a rate outside 4,000 to 192,000 Hz.
  public init(_ waveform: Waveform) throws(PackMakingError) {
    var resampler = try RecordingResampler(from: waveform.sampleRate)
    let source = waveform.samples.map { Float($0) / 32_768 }
    // The mean is removed before the conversion, which would turn it into a click at both ends.
    let offset = source.reduce(0.0) { $0 + Double($1) } / Double(max(1, source.count))
    samples = try resampler.next(source.map { $0 - Float(offset) }) + resampler.finish()
    sourceSampleRate = waveform.sampleRate
    clippedSamples = []
  }

  init(samples: [Float], sourceSampleRate: Int, clippedSamples: [Int32]) {
    self.samples = samples
    self.sourceSampleRate = sourceSampleRate
    self.clippedSamples = clippedSamples
  }

  /// Returns the part of the recording in a range of samples.
  func part(_ range: Range<Int>) -> Recording {
    let blocks = range.lowerBound * 100 / Self.sampleRate..<(range.upperBound * 100 / Self.sampleRate + 1)
    return Recording(
      samples: Array(samples[range]), sourceSampleRate: sourceSampleRate,
      clippedSamples: Array(clippedSamples[blocks.clamped(to: clippedSamples.indices)]))
  }
}
