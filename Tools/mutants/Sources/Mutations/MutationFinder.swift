// SPDX-License-Identifier: Apache-2.0

import SwiftParser
import SwiftSyntax

/// Finds the places of a source file at which a mistake can be made that still is Swift. Whether it also has the right
/// types is the compiler's question.
public enum MutationFinder {
  public static func mutations(in source: String) -> [Mutation] {
    let visitor = Visitor(source)
    visitor.walk(Parser.parse(source: source))
    return visitor.found
  }
}

private final class Visitor: SyntaxVisitor {
  private(set) var found: [Mutation] = []
  private let source: [UInt8]

  init(_ source: String) {
    self.source = Array(source.utf8)
    super.init(viewMode: .sourceAccurate)
  }

  /// Calls whose absence no test can notice: they only log, or end the program where the code is wrong.
  private static let unnoticed: Set<String> = [
    "precondition", "preconditionFailure", "fatalError", "assert", "assertionFailure", "print",
  ]
  private static let unnoticedOwners: Set<String> = ["logger", "log", "Logger", "BlockingWatchdog"]

  private static let operators: [String: (Mutation.Kind, [String])] = [
    "<": (.boundary, ["<="]), "<=": (.boundary, ["<"]), ">": (.boundary, [">="]), ">=": (.boundary, [">"]),
    "..<": (.boundary, ["..."]), "...": (.boundary, ["..<"]),
    "==": (.condition, ["!="]), "!=": (.condition, ["=="]), "&&": (.condition, ["||"]), "||": (.condition, ["&&"]),
    "+": (.arithmetic, ["-"]), "-": (.arithmetic, ["+"]), "*": (.arithmetic, ["/"]), "/": (.arithmetic, ["*"]),
    "&+": (.arithmetic, ["&-"]), "&-": (.arithmetic, ["&+"]), "+=": (.arithmetic, ["-="]), "-=": (.arithmetic, ["+="]),
    "<<": (.arithmetic, [">>"]), ">>": (.arithmetic, ["<<"]), "%": (.arithmetic, ["+"]),
  ]

  /// What the conditions of code for other systems begin with. Such code is not compiled where the tool runs, so no test
  /// could notice a mistake in it.
  private static let elsewhere =
    ["AVFAudio", "Android", "CryptoKit", "Darwin", "Musl", "ObjectiveC", "PushKit", "Security", "UserNotifications"]
    .map { "canImport(\($0))" } + ["os(macOS)", "os(iOS)"]

  private func add(_ kind: Mutation.Kind, _ syntax: some SyntaxProtocol, _ replacement: String) {
    let start = syntax.positionAfterSkippingLeadingTrivia.utf8Offset
    found.append(
      Mutation(
        kind: kind, range: start..<syntax.endPositionBeforeTrailingTrivia.utf8Offset, replacement: replacement))
  }

  override func visit(_ node: IfConfigClauseSyntax) -> SyntaxVisitorContinueKind {
    let condition = node.condition?.trimmedDescription ?? ""
    return Self.elsewhere.contains(where: condition.hasPrefix) ? .skipChildren : .visitChildren
  }

  override func visit(_ node: BinaryOperatorExprSyntax) -> SyntaxVisitorContinueKind {
    if let (kind, replacements) = Self.operators[node.operator.text] {
      for replacement in replacements { add(kind, node.operator, replacement) }
    }
    return .visitChildren
  }

  override func visit(_ node: PrefixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
    if node.operator.text == "!" { add(.condition, node, node.expression.trimmedDescription) }
    return .visitChildren
  }

  override func visit(_ node: BooleanLiteralExprSyntax) -> SyntaxVisitorContinueKind {
    add(.condition, node, node.literal.text == "true" ? "false" : "true")
    return .visitChildren
  }

  override func visit(_ node: IntegerLiteralExprSyntax) -> SyntaxVisitorContinueKind {
    if let value = Int(node.literal.text.replacing("_", with: "")), value < .max {
      add(.arithmetic, node, String(value + 1))
    }
    return .visitChildren
  }

  override func visit(_ node: ConditionElementSyntax) -> SyntaxVisitorContinueKind {
    // An operator of the condition is changed above. Without one, the condition as a whole is negated.
    if case .expression(let condition) = node.condition, !condition.is(SequenceExprSyntax.self),
      !condition.is(PrefixOperatorExprSyntax.self)
    {
      add(.condition, condition, "!(\(condition.trimmedDescription))")
    }
    return .visitChildren
  }

  override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
    if let name = node.calledExpression.as(DeclReferenceExprSyntax.self)?.baseName.text, ["min", "max"].contains(name) {
      // The order of the arguments of both means nothing.
      add(.boundary, node.calledExpression, name == "min" ? "max" : "min")
      return .visitChildren
    }
    let arguments = Array(node.arguments)
    for (one, other) in zip(arguments, arguments.dropFirst()) {
      let (first, second) = (one.expression.trimmedDescription, other.expression.trimmedDescription)
      guard first != second, !first.contains("{"), !second.contains("{") else { continue }
      let start = one.expression.positionAfterSkippingLeadingTrivia.utf8Offset
      let between =
        one.expression.endPositionBeforeTrailingTrivia
        .utf8Offset..<other.expression.positionAfterSkippingLeadingTrivia.utf8Offset
      found.append(
        Mutation(
          kind: .swappedArguments, range: start..<other.expression.endPositionBeforeTrailingTrivia.utf8Offset,
          replacement: second + String(decoding: source[between], as: UTF8.self) + first))
    }
    return .visitChildren
  }

  override func visit(_ node: CodeBlockItemSyntax) -> SyntaxVisitorContinueKind {
    // The only statement of a body is often its value, so its absence would not compile.
    guard let list = node.parent?.as(CodeBlockItemListSyntax.self), list.count > 1,
      case .expr(let expression) = node.item
    else { return .visitChildren }
    var inner = expression
    while true {
      if let tried = inner.as(TryExprSyntax.self) {
        inner = tried.expression
      } else if let awaited = inner.as(AwaitExprSyntax.self) {
        inner = awaited.expression
      } else {
        break
      }
    }
    if let call = inner.as(FunctionCallExprSyntax.self), !isUnnoticed(call) { add(.removedCall, node, "") }
    return .visitChildren
  }

  private func isUnnoticed(_ call: FunctionCallExprSyntax) -> Bool {
    if let name = call.calledExpression.as(DeclReferenceExprSyntax.self)?.baseName.text {
      return Self.unnoticed.contains(name)
    }
    guard let member = call.calledExpression.as(MemberAccessExprSyntax.self) else { return false }
    let owner = member.base?.trimmedDescription ?? ""
    return Self.unnoticedOwners.contains { owner == $0 || owner.hasSuffix(".\($0)") }
  }
}
