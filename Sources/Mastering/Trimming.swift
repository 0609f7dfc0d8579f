// SPDX-License-Identifier: Apache-2.0

import Waveforms

/// Which part of a levelled sound is kept, and how much silence is put around it.
struct Trimming {
  /// The samples to keep.
  let range: Range<Int>

  /// Zeros to add where the sound has too little before and after it.
  let silence: (before: Int, after: Int)

  /// Keeps everything from the first to the last sample above `threshold`, and `edge` samples more on both sides.
  ///
  /// - Returns: nil when no sample is above the threshold.
  init?(_ samples: [Int16], threshold: Int, edge: Int) {
    func isSound(_ sample: Int16) -> Bool { Int(sample.magnitude) > threshold }
    guard let first = samples.firstIndex(where: isSound), let last = samples.lastIndex(where: isSound) else {
      return nil
    }
    range = max(0, first - edge)..<min(samples.count, last + 1 + edge)
    silence = (before: edge - (first - range.lowerBound), after: edge - (range.upperBound - last - 1))
  }

  /// The kept part with its silence, faded where it was cut; the ends of the whole were faded before.
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

  /// The marks on the kept part, moved along and clamped to it, in ms.
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
