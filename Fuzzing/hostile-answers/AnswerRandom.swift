// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// Random choices and bytes for answers. Equal seeds give equal choices and bytes.
struct AnswerRandom {
  private var generator: SplitMix64

  init(seed: UInt64) { generator = SplitMix64(seed: seed) }

  /// Returns true with a probability of one in the given number.
  mutating func once(in times: Int) -> Bool { number(0..<times) == 0 }

  mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }

  mutating func pick<Element>(_ elements: [Element]) -> Element { elements[number(0..<elements.count)] }

  mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
  }

  mutating func shuffle<Element>(_ elements: inout [Element]) { elements.shuffle(using: &generator) }

  /// Returns a decimal text of a number near the limits at which programs often fail, or a text that is nearly such a
  /// number.
  mutating func numberText() -> String {
    pick([
      "0", "-0", "-1", "1", "+1", "00", "007", " 7", "7 ", "0x10", "1e3", "1.5", "65535", "65536", "2147483647",
      "2147483648", "4294967296", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
      "18446744073709551616", String(repeating: "9", count: 400), "", "NaN", "\u{662}", "\u{FF11}",
    ])
  }

  /// Returns bytes with a few random changes: other bytes, missing ones, and repeated ones.
  mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<number(1..<5) where !bytes.isEmpty {
      let position = number(0..<bytes.count)
      switch number(0..<6) {
      case 0, 1: bytes[position] = self.bytes(1)[0]
      case 2: bytes[position] ^= 1 << UInt8(number(0..<8))
      case 3: bytes.remove(at: position)
      case 4: bytes.removeSubrange(position...)
      default: bytes.insert(contentsOf: bytes[position...].prefix(number(1..<20)), at: position)
      }
    }
    return bytes
  }
}
