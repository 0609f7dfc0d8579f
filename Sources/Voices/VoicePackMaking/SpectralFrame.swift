// SPDX-License-Identifier: Apache-2.0

/// The numbers that describe one moment of a sound, with the arithmetic of a vector.
///
/// There are 26 numbers (``width``), in lanes 0 to 25. Lane 27 is the ``constantLane``. `SIMD32` would hold the numbers
/// too, but the compiler translates the operations of `SIMD32` into loops over single lanes, which take 20 times as
/// long.
struct SpectralFrame: Sendable {
  /// The number of lanes that describe a sound.
  static let width = 26

  /// A lane that describes nothing. It is 1 where a map needs a constant, and 0 otherwise.
  static let constantLane = 27

  static let zero = SpectralFrame(repeating: 0)

  private static let partCount = 7
  private var parts: InlineArray<7, SIMD4<Float>>

  init(repeating value: Float) { parts = InlineArray(repeating: SIMD4(repeating: value)) }

  subscript(lane: Int) -> Float {
    get { parts[lane >> 2][lane & 3] }
    set { parts[lane >> 2][lane & 3] = newValue }
  }

  static func + (first: Self, second: Self) -> Self {
    var result = first
    result += second
    return result
  }

  static func - (first: Self, second: Self) -> Self {
    var result = first
    result -= second
    return result
  }

  /// Returns the products of the lanes.
  static func * (first: Self, second: Self) -> Self {
    var result = first
    for part in 0..<partCount { result.parts[part] *= second.parts[part] }
    return result
  }

  static func += (first: inout Self, second: Self) {
    for part in 0..<partCount { first.parts[part] += second.parts[part] }
  }

  static func -= (first: inout Self, second: Self) {
    for part in 0..<partCount { first.parts[part] -= second.parts[part] }
  }

  static func * (factor: Float, frame: Self) -> Self {
    var result = frame
    let factors = SIMD4(repeating: factor)
    for part in 0..<partCount { result.parts[part] *= factors }
    return result
  }

  /// Adds a multiple of another frame.
  mutating func add(_ factor: Float, times frame: Self) {
    let factors = SIMD4(repeating: factor)
    for part in 0..<Self.partCount { parts[part] += factors * frame.parts[part] }
  }

  /// Returns the distance between the ends of the two vectors.
  func distance(to other: Self) -> Float {
    var squares = SIMD4<Float>.zero
    for part in 0..<Self.partCount {
      let difference = parts[part] - other.parts[part]
      squares += difference * difference
    }
    return (squares[0] + squares[1] + squares[2] + squares[3]).squareRoot()
  }
}
