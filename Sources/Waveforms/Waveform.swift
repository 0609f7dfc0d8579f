// SPDX-License-Identifier: Apache-2.0

/// A mono recording in memory: signed 16-bit samples, their rate, and what is said when.
///
/// Samples are integers so that a waveform which was neither mastered nor re-sampled has the very bytes its
/// source gave: equal waveforms make equal files.
public struct Waveform: Sendable, Hashable {
  /// One sample a frame, full scale is ±32,767.
  public var samples: [Int16]

  /// Frames a second, in Hz; above zero.
  public var sampleRate: Int

  /// What is said when, in the order of speaking; times count from the first sample.
  public var marks: [Mark]

  /// - Precondition: `sampleRate` is above zero.
  public init(samples: [Int16], sampleRate: Int, marks: [Mark] = []) {
    precondition(sampleRate > 0, "A waveform has a sample rate above 0 Hz.")
    self.samples = samples
    self.sampleRate = sampleRate
    self.marks = marks
  }

  /// The length in whole milliseconds, rounded up, so that a sound of 29,999.1 ms is not taken for a shorter one.
  public var durationMilliseconds: Int {
    (samples.count * 1000 + sampleRate - 1) / sampleRate
  }
}

extension Waveform {
  /// A piece of what is said and where it is heard.
  public struct Mark: Sendable, Hashable {
    /// The words as they stand in the announcement.
    public var text: String

    /// Where it begins, in ms from the first sample.
    public var startMilliseconds: Int

    /// Where it ends, in ms from the first sample; never before its start.
    public var endMilliseconds: Int

    public init(text: String, startMilliseconds: Int, endMilliseconds: Int) {
      self.text = text
      self.startMilliseconds = startMilliseconds
      self.endMilliseconds = endMilliseconds
    }
  }
}
