// SPDX-License-Identifier: Apache-2.0

import Foundation
import Mutations
import Testing

@Suite("Switched sources")
struct SwitchedSourceTests {
  /// Returns the source with all mistakes of a kind behind switches, which are counted from 0.
  private func switched(_ source: String, _ kind: Mutation.Kind? = nil) -> SwitchedSource {
    let found = MutationFinder.mutations(in: source).filter { kind == nil || $0.kind == kind }
    return SwitchedSource(source, Dictionary(uniqueKeysWithValues: zip(0..., found)))
  }

  @Test(
    "a mistake in an expression is chosen by a conditional expression",
    arguments: [
      ("let a = b < c", "let a = (Mutant.isActive(0) ? (b <= c) : (b < c))"),
      ("let a = !b", "let a = (Mutant.isActive(0) ? (b) : (!b))"),
      ("let a = try b() + c", "let a = try (Mutant.isActive(0) ? (b() - c) : (b() + c))"),
      ("let a = f(b, c)?.d", "let a = (Mutant.isActive(0) ? (f(c, b)?.d) : (f(b, c)?.d))"),
    ])
  func expressions(source: String, text: String) { #expect(switched(source).text == text) }

  @Test(
    "a mistake in a statement is chosen by a conditional statement",
    arguments: [
      ("init() { self.init(a, b) }", "init() { if Mutant.isActive(0) { self.init(b, a) } else { self.init(a, b) } }"),
      ("a += b\nc = d", "if Mutant.isActive(0) { a -= b } else { a += b }\nc = d"),
      ("try a.b()\nc = d", "if !Mutant.isActive(0) { try a.b() }\nc = d"),
    ])
  func statements(source: String, text: String) { #expect(switched(source).text == text) }

  @Test(
    "a range with the other boundary is chosen where both alternatives have one type",
    arguments: [
      ("for a in b..<c { }", "for a in (Mutant.isActive(0) ? Array(b...c) : Array(b..<c)) { }"),
      ("let a = (b..<c).contains(d)", "let a = (Mutant.isActive(0) ? ((b...c).contains(d)) : ((b..<c).contains(d)))"),
      ("let a = b[c..<d]", "let a = (Mutant.isActive(0) ? (b[c...d]) : (b[c..<d]))"),
    ])
  func ranges(source: String, text: String) { #expect(switched(source).text == text) }

  @Test("a range in a pattern stays as it is, because a pattern has no switch")
  func patterns() { #expect(MutationFinder.mutations(in: "switch a { case b..<c: d() }").isEmpty) }

  @Test(
    "the code without a mistake contains the switches of the mistakes inside it, and the code with it contains none")
  func nesting() {
    #expect(
      switched("let a = b < c && d").text
        == "let a = (Mutant.isActive(0) ? (b < c || d) : ((Mutant.isActive(1) ? (b <= c) : (b < c)) && d))")
  }

  @Test("a statement with a mistake is written around the expressions in it")
  func statementsOutside() {
    #expect(
      switched("f(a, b)\nc = d").text
        == "if !Mutant.isActive(0) { if Mutant.isActive(1) { f(b, a) } else { f(a, b) } }\nc = d")
  }

  @Test("a source without mistakes stays as it is")
  func noMistakes() { #expect(SwitchedSource("let a = b < c", [:]).text == "let a = b < c") }

  @Test("the place of an error names the innermost mistake around it, or else the nearest")
  func places() throws {
    let source = switched("let a = b\nlet c = d < e && f\nlet g = h + i\nlet j = k")
    func number(at text: String) throws -> Int? {
      let before = source.text[..<(try #require(source.text.range(of: text)).lowerBound)]
      let lines = before.split(separator: "\n", omittingEmptySubsequences: false)
      return source.number(atLine: lines.count, column: (lines.last?.utf8.count ?? 0) + 1)
    }
    #expect(try number(at: "(Mutant.isActive(0)") == 0, "the outer switch begins here")
    #expect(try number(at: "d <= e") == 1)
    #expect(try number(at: "let a") == 0)
    #expect(try number(at: "let j") == 2)
    #expect(source.number(atLine: 9, column: 1) == nil, "there is no such line")
    #expect(SwitchedSource("let a = b", [:]).number(atLine: 1, column: 1) == nil)
  }
}
