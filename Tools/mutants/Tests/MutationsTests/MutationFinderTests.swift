// SPDX-License-Identifier: Apache-2.0

import Mutations
import Testing

@Suite("Mistakes")
struct MutationFinderTests {
  /// Returns the sources with each mistake that is found.
  private func mutants(_ source: String, _ kind: Mutation.Kind? = nil) -> [String] {
    MutationFinder.mutations(in: source).filter { kind == nil || $0.kind == kind }.map { $0.applied(to: source) }
  }

  @Test(
    "each operator becomes its nearest mistake",
    arguments: [
      ("a < b", "a <= b"), ("a >= b", "a > b"), ("a == b", "a != b"), ("a && b", "a || b"), ("a - b", "a + b"),
      ("a..<b", "a...b"), ("!a", "a"), ("min(a, b)", "max(a, b)"), ("true", "false"),
    ])
  func operators(source: String, mutant: String) { #expect(mutants(source).contains(mutant)) }

  @Test("an operator that binds less strongly than its neighbour is put in parentheses")
  func precedence() {
    #expect(mutants("a && b && c").contains("(a || b) && c"))
    #expect(mutants("a % b * c").contains("(a + b) * c"))
  }

  @Test("a number becomes the next number, and a condition without an operator becomes its contrary")
  func values() {
    #expect(mutants("let a = 1_999").contains("let a = 2000"))
    #expect(mutants("if isFull { }").contains("if !(isFull) { }"))
    #expect(mutants("guard a < b else { return }", .condition).isEmpty, "the operator itself is changed")
  }

  @Test("neighbouring arguments change places, labels stay, and equal arguments and closures are not changed")
  func arguments() {
    #expect(mutants("f(a, to: b)", .swappedArguments) == ["f(b, to: a)"])
    #expect(mutants("f(a, a)", .swappedArguments).isEmpty)
    #expect(mutants("f(a, { b })", .swappedArguments).isEmpty)
    #expect(mutants("max(a, b)", .swappedArguments).isEmpty, "the larger of two is the same in any order")
    #expect(mutants("switch c { case .d(let a, let b): f() }", .swappedArguments).isEmpty, "a pattern has no switch")
  }

  @Test("a call whose result is not used is left out, unless the call writes to a log or is a precondition")
  func calls() {
    #expect(mutants("func f() {\n  try a.b()\n  c = 1\n}", .removedCall) == ["func f() {\n  \n  c = 1\n}"])
    #expect(mutants("func f() {\n  logger.info(text)\n  precondition(a)\n  c = d\n}", .removedCall).isEmpty)
  }

  @Test("values that have to be literals have no mistakes")
  func literals() { #expect(mutants("@available(since: 2) enum E: Int { case a = 1 }").isEmpty) }

  @Test("comments and the texts of strings have no mistakes")
  func texts() { #expect(mutants("// a < b\nlet text = \"1 < 2\"").isEmpty) }

  @Test("code that only another system compiles has no mistakes, and the alternative code for this system has mistakes")
  func otherSystems() {
    let source = "#if canImport(Darwin)\nlet a = b < c\n#else\nlet a = b == c\n#endif"
    #expect(mutants(source) == [source.replacing("==", with: "!=")])
    #expect(mutants("#if os(Linux)\nlet a = b < c\n#endif").count == 1)
    #expect(mutants("#if canImport(UserNotifications) && canImport(Intents)\nf(a < b)\n#endif").isEmpty)
  }

  @Test("a difference shows the changed line alone, and the line is counted from 1")
  func difference() throws {
    let source = "let a = b\nlet c = d < e\nlet f = g\n"
    let mutation = try #require(MutationFinder.mutations(in: source).first)
    #expect(mutation.line(in: source) == 2)
    #expect(mutation.difference(in: source) == "-let c = d < e\n+let c = d <= e")
  }
}
