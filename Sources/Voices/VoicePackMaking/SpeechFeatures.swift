// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The shape of a voice's spectrum every 15 ms: 13 mel-frequency cepstral coefficients and the slope of each. They
/// describe the spoken sounds, and not their loudness. Speech recognisers have long compared such features.
///
/// The features come from the band of 100 to 3,900 Hz, which even a telephone transmits.
struct SpeechFeatures: Sendable {
  /// One moment of the sound. Lanes 0 to 12 hold the coefficients, lanes 13 to 25 their slopes; the others are zero.
  typealias Frame = SpectralFrame

  /// The sample rate of the sounds, in Hz.
  static let sampleRate = 8_000

  /// The frames. There is at least one.
  private(set) var frames: [Frame]

  private static let coefficients = 13
  private static let bands = 24
  /// The time between frames, in samples.
  private static let step = 120
  /// The length of the window around each frame, in samples.
  private static let window = 200

  /// How far a band may lie below the loudest moment before it counts as silent: 60 dB, as a power.
  private static let silence: Float = 1e-6

  /// Measures a sound. ``normalized(_:)`` adds the slopes.
  ///
  /// - Parameter samples: the samples at ``sampleRate``.
  init(_ samples: [Int16]) {
    // The emphasis of high frequencies evens out the fall of a voice's spectrum.
    let padded = Array(repeating: Float(0), count: Self.window / 2) + samples.map { Float($0) / 32_768 }
    let emphasized = [Float(0)] + zip(padded.dropFirst(), padded).map { $0 - 0.97 * $1 }
    let count = 1 + samples.count / Self.step
    var powers: [[Float]] = []
    powers.reserveCapacity(count)
    for index in stride(from: 0, to: count, by: 2) {
      // Two real frames are transformed as the parts of one complex frame.
      let spectra = Self.transform.powers(
        of: Self.windowed(emphasized, at: index * Self.step),
        and: Self.windowed(emphasized, at: (index + 1) * Self.step))
      powers.append(Self.bandPowers(spectra.first))
      if index + 1 < count { powers.append(Self.bandPowers(spectra.second)) }
    }
    let loudest = powers.map { $0.reduce(0, +) }.max() ?? 0
    let floor = max(Self.silence * loudest / Float(Self.bands), 1e-12)
    frames = powers.map { bands in
      var frame = Frame.zero
      for (band, cosines) in zip(bands, Self.cosines) { frame.add(log(band + floor), times: cosines) }
      return frame
    }
  }

  private static func windowed(_ samples: [Float], at start: Int) -> [Float] {
    var frame = Array(repeating: Float(0), count: FourierTransform.length)
    for index in 0..<max(0, min(window, samples.count - start)) { frame[index] = samples[start + index] * hann[index] }
    return frame
  }

  private static func bandPowers(_ spectrum: [Float]) -> [Float] {
    filters.map { filter in
      var sum: Float = 0
      for (offset, weight) in filter.weights.enumerated() { sum += weight * spectrum[filter.first + offset] }
      return sum
    }
  }

  private static let transform = FourierTransform()

  private static let hann: [Float] = (0..<window).map { index in
    Float(0.5 - 0.5 * cos(2 * Double.pi * Double(index) / Double(window - 1)))
  }

  /// Triangular filters whose centres are equally far apart in mels.
  private static let filters: [(first: Int, weights: [Float])] = {
    func mels(_ hertz: Double) -> Double { 2595 * log10(1 + hertz / 700) }
    let (low, high) = (mels(100), mels(3_900))
    let corners = (0...bands + 1).map { index in
      700 * (pow(10, (low + (high - low) * Double(index) / Double(bands + 1)) / 2595) - 1)
    }
    return (0..<bands).map { band in
      let (left, centre, right) = (corners[band], corners[band + 1], corners[band + 2])
      let weights = (0...FourierTransform.length / 2).map { bin in
        let hertz = Double(bin * sampleRate) / Double(FourierTransform.length)
        return Float(max(0, min((hertz - left) / (centre - left), (right - hertz) / (right - centre))))
      }
      let first = weights.firstIndex { $0 > 0 } ?? 0
      return (first, Array(weights[first...].prefix { $0 > 0 }))
    }
  }()

