// SPDX-License-Identifier: Apache-2.0

extension Waveform {
  /// Returns one waveform that consists of several waveforms, in order, with silence between them. The times of their
  /// marks are adjusted.
  ///
  /// Nothing is faded. If the ends of a part are not silent, there is a step at the join. Level and fade the parts
  /// first.
  ///
  /// - Parameters:
  ///   - parts: one or more waveforms with the same sample rate.
  ///   - pausesMilliseconds: the silence after each part except the last, 0 to 60,000 ms each.
  /// - Throws: `WaveformJoiningError`.
  public static func joined(
    _ parts: [Waveform], pausesMilliseconds: [Int]
  ) throws(WaveformJoiningError) -> Waveform {
    guard let first = parts.first else { throw WaveformJoiningError(.noParts, "there are no parts; give one or more.") }
    let rate = first.sampleRate
    if let other = parts.first(where: { $0.sampleRate != rate }) {
      throw WaveformJoiningError(
        .differentSampleRates,
        "one part has \(rate) Hz and another \(other.sampleRate) Hz; convert them to one rate first.")
    }
    guard pausesMilliseconds.count == parts.count - 1 else {
      throw WaveformJoiningError(
        .wrongPauseCount, "\(parts.count) parts need \(parts.count - 1) pauses instead of \(pausesMilliseconds.count).")
    }
    if let pause = pausesMilliseconds.first(where: { !(0...60_000).contains($0) }) {
      throw WaveformJoiningError(.pauseOutOfRange, "a pause has \(pause) ms; give 0 to 60,000 ms.")
    }

    let pauses = pausesMilliseconds.map { ($0 * rate + 500) / 1000 }
    var whole = Waveform(samples: [], sampleRate: rate)
    whole.samples.reserveCapacity(parts.reduce(0) { $0 + $1.samples.count } + pauses.reduce(0, +))
    for (index, part) in parts.enumerated() {
      let offset = (whole.samples.count * 1000 + rate / 2) / rate
      whole.samples.append(contentsOf: part.samples)
      whole.marks += part.marks.map { mark in
        Mark(
          text: mark.text, startMilliseconds: mark.startMilliseconds + offset,
          endMilliseconds: mark.endMilliseconds + offset)
      }
      if index < pauses.count {
        whole.samples.append(contentsOf: repeatElement(0, count: pauses[index]))
      }
    }
    return whole
  }
}

/// The reason why waveforms could not be joined.
public struct WaveformJoiningError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable {
    case noParts = "no_parts"
    case differentSampleRates = "different_sample_rates"
    case wrongPauseCount = "wrong_pause_count"
    case pauseOutOfRange = "pause_out_of_range"
  }

  public var code: Code

  /// What is wrong, and what would be correct.
  public var reason: String

  init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  public var description: String { "The waveforms cannot be joined: \(reason)" }
}
