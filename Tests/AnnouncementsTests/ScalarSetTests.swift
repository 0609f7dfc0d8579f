// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Announcements

@Suite("Sets of Unicode scalars")
struct ScalarSetTests {
  @Test("a set of scalars is read from letters and ranges, below and above U+1000")
  func reads() throws {
    let set = try #require(ScalarSet(ranges: "a-c é 一-三 \u{FFE}-\u{1001}"))
    for scalar in "abcé一丁三\u{FFE}\u{FFF}\u{1000}\u{1001}".unicodeScalars { #expect(set.contains(scalar)) }
    for scalar in "dAè\u{FFD}\u{1002}四\u{10FFFF}".unicodeScalars { #expect(!set.contains(scalar)) }
  }

  @Test(
    "a set of scalars is refused if its text is not a list of letters and ranges",
    arguments: ["ab", "a-", "-a", "b-a", "a-bc", "a+b"])
  func refuses(text: String) {
    #expect(ScalarSet(ranges: text) == nil)
  }

  @Test("ranges of a scalar set that overlap or touch give the same set in any order")
  func overlaps() throws {
    for text in ["丁-七 一-三 丅-不", "丅-不 丁-七 一-三", "一-不 三 丁", "丁 一 三 丂-不"] {
      let set = try #require(ScalarSet(ranges: text))
      for value in UInt32(0x4DFF)...0x4E10 {
        let scalar = try #require(Unicode.Scalar(value))
        #expect(set.contains(scalar) == ("一"..."不").contains(scalar), "\(text), U+\(String(value, radix: 16))")
      }
    }
  }

  @Test("an empty set has no scalar")
  func empty() {
    #expect(!ScalarSet().contains("a"))
    #expect(!ScalarSet().contains("一"))
  }

  @Test("a set contains the scalars that were inserted one by one")
  func inserts() {
    let scalars = "zß一ひあ\u{1F1E9}क".unicodeScalars
    let set = ScalarSet(scalars)
    for scalar in scalars { #expect(set.contains(scalar)) }
    for scalar in "yà丁びख".unicodeScalars { #expect(!set.contains(scalar)) }
  }
}
