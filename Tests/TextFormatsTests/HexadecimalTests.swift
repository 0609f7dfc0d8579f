// SPDX-License-Identifier: Apache-2.0

import Testing
import TextFormats

@Suite("Hexadecimal digits")
struct HexadecimalTests {
  @Test("a byte is written with two lower-case hexadecimal digits, and a number of 64 bits with 16")
  func written() {
    #expect([0, 9, 0x0A, 0xF0, 0xFF].hexadecimal == "00090af0ff")
    #expect([UInt8]().hexadecimal == "")
    #expect(UInt64(0xAB).hexadecimal == "00000000000000ab" && UInt64.max.hexadecimal == "ffffffffffffffff")
  }

  @Test("hexadecimal digits in either case are read, and every byte is read back")
  func read() {
    #expect([UInt8](hexadecimal: "00fFA9") == [0, 0xFF, 0xA9])
    let all = [UInt8](0...255)
    #expect([UInt8](hexadecimal: all.hexadecimal) == all)
    #expect([UInt8](hexadecimal: "") == [])
  }

  @Test(
    "an odd number of hexadecimal digits, and any other character, are refused",
    arguments: ["0", "abc", "0g", "+1", " 1", "é0", "٠٠"])
  func refused(text: String) {
    #expect([UInt8](hexadecimal: text) == nil)
  }
}
