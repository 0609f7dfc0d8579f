// SPDX-License-Identifier: Apache-2.0

/// Reproducible random decisions: Steele, Lea and Flood's SplitMix64 (2014).
struct SeededRandom {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  /// Returns whether something of this probability, from 0 to 1, happens.
  mutating func happens(_ probability: Double) -> Bool { probability > 0 && next() < probability }

  /// Returns a number from 0 up to, but not including, 1.
  mutating func next() -> Double {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    mixed ^= mixed >> 31
    // A Double holds 53 bits exactly.
    return Double(mixed >> 11) / Double(1 << 53)
  }
}
