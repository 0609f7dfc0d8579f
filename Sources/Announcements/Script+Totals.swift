// SPDX-License-Identifier: Apache-2.0

extension Script {
  /// What a summary says of one currency, to be read back by somebody who did not write it.
  public struct Total: Sendable, Hashable {
    /// The words of how many payments there are; empty when they are not said.
    public var count: String

    /// The words of what they sum up to, with the currency; empty when they are not said.
    public var amount: String

    public init(count: String, amount: String) {
      self.count = count
      self.amount = amount
    }
  }

  /// The totals of a summary, in the order of speaking; empty for any other announcement.
  public var totals: [Total] { Self.totals(of: runs.flatMap(\.segments)) }

  /// The totals that these segments say: the script's own, or what a recording says in their place.
  ///
  /// Words of one role that follow each other are one count or one amount, whichever of the two comes first. Nothing is
  /// made good: a total without its count or its amount has an empty text, which no reader takes for a number.
  public static func totals(of segments: some Sequence<Segment>) -> [Total] {
    var totals: [Total] = []
    var previous: Role?
    for segment in segments {
      defer { previous = segment.role }
      guard let place = segment.role.placeInTotal else { continue }
      if previous != segment.role, totals.last.map({ !$0[keyPath: place].isEmpty }) ?? true {
        totals.append(Total(count: "", amount: ""))
      }
      totals[totals.count - 1][keyPath: place] += segment.text
    }
    guard totals.contains(where: { !$0.count.isEmpty }) else { return [] }
    return totals.map { Total(count: $0.count.trimmed, amount: $0.amount.trimmed) }
  }
}

extension Script.Role {
  fileprivate var placeInTotal: WritableKeyPath<Script.Total, String>? {
    switch self {
    case .count: \.count
    case .amount: \.amount
    default: nil
    }
  }
}
