// SPDX-License-Identifier: Apache-2.0

/// The gain of a clip near its ends, where it meets another clip or silence.
///
/// All calculations use integers, so that the samples are the same on every machine.
struct CrossFade: Sendable {
  /// The length of a fade in ms. At 3 ms, a fade is shorter than a consonant's onset, and long enough to avoid a click.
  static let milliseconds = 3

  /// The neighbour of a clip at one of its edges.
  enum Edge {
    /// Another clip. The gain follows a quarter of a sine. Together with the gain of the other clip, it keeps the power
    /// constant: sin² + cos² = 1.
    case clip
    /// Silence. The gain follows a raised cosine: the square of the gain of ``clip``. It rises smoothly from silence to
    /// full level.
    case silence
  }

  /// The length of a complete fade in samples.
  let length: Int

  /// The gains from silence to full level, each for the middle of a sample. Full level is 32,768.
  private let sine: [Int32]
  private let sineSquared: [Int32]

  /// The fade for the sample rate of recorded clips. It is created only once, because creating it for each announcement
  /// would take some µs.
  private static let common = CrossFade(length: 22_050 * milliseconds / 1000)

  static func of(sampleRate: Int) -> CrossFade {
    let length = sampleRate * milliseconds / 1000
    return length == common.length ? common : CrossFade(length: length)
  }

  private init(length: Int) {
    self.length = length
    let sine = (0..<length).map { Self.sine(Int64(2 * $0 + 1), of: Int64(2 * length)) }
    self.sine = sine
    sineSquared = sine.map { ($0 * $0 + 0x4000) >> 15 }
  }

  /// Returns a sample with its gain. `index` is the sample's position in a fade of `count` samples, counted from the
  /// start of the clip. In a fade at the end of a clip, it is counted backwards from the clip's end.
  ///
  /// - Precondition: `index` is below `count`, and `count` is at most ``length``.
  @inline(__always)
  func faded(_ sample: Int16, _ index: Int, of count: Int, to edge: Edge) -> Int16 {
    let curve = edge == .clip ? sine : sineSquared
    let gain = count == length ? curve[index] : Self.gain(on: curve, index, of: count)
    // The gain is at most one, so the product fits.
    return Int16(truncatingIfNeeded: (Int32(sample) * gain + 0x4000) >> 15)
  }

  /// Returns a gain of the same curve with fewer steps. It is used for a clip that is too short for two complete fades.
  /// Gains between steps are interpolated linearly.
  private static func gain(on curve: [Int32], _ index: Int, of count: Int) -> Int32 {
    let (place, rest) = ((2 * index + 1) * curve.count - count).quotientAndRemainder(dividingBy: 2 * count)
    let next = curve[min(place + 1, curve.count - 1)]
    return curve[place] + Int32(Int(next - curve[place]) * rest / (2 * count))
  }

  /// Returns sin(π/2 × numerator / denominator) for a fraction from 0 to 1. In the result 32,768 stands for 1. It uses
  /// the Taylor polynomial up to the 11th power, whose error is less than half a step.
  private static func sine(_ numerator: Int64, of denominator: Int64) -> Int32 {
    let one: Int64 = 1 << 30
    let halfPi: Int64 = 1_686_629_713  // π/2, where 2³⁰ is one.
    let x = halfPi * numerator / denominator
    let square = x * x / one
    var term = x
    var sum = x
    for power: Int64 in [3, 5, 7, 9, 11] {
      term = -term * square / one / (power * (power - 1))
      sum += term
    }
    return Int32(min((sum + 0x4000) >> 15, 0x8000))
  }
}
