// SPDX-License-Identifier: Apache-2.0

/// The generator of request ids. An id has 128 random bits, so it reveals neither the number of requests nor the next
/// id.
enum RandomID {
  /// Returns a new id of 32 hexadecimal digits.
  static func make() -> String {
    var bits = UInt128.random(in: .min ... .max)
    // Safe: the 32 digits fill the capacity, and are ASCII. The text is made in one piece, which is fast, because each
    // response needs an id.
    return String(unsafeUninitializedCapacity: 32) { digits in
      for place in (0..<32).reversed() {
        let digit = UInt8(truncatingIfNeeded: bits & 0xF)
        digits[place] = digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
        bits >>= 4
      }
      return 32
    }
  }
}
