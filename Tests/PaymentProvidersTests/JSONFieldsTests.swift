// SPDX-License-Identifier: Apache-2.0

import Foundation
import PaymentProviders
import Testing

@Suite("Fields of a JSON body")
struct JSONFieldsTests {
  private func field(_ value: String) throws -> JSONFields? {
    try #require(JSONFields(Data(#"{"a":\#(value)}"#.utf8)))["a"]
  }

  @Test("a JSON body may be nested 64 levels deep, and no deeper")
  func nesting() {
    func body(_ depth: Int) -> Data {
      Data((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
    }
    #expect(JSONFields(body(64)) != nil)
    #expect(JSONFields(body(65)) == nil)
  }

  @Test("a JSON body may have as many bytes as a request may have, and no more")
  func size() {
    let body = Data("[]".utf8) + Data(repeating: 0x20, count: ProviderRequest.largestBody - 2)
    #expect(JSONFields(body) != nil)
    #expect(JSONFields(body + Data([0x20])) == nil)
  }

  @Test("an id in a JSON body is a number of digits, or a text of 1 to 200 visible ASCII characters")
  func ids() throws {
    let longest = String(repeating: "x", count: 200)
    for text in ["!", "~", "pay_1", longest] { #expect(try field("\"\(text)\"")?.id == text) }
    #expect(try field("120")?.id == "120")
    for value in ["\"\"", "\"\(longest)x\"", "\"a b\"", "\"é\"", "\"\\u007f\"", "1.5", "1e3", "-1", "true", "[]"] {
      #expect(try field(value)?.id == nil, "\(value)")
    }
  }

  @Test("a time in a JSON body is a number of seconds up to the year 9999")
  func dates() throws {
    #expect(try field("253402300799")?.date == Date(timeIntervalSince1970: 253_402_300_799))
    #expect(try field("\"0\"")?.date == Date(timeIntervalSince1970: 0))
    for value in ["253402300800", "-1", "1.5", "\"soon\""] { #expect(try field(value)?.date == nil, "\(value)") }
  }

  @Test(
    "half of a surrogate pair in a JSON text is replaced, and all other bytes stay, even if an escape is cut off",
    arguments: [
      (#"\ud83d\ude00"#, #"\ud83d\ude00"#), (#"\ud83d"#, #"\ufffd"#), (#"\ude00x"#, #"\ufffdx"#),
      (#"\ud83d\ud83d\ude00"#, #"\ufffd\ud83d\ude00"#), (#"\\ud83d"#, #"\\ud83d"#), (#"\u00e9\n"#, #"\u00e9\n"#),
      (#"\"#, #"\"#), (#"\u"#, #"\u"#), (#"\ud83"#, #"\ud83"#), (#"\ud83d\"#, #"\ufffd\"#),
      (#"\ud83d\ude0"#, #"\ufffd\ude0"#),
    ])
  func halfPairs(body: String, mended: String) {
    #expect(String(decoding: JSONFields.withoutHalfPairs(Data(body.utf8)), as: UTF8.self) == mended)
  }
}
