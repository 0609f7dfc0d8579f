// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import AnnouncementService

@Suite("JSON text")
struct JSONTextTests {
  @Test(
    "every text that is written as JSON is read back unchanged",
    arguments: [
      "", "12.50", "支付宝 \u{1F600}", "\"quoted\" \\ back", "\u{0}\u{1F}\n\t\r", "</script>", "e\u{301}",
      "\u{2028}\u{7F}",
    ])
  func texts(_ text: String) throws {
    var inner = JSONText()
    inner.add("text", text)
    inner.add("missing", nil as String?)
    var outer = JSONText()
    outer.add("list", [text, "b"])
    outer.add("empty", [])
    outer.add("inner", inner)
    let object = try #require(try JSONSerialization.jsonObject(with: outer.data) as? [String: Any])
    #expect(object["list"] as? [String] == [text, "b"] && object["empty"] as? [String] == [])
    let read = try #require(object["inner"] as? [String: Any])
    #expect(read.count == 1 && (read["text"] as? String)?.unicodeScalars.elementsEqual(text.unicodeScalars) == true)
  }

  @Test("a JSON object without members is empty")
  func empty() { #expect(JSONText().data == Data("{}".utf8)) }
}
