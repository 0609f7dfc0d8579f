// SPDX-License-Identifier: Apache-2.0

import Foundation
import Waveforms

/// Brings a sound from elsewhere, such as a push-to-talk message, to the loudness of announcements.
///
/// The loudness is measured as in ITU-R BS.1770-4: a high shelf filter and a high-pass filter, then the mean square of
/// blocks of 400 ms, without the blocks below two gates. `Mastering` measures with libebur128, which a portable target
/// cannot link. Tests compare the results of both.
enum MessageLevel {
  /// The loudness of all announcements, in LUFS.
  static let target = -16.0
  /// The highest sample value of the result, in dB of full scale. The true peak, between the samples, is up to 1 dB
  /// higher.
  static let highestPeak = -2.0
  /// The loudness below which a sound counts as silence, in LUFS.
  static let silence = -50.0

  /// Brings a sound to the loudness of announcements, or as near to it as its peaks allow. The samples are changed in
  /// place, because a copy would take much of an extension's memory.
  ///
  /// - Returns: False if the sound is silent or shorter than 400 ms. The sound is then unchanged.
  static func level(_ waveform: inout Waveform) -> Bool {
    guard let loudness = loudness(of: waveform), loudness > silence else { return false }
    let peak = waveform.samples.lazy.map { abs(Double($0)) }.max() ?? 0
    let highest = 32_768 * pow(10, highestPeak / 20)
    let gain = min(pow(10, (target - loudness) / 20), highest / max(peak, 1))
    for index in waveform.samples.indices {
      waveform.samples[index] = Int16(clamping: Int((Double(waveform.samples[index]) * gain).rounded()))
    }
    return true
  }

  /// Returns the integrated loudness in LUFS; nil if the sound is shorter than a block of 400 ms or below the gate of
  /// -70 LUFS.
  static func loudness(of waveform: Waveform) -> Double? {
    let rate = Double(waveform.sampleRate)
    let hop = waveform.sampleRate / 10
    guard hop > 0 else { return nil }
    var shelf = Filter.highShelf(rate)
    var pass = Filter.highPass(rate)
    var energies: [Double] = []
    var energy = 0.0
    var count = 0
    for sample in waveform.samples {
      let weighted = pass.filter(shelf.filter(Double(sample) / 32_768))
      energy += weighted * weighted
      count += 1
      guard count == hop else { continue }
      energies.append(energy / Double(hop))
      (energy, count) = (0, 0)
    }
    guard energies.count >= 4 else { return nil }
    let blocks = (4...energies.count).map { end in energies[end - 4..<end].reduce(0, +) / 4 }
    func mean(above gate: Double) -> Double? {
      let audible = blocks.filter { decibels($0) > gate }
      return audible.isEmpty ? nil : audible.reduce(0, +) / Double(audible.count)
    }
    guard let absolute = mean(above: -70), let relative = mean(above: decibels(absolute) - 10) else { return nil }
    return decibels(relative)
  }

  /// Returns the loudness of a mean square, in LUFS (BS.1770-4, section 2).
  private static func decibels(_ meanSquare: Double) -> Double { -0.691 + 10 * log10(meanSquare) }

  /// A second-order filter in direct form.
  private struct Filter {
    var forward: (Double, Double, Double)
    var back: (Double, Double)
    private var state = (0.0, 0.0)

    mutating func filter(_ input: Double) -> Double {
      let output = forward.0 * input + state.0
      state.0 = forward.1 * input - back.0 * output + state.1
      state.1 = forward.2 * input - back.1 * output
      return output
    }

    /// Returns the high shelf filter: about 4 dB above 1.7 kHz, for any sample rate. BS.1770-4 gives the coefficients
    /// for 48 kHz only. The frequency, the gain and the quality used here are those of that filter (Brecht De Man,
    /// "Evaluation of implementations of the EBU R128 loudness measurement", 2018).
    static func highShelf(_ rate: Double) -> Filter {
      let (frequency, gain, quality) = (1681.974450955533, 3.999843853973347, 0.7071752369554196)
      let warped = tan(.pi * frequency / rate)
      let high = pow(10, gain / 20)
      let band = pow(high, 0.4996667741545416)
      let scale = 1 + warped / quality + warped * warped
      return Filter(
        forward: (
          (high + band * warped / quality + warped * warped) / scale, 2 * (warped * warped - high) / scale,
          (high - band * warped / quality + warped * warped) / scale
        ),
        back: (2 * (warped * warped - 1) / scale, (1 - warped / quality + warped * warped) / scale))
    }

    /// Returns the high-pass filter at 38 Hz.
    static func highPass(_ rate: Double) -> Filter {
      let (frequency, quality) = (38.13547087602444, 0.5003270373238773)
      let warped = tan(.pi * frequency / rate)
      let scale = 1 + warped / quality + warped * warped
      return Filter(
        forward: (1, -2, 1),
        back: (2 * (warped * warped - 1) / scale, (1 - warped / quality + warped * warped) / scale))
    }
  }
}
