// SPDX-License-Identifier: Apache-2.0

import Foundation
import ServiceAccess
import Testing

@Suite("Codes for signing in")
struct SignInCodeTests {
  @Test("a sign-in code has 20 letters and digits that are not easily confused, and no two codes are equal")
  func made() {
    let codes = (0..<1000).map { _ in SignInCode.make() }
    #expect(Set(codes).count == 1000)
    #expect(codes.allSatisfy { $0.text.wholeMatch(of: /[0-9abcdefghjkmnpqrstvwxyz]{20}/) != nil })
    #expect(Set(codes.flatMap { Array($0.text) }).count == 32)
    #expect(codes.allSatisfy { SignInCode($0.text) == $0 && $0.digest.count == 32 })
  }

  @Test(
    "a sign-in code may be typed in either case, with separators, and with o, i and l in place of 0 and 1",
    arguments: [
      "7d3k9q2m01abcdefghjk", "7D3K9Q2M01ABCDEFGHJK", "7d3k9-q2m01-abcde-fghjk", " 7d3k9q2mo1abcdefghjk ",
      "7D3K9 Q2MOL ABCDE FGHJK", "7d3k9q2m0Iabcdefghjk",
    ])
  func typed(text: String) throws {
    let code = try #require(SignInCode(text))
    #expect(code.text == "7d3k9q2m01abcdefghjk" && code.digest == SignInCode(code.text)?.digest)
  }

  @Test(
    "a text in another form than a sign-in code is refused",
    arguments: [
      "", "7d3k9q2m01abcdefghj", "7d3k9q2m01abcdefghjkm", "7d3k9q2m01abcdefghju", "7d3k9q2m01abcdefghj\u{0}",
      "7d3k9q2m01abcdefghjé", "7d3k9q2m01abcdefgh_k", String(repeating: "-", count: 70) + "7d3k9q2m01abcdefghjk",
      "crier_7d3k9q2m_0000000000000000000000000000000000000000000",
    ])
  func invalid(text: String) { #expect(SignInCode(text) == nil) }

  @Test("no description of a sign-in code contains the code, and its link has the code in the fragment")
  func secret() {
    let code = SignInCode.make()
    var dumped = ""
    dump(code, to: &dumped)
    for text in ["\(code)", String(reflecting: code), dumped] { #expect(!text.contains(code.text)) }
    for base in ["https://shop.example/crier", "https://shop.example/crier/"] {
      #expect(code.link(base: base) == "https://shop.example/crier/#sign-in=\(code.text)")
    }
    #expect(SignInCode.makeID() != SignInCode.makeID() && APIKey.isID(SignInCode.makeID()))
  }
}
