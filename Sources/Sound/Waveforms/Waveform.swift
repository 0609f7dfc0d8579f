// SPDX-License-Identifier: Apache-2.0

/// A mono recording in memory: signed 16-bit samples, their rate, and marks for the spoken words.
///
/// Samples are integers, so that a waveform that was neither mastered nor resampled keeps exactly the bytes of its
/// source. Equal waveforms give equal files.
public struct Waveform: Sendable, Hashable {
  /// The samples, one for each frame; full scale is ±32,767.
  public var samples: [Int16]

  /// The sample rate in Hz, above zero.
  public var sampleRate: Int

  /// The marks in speaking order. Their times are measured from the first sample.
  public var marks: [Mark]

  /// Creates a waveform.
  ///
  /// - Precondition: `sampleRate` is above zero.
  public init(samples: [Int16], sampleRate: Int, marks: [Mark] = []) {
    // Not from outside: the readers of sound files, of packs and of the engine's answers refuse such a rate.
    precondition(sampleRate > 0, "The sample rate of a waveform must be above 0 Hz.")
    self.samples = samples
    self.sampleRate = sampleRate
    self.marks = marks
  }

  /// The length in whole milliseconds, rounded up. A sound of 29,999.1 ms is therefore not reported as shorter than it
  /// is.
  public var durationMilliseconds: Int {
    (samples.count * 1000 + sampleRate - 1) / sampleRate
  }
}

extension Waveform {
  /// A piece of the spoken text, with the time at which it is heard.
  public struct Mark: Sendable, Hashable {
    /// The words, spelled as in the announcement.
    public var text: String

    /// The start in ms from the first sample.
    public var startMilliseconds: Int

    /// The end in ms from the first sample; never before the start.
    public var endMilliseconds: Int

    public init(text: String, startMilliseconds: Int, endMilliseconds: Int) {
      self.text = text
      self.startMilliseconds = startMilliseconds
      self.endMilliseconds = endMilliseconds
    }
  }
}
