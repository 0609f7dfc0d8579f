// SPDX-License-Identifier: Apache-2.0

package import Waveforms

extension ToneDescription {
  /// The highest sample before mastering, about -1 dBFS.
  private static let peak = 29_000.0

  /// Synthesizes the tone. The same description gives the same samples on every machine.
  ///
  /// Each note rises and falls along a raised cosine, so it has no step at its ends.
  ///
  /// - Precondition: the description has no fault.
  package func waveform(sampleRate: Int) -> Waveform {
    func samples(_ milliseconds: Int) -> Int { milliseconds * sampleRate / 1000 }
    var mix = [Double](repeating: 0, count: samples(notes.map(\.endMilliseconds).max() ?? 0))
    for note in notes {
      let sound = sound(of: note, count: samples(note.lengthMilliseconds), sampleRate: sampleRate)
      let start = samples(note.startMilliseconds)
      for index in 0..<min(sound.count, mix.count - start) { mix[start + index] += sound[index] }
    }
    let highest = mix.reduce(0) { max($0, $1.magnitude) }
    guard highest > 0 else { return Waveform(samples: mix.map { _ in 0 }, sampleRate: sampleRate) }
    let scale = Self.peak / highest
    return Waveform(samples: mix.map { Int16(($0 * scale).rounded(.toNearestOrEven)) }, sampleRate: sampleRate)
  }

  private func sound(of note: Note, count: Int, sampleRate: Int) -> [Double] {
    var sound = [Double](repeating: 0, count: count)
    for partial in partials {
      // A sine wave that decays exponentially is the response of a two-pole resonator, which needs two multiplications
      // for each sample.
      let angle = 2 * Double.pi * note.hertz * partial.ratio / Double(sampleRate)
      let (sine, cosine) = ExactMath.sineAndCosine(angle)
      let decay = ExactMath.decayFactor(
        samplesTo60Decibels: partial.decayMilliseconds * Double(sampleRate) / 1000)
      let (first, second) = (2 * decay * cosine, -decay * decay)
      var (value, next) = (0.0, partial.level * note.level * decay * sine)
      for index in sound.indices {
        sound[index] += value
        (value, next) = (next, first * next + second * value)
      }
    }
    fade(&sound, sampleRate: sampleRate)
    return sound
  }

  private func fade(_ sound: inout [Double], sampleRate: Int) {
    let attack = min(attackMilliseconds * sampleRate / 1000, sound.count)
    for index in 0..<attack { sound[index] *= Self.raisedCosine(index, of: attack) }
    let release = min(releaseMilliseconds * sampleRate / 1000, sound.count)
    for index in 0..<release { sound[sound.count - 1 - index] *= Self.raisedCosine(index, of: release) }
  }

  /// Returns sin²(π/2 × index / count).
  private static func raisedCosine(_ index: Int, of count: Int) -> Double {
    let sine = ExactMath.sineAndCosine(Double.pi / 2 * Double(index) / Double(count)).sine
    return sine * sine
  }
}
