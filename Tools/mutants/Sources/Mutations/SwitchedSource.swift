// SPDX-License-Identifier: Apache-2.0

/// A source file with many mistakes, each behind a switch, so that all of them are compiled at once. At most one switch is
/// on in a run: an expression with a mistake contains no other switch, and the expression without it contains the
/// switches of the mistakes inside it.
public struct SwitchedSource: Sendable {
  /// The environment variable with the number of the mistake that is active.
  public static let variable = "CRIER_MUTANT"

  /// The file with the switch, which is added to the target. It is public, because the default values of public
  /// functions can contain mistakes.
  public static let switchFile = """
    // SPDX-License-Identifier: Apache-2.0

    import Foundation

    public enum Mutant {
      private static let active = ProcessInfo.processInfo.environment["\(variable)"].flatMap { Int($0) }

      public static func isActive(_ number: Int) -> Bool { number == active }
    }

    """

  public let text: String
  private let starts: [Int]
  private let regions: [(number: Int, range: Range<Int>)]

  /// - Parameter mutations: The mistakes by their numbers. Two ranges are apart, or one contains the other.
  public init(_ source: String, _ mutations: [Int: Mutation]) {
    let bytes = Array(source.utf8)
    var (output, position) = ([UInt8](), 0)
    var open: [(number: Int, start: Int, mutation: Mutation)] = []
    var regions: [(number: Int, range: Range<Int>)] = []
    func copy(to end: Int) {
      output += bytes[position..<end]
      position = end
    }
    func closeAll(before end: Int) {
      while let (number, start, mutation) = open.last, mutation.range.upperBound <= end {
        copy(to: mutation.range.upperBound)
        output += mutation.form.end.utf8
        regions.append((number, start..<output.count))
        open.removeLast()
      }
    }
    for (number, mutation) in mutations.sorted(by: Self.isOutside) {
      closeAll(before: mutation.range.lowerBound)
      copy(to: mutation.range.lowerBound)
      open.append((number, output.count, mutation))
      output += mutation.form.start(number, mutation.replacement).utf8
    }
    closeAll(before: bytes.count)
    copy(to: bytes.count)
    text = String(decoding: output, as: UTF8.self)
    starts = [0] + output.indices.filter { output[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
    self.regions = regions
  }

  /// Returns the number of the mistake at a place of the text: the innermost one around it, or else the nearest.
  ///
  /// - Parameters:
  ///   - line: Counted from 1.
  ///   - column: In bytes, counted from 1.
  public func number(atLine line: Int, column: Int) -> Int? {
    guard starts.indices.contains(line - 1) else { return nil }
    let place = starts[line - 1] + column - 1
    return regions.min { one, other in
      let (first, second) = (Self.distance(place, one.range), Self.distance(place, other.range))
      return first == second ? one.range.count < other.range.count : first < second
    }?.number
  }

  private static func distance(_ place: Int, _ range: Range<Int>) -> Int {
    max(range.lowerBound - place, place - range.upperBound + 1, 0)
  }

  /// Whether a mistake's switch is written before another one's. A statement cannot be inside an expression.
  private static func isOutside(_ one: (key: Int, value: Mutation), _ other: (key: Int, value: Mutation)) -> Bool {
    func order(_ place: (key: Int, value: Mutation)) -> [Int] {
      let isStatement = place.value.form == .statement || place.value.form == .removal
      return [place.value.range.lowerBound, -place.value.range.upperBound, isStatement ? 0 : 1, place.key]
    }
    return order(one).lexicographicallyPrecedes(order(other))
  }
}

extension Mutation.Form {
  fileprivate func start(_ number: Int, _ mistake: String) -> String {
    switch self {
    case .expression: "(Mutant.isActive(\(number)) ? (\(mistake)) : ("
    case .elements: "(Mutant.isActive(\(number)) ? Array(\(mistake)) : Array("
    case .statement: "if Mutant.isActive(\(number)) { \(mistake) } else { "
    case .removal: "if !Mutant.isActive(\(number)) { "
    }
  }

  fileprivate var end: String {
    switch self {
    case .expression, .elements: "))"
    case .statement, .removal: " }"
    }
  }
}