  /// For each band, its share in each coefficient: a discrete cosine transform.
  private static let cosines: [Frame] = (0..<bands).map { band in
    var frame = Frame.zero
    for coefficient in 0..<coefficients {
      let angle = Double.pi / Double(bands) * (Double(band) + 0.5) * Double(coefficient)
      frame[coefficient] = Float(cos(angle) * (2 / Double(bands)).squareRoot())
    }
    return frame
  }
}

// MARK: - Normalising

extension SpeechFeatures {
  /// Returns the sounds of one speaker, in which each coefficient and each slope has the mean 0 and the variance 1 over
  /// all sounds together. This removes most of the effect of the microphone and the room.
  static func normalized(_ sounds: [SpeechFeatures]) -> [SpeechFeatures] {
    var sounds = sounds
    scale(&sounds)
    for index in sounds.indices { sounds[index].addSlopes() }
    scale(&sounds)
    return sounds
  }

  private static func scale(_ sounds: inout [SpeechFeatures]) {
    let count = Float(max(1, sounds.reduce(0) { $0 + $1.frames.count }))
    var mean = Frame.zero
    for sound in sounds { for frame in sound.frames { mean += frame } }
    mean = (1 / count) * mean
    var variance = Frame.zero
    for sound in sounds { for frame in sound.frames { variance += (frame - mean) * (frame - mean) } }
    var factor = Frame.zero
    for lane in 0..<Frame.width {
      let deviation = (variance[lane] / count).squareRoot()
      // A coefficient that never changes says nothing, and so becomes zero.
      factor[lane] = deviation < 1e-4 ? 0 : 1 / deviation
    }
    for index in sounds.indices {
      sounds[index].frames = sounds[index].frames.map { factor * ($0 - mean) }
    }
  }

  /// Adds the slope of each coefficient over five frames, by linear regression.
  private mutating func addSlopes() {
    let coefficients = frames
    func at(_ index: Int) -> Frame { coefficients[min(max(index, 0), coefficients.count - 1)] }
    for index in frames.indices {
      let slope = 0.1 * (at(index + 1) - at(index - 1) + 2 * (at(index + 2) - at(index - 2)))
      for lane in 0..<Self.coefficients { frames[index][Self.coefficients + lane] = slope[lane] }
    }
  }
}

/// The discrete Fourier transform of 256 samples, by Cooley and Tukey's method.
private struct FourierTransform: Sendable {
  static let length = 256

  private let reversed: [Int]
  /// The roots of unity: exp(-2πik / 256).
  private let cosines: [Float]
  private let sines: [Float]

  init() {
    reversed = (0..<Self.length).map { index in
      (0..<8).reduce(0) { $0 << 1 | (index >> $1) & 1 }
    }
    let angles = (0..<Self.length / 2).map { -2 * Double.pi * Double($0) / Double(Self.length) }
    cosines = angles.map { Float(cos($0)) }
    sines = angles.map { Float(sin($0)) }
  }

  /// Returns the power spectra of two frames, from 0 Hz to half the sample rate.
  func powers(of first: [Float], and second: [Float]) -> (first: [Float], second: [Float]) {
    var real = reversed.map { first[$0] }
    var imaginary = reversed.map { second[$0] }
    var half = 1
    while half < Self.length {
      for start in stride(from: 0, to: Self.length, by: 2 * half) {
        for offset in 0..<half {
          let root = offset * (Self.length / 2 / half)
          let (low, high) = (start + offset, start + offset + half)
          let re = real[high] * cosines[root] - imaginary[high] * sines[root]
          let im = real[high] * sines[root] + imaginary[high] * cosines[root]
          (real[high], imaginary[high]) = (real[low] - re, imaginary[low] - im)
          (real[low], imaginary[low]) = (real[low] + re, imaginary[low] + im)
        }
      }
      half *= 2
    }
    // The spectrum of a real frame is symmetrical, so the sum and the difference of mirrored values separate the two.
    var powers: (first: [Float], second: [Float]) = ([], [])
    for bin in 0...Self.length / 2 {
      let mirror = (Self.length - bin) % Self.length
      let (sumRe, sumIm) = (real[bin] + real[mirror], imaginary[bin] - imaginary[mirror])
      let (differenceRe, differenceIm) = (real[bin] - real[mirror], imaginary[bin] + imaginary[mirror])
      powers.first.append((sumRe * sumRe + sumIm * sumIm) / 4)
      powers.second.append((differenceRe * differenceRe + differenceIm * differenceIm) / 4)
    }
    return powers
  }
}
