// SPDX-License-Identifier: Apache-2.0

/// How loud a clip is near its ends, where it meets another clip or silence.
///
/// Integers throughout: the same samples on every machine.
struct CrossFade: Sendable {
  /// 3 ms: less than a consonant's onset, and enough to leave no click.
  static let milliseconds = 3

  /// What the other side of an edge is.
  enum Edge {
    /// A quarter of a sine. With the one of the clip that ends it keeps the power: sin² + cos² = 1.
    case clip
    /// The same squared, a raised cosine: it leaves silence and enters full level without a bend.
    case silence
  }

  /// The samples of a fade of full length.
  let length: Int

  /// From silence to full level, 32,768 being full, at the middle of each sample.
  private let sine: [Int32]
  private let sineSquared: [Int32]

  /// Recorded clips have this rate; made once, since a fade of its own would cost each announcement some µs.
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

  /// A sample as loud as it is at `index` of the `count` with which a clip begins, or at `index` from its end.
  ///
  /// - Precondition: `index` is below `count`, and `count` is at most ``length``.
  @inline(__always)
  func faded(_ sample: Int16, _ index: Int, of count: Int, to edge: Edge) -> Int16 {
    let curve = edge == .clip ? sine : sineSquared
    let gain = count == length ? curve[index] : Self.gain(on: curve, index, of: count)
    // The gain is at most one, so that the product fits.
    return Int16(truncatingIfNeeded: (Int32(sample) * gain + 0x4000) >> 15)
  }

  /// The same curve in fewer steps, for a clip too short for two whole fades; between two gains, a straight line.
  private static func gain(on curve: [Int32], _ index: Int, of count: Int) -> Int32 {
    let (place, rest) = ((2 * index + 1) * curve.count - count).quotientAndRemainder(dividingBy: 2 * count)
    let next = curve[min(place + 1, curve.count - 1)]
    return curve[place] + Int32(Int(next - curve[place]) * rest / (2 * count))
  }

  /// sin(π/2 × numerator / denominator) for a fraction from 0 to 1, 32,768 being one: its Taylor polynomial up to the
  /// 11th power, which is nearer than half a step.
  private static func sine(_ numerator: Int64, of denominator: Int64) -> Int32 {
    let one: Int64 = 1 << 30
    let halfPi: Int64 = 1_686_629_713  // π/2, 2³⁰ being one
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
