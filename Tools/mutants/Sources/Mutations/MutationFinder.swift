// SPDX-License-Identifier: Apache-2.0

import SwiftOperators
import SwiftParser
import SwiftSyntax

/// Finds the places of a source file at which a mistake can be made that still is Swift. The compiler finds out whether
/// it also has the right types.
public enum MutationFinder {
  public static func mutations(in source: String) -> [Mutation] {
    let visitor = Visitor(source)
    visitor.walk(OperatorTable.standardOperators.foldAll(Parser.parse(source: source)) { _ in })
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

  private static let operators: [String: (Mutation.Kind, String)] = [
    "<": (.boundary, "<="), "<=": (.boundary, "<"), ">": (.boundary, ">="), ">=": (.boundary, ">"),
    "..<": (.boundary, "..."), "...": (.boundary, "..<"),
    "==": (.condition, "!="), "!=": (.condition, "=="), "&&": (.condition, "||"), "||": (.condition, "&&"),
    "+": (.arithmetic, "-"), "-": (.arithmetic, "+"), "*": (.arithmetic, "/"), "/": (.arithmetic, "*"),
    "&+": (.arithmetic, "&-"), "&-": (.arithmetic, "&+"), "+=": (.arithmetic, "-="), "-=": (.arithmetic, "+="),
    "<<": (.arithmetic, ">>"), ">>": (.arithmetic, "<<"), "%": (.arithmetic, "+"),
  ]

  /// The beginnings of the conditions of code for other systems. Such code is not compiled where the tool runs, so no
  /// test could notice a mistake in it.
  private static let elsewhere =
    ["AVFAudio", "Android", "CryptoKit", "Darwin", "Musl", "ObjectiveC", "PushKit", "Security", "UserNotifications"]
    .map { "canImport(\($0))" } + ["os(macOS)", "os(iOS)"]

  private func range(of syntax: some SyntaxProtocol) -> Range<Int> {
    syntax.positionAfterSkippingLeadingTrivia.utf8Offset..<syntax.endPositionBeforeTrailingTrivia.utf8Offset
  }

  private func text(_ range: Range<Int>) -> String { String(decoding: source[range], as: UTF8.self) }

  /// Adds the mistake that replaces a part of an expression. The switch is around the whole expression.
  private func add(
    _ kind: Mutation.Kind, _ part: Range<Int>, _ replacement: String, in scope: some SyntaxProtocol,
    as form: Mutation.Form = .expression
  ) {
    let (scope, isStatement) = statement(Syntax(scope))
    let whole = range(of: scope)
    let mistake = text(whole.lowerBound..<part.lowerBound) + replacement + text(part.upperBound..<whole.upperBound)
    found.append(
      Mutation(kind: kind, form: isStatement ? .statement : form, range: whole, replacement: mistake))
  }

  private func add(_ kind: Mutation.Kind, _ syntax: some ExprSyntaxProtocol, _ replacement: String) {
    add(kind, range(of: syntax), replacement, in: syntax)
  }

  /// Returns the statement that consists of an expression, or else the expression. The only statement of a body is often
  /// the value of the body, so it stays an expression. The call of another initializer is an exception, because it can
  /// only be a statement.
  private func statement(_ expression: Syntax) -> (Syntax, Bool) {
    var outer = expression
    while let parent = outer.parent, parent.is(TryExprSyntax.self) || parent.is(AwaitExprSyntax.self) { outer = parent }
    guard let item = outer.parent?.as(CodeBlockItemSyntax.self),
      let list = item.parent?.as(CodeBlockItemListSyntax.self)
    else { return (expression, false) }
    let called = expression.as(FunctionCallExprSyntax.self)?.calledExpression.trimmedDescription ?? ""
    let isAlone = list.count == 1 && !["self.init", "super.init"].contains(called)
    return isAlone ? (expression, false) : (Syntax(item), true)
  }

  /// Returns the whole chain that begins with an expression, such as `a.b(c)?.d`, because a mistake may change the type
  /// of a part.
  private func chain(_ expression: some ExprSyntaxProtocol) -> ExprSyntax {
    var outer = ExprSyntax(expression)
    while let parent = outer.parent?.asProtocol((any ExprSyntaxProtocol).self) {
      let continues =
        switch Syntax(parent).as(SyntaxEnum.self) {
        case .memberAccessExpr, .optionalChainingExpr, .forceUnwrapExpr: true
        case .functionCallExpr(let call): call.calledExpression == outer
        case .subscriptCallExpr(let call): call.calledExpression == outer
        default: false
        }
      guard continues else { break }
      outer = ExprSyntax(parent)
    }
    return outer
  }

  private func isInPattern(_ syntax: some SyntaxProtocol) -> Bool {
    var parent = syntax.parent
    while let outer = parent, !outer.is(CodeBlockItemSyntax.self) {
      if outer.is(ExpressionPatternSyntax.self) { return true }
      parent = outer.parent
    }
    return false
  }

  override func visit(_ node: IfConfigClauseSyntax) -> SyntaxVisitorContinueKind {
    let condition = node.condition?.trimmedDescription ?? ""
    if !Self.elsewhere.contains(where: condition.hasPrefix), let elements = node.elements { walk(elements) }
    return .skipChildren
  }

  // Values that have to be literals.
  override func visit(_ node: EnumCaseElementSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

  override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
    guard let sign = node.operator.as(BinaryOperatorExprSyntax.self)?.operator,
      let (kind, replacement) = Self.operators[sign.text]
    else { return .visitChildren }
    if ["..<", "..."].contains(sign.text) {
      addRange(node, sign, replacement)
    } else if ["&&", "%"].contains(sign.text), node.parent?.is(InfixOperatorExprSyntax.self) == true {
      // The other operator binds less strongly.
      let (whole, part) = (range(of: node), range(of: sign))
      let (left, right) = (text(whole.lowerBound..<part.lowerBound), text(part.upperBound..<whole.upperBound))
      add(kind, node, "(\(left)\(replacement)\(right))")
    } else {
      add(kind, range(of: sign), replacement, in: node)
    }
    return .visitChildren
  }

  /// Adds a range with the other boundary. Both ranges have different types, so the switch is around the expression that
  /// uses the range.
  private func addRange(_ node: InfixOperatorExprSyntax, _ sign: TokenSyntax, _ replacement: String) {
    guard !isInPattern(node) else { return }
    var scope = ExprSyntax(node)
    if let list = scope.parent?.parent, list.is(LabeledExprListSyntax.self),
      let tuple = list.parent?.as(TupleExprSyntax.self)
    {
      scope = ExprSyntax(tuple)
    }
    if let loop = scope.parent?.as(ForStmtSyntax.self), loop.sequence == scope {
      return add(.boundary, range(of: sign), replacement, in: scope, as: .elements)
    }
    if let list = scope.parent?.parent, list.is(LabeledExprListSyntax.self),
      let call = list.parent?.asProtocol((any ExprSyntaxProtocol).self)
    {
      scope = ExprSyntax(call)
    }
    add(.boundary, range(of: sign), replacement, in: chain(scope))
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
    // An operator or a literal of the condition is changed elsewhere. Without one, the condition as a whole is negated.
    if case .expression(let condition) = node.condition, !condition.is(PrefixOperatorExprSyntax.self),
      !condition.is(InfixOperatorExprSyntax.self), !condition.is(BooleanLiteralExprSyntax.self)
    {
      add(.condition, condition, "!(\(condition.trimmedDescription))")
    }
    return .visitChildren
  }

  override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
    if let name = node.calledExpression.as(DeclReferenceExprSyntax.self)?.baseName.text, ["min", "max"].contains(name) {
      // The order of the arguments of `min` and `max` has no effect.
      add(.boundary, range(of: node.calledExpression), name == "min" ? "max" : "min", in: chain(node))
      return .visitChildren
    }
    guard !isInPattern(node) else { return .visitChildren }
    let arguments = Array(node.arguments)
    for (one, other) in zip(arguments, arguments.dropFirst()) {
      let (first, second) = (one.expression.trimmedDescription, other.expression.trimmedDescription)
      guard first != second, !first.contains("{"), !second.contains("{") else { continue }
      let (start, end) = (range(of: one.expression), range(of: other.expression))
      let between = text(start.upperBound..<end.lowerBound)
      add(.swappedArguments, start.lowerBound..<end.upperBound, second + between + first, in: chain(node))
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
    if let call = inner.as(FunctionCallExprSyntax.self), !isUnnoticed(call) {
      found.append(Mutation(kind: .removedCall, form: .removal, range: range(of: node), replacement: ""))
    }
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
