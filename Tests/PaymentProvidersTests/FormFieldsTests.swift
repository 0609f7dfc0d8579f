// SPDX-License-Identifier: Apache-2.0

import PaymentProviders
import Testing

@Suite("Forms and queries")
struct FormFieldsTests {
  @Test("the keys and values of a form or query are decoded, and a plus is a space only in a form")
  func decoding() throws {
    let form = try #require(FormFields("a=1+2&b%20c=%E5%BC%A0&d&e=x=y&".utf8, plusIsSpace: true))
    #expect(try form.values() == ["a": "1 2", "b c": "张", "d": "", "e": "x=y"])
    #expect(try FormFields("a=1+2".utf8, plusIsSpace: false)?.value(of: "a") == "1+2")
    #expect(try FormFields("".utf8, plusIsSpace: true)?.values() == [:])
  }

  @Test("a form or query in which a key occurs twice is refused, also if the key is percent-encoded")
  func repeated() throws {
    let form = try #require(FormFields("a=1&%61=1".utf8, plusIsSpace: true))
    #expect(throws: ProviderRejection.self) { try form.values() }
    #expect(throws: ProviderRejection.self) { try form.value(of: "a") }
    #expect(try form.value(of: "b") == nil)
  }

  @Test(
    "a form or query that is not percent-encoded UTF-8 is refused",
    arguments: ["a=%", "a=%4", "a=%zz", "a=%FF", "%C3=1"])
  func malformed(text: String) { #expect(FormFields(text.utf8, plusIsSpace: true) == nil) }
}
