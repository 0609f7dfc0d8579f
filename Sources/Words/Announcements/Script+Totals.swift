// SPDX-License-Identifier: Apache-2.0

extension Script {
  /// The spoken form of one currency's total in a summary. An independent reader checks these words.
  public struct Total: Sendable, Hashable {
    /// The words for the number of payments; empty when the number is not spoken.
    public var count: String

    /// The words for the sum, including its currency; empty when the sum is not spoken.
    public var amount: String

    public init(count: String, amount: String) {
      self.count = count
      self.amount = amount
    }
  }

  /// The totals of a summary, in speaking order; empty for any other announcement.
  public var totals: [Total] { Self.totals(of: runs.flatMap(\.segments)) }

  /// Returns the totals that the segments say. The segments come from the script or from recorded clips.
  ///
  /// Consecutive words with the same role form one count or one amount. Either of the two may come first. Missing words
  /// are not replaced. If a total lacks its count or its amount, that text is empty, and no reader accepts it as a
  /// number.
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
