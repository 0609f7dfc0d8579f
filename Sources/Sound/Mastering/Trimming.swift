// SPDX-License-Identifier: Apache-2.0

import Waveforms

/// The part of a levelled sound that is kept, and the silence that is added around it.
struct Trimming {
  /// The range of the kept samples.
  let range: Range<Int>

  /// The number of zeros to add before and after a sound that has too little silence.
  let silence: (before: Int, after: Int)

  /// Keeps the samples from the first to the last that is above `threshold`, and up to `edge` more samples on each
  /// side.
  ///
  /// - Returns: `nil` when no sample is above the threshold.
  init?(_ samples: [Int16], threshold: Int, edge: Int) {
    func isSound(_ sample: Int16) -> Bool { Int(sample.magnitude) > threshold }
    guard let first = samples.firstIndex(where: isSound), let last = samples.lastIndex(where: isSound) else {
      return nil
    }
    range = max(0, first - edge)..<min(samples.count, last + 1 + edge)
    silence = (before: edge - (first - range.lowerBound), after: edge - (range.upperBound - last - 1))
  }

  /// Returns the kept part with its silence. An end that was cut is faded. An end that was not cut has already been
  /// faded.
  func apply(to samples: [Int16]) -> [Int16] {
    var kept: [Int16] = []
    kept.reserveCapacity(silence.before + range.count + silence.after)
    kept.append(contentsOf: repeatElement(0, count: silence.before))
    kept.append(contentsOf: samples[range])
    let sound = silence.before..<kept.count
    Fade.apply(
      to: &kept, in: sound, start: range.lowerBound > 0, end: range.upperBound < samples.count)
    kept.append(contentsOf: repeatElement(0, count: silence.after))
    return kept
  }

  /// Returns the marks of the kept part in ms. They are shifted, and limited to the kept part.
  func marks(_ marks: [Waveform.Mark], sampleRate: Int) -> [Waveform.Mark] {
    let shift = milliseconds(range.lowerBound - silence.before, sampleRate)
    let end = milliseconds(silence.before + range.count + silence.after, sampleRate)
    return marks.map { mark in
      var mark = mark
      mark.startMilliseconds = min(max(0, mark.startMilliseconds - shift), end)
      mark.endMilliseconds = min(max(mark.startMilliseconds, mark.endMilliseconds - shift), end)
      return mark
    }
  }

  private func milliseconds(_ samples: Int, _ sampleRate: Int) -> Int {
    Int((Double(samples) * 1000 / Double(sampleRate)).rounded(.toNearestOrAwayFromZero))
  }
}
