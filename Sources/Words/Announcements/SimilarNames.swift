// SPDX-License-Identifier: Apache-2.0

/// Finds the name that was probably meant by a misspelt name.
public enum SimilarNames {
  /// Returns the name that was probably meant; `nil` if no name is similar.
  ///
  /// A name of four or five letters may have one error, and a longer name two. An error is a wrong, missing or
  /// additional letter, or two swapped neighbours. Differences in letter case, and between a hyphen and an underscore,
  /// are always allowed.
  public static func name(like typed: String, among names: [String]) -> String? {
    func folded(_ name: String) -> [Unicode.Scalar] {
      name.lowercased().unicodeScalars.map { $0 == "_" ? "-" : $0 }
    }
    let scalars = folded(typed)
    if let same = names.first(where: { folded($0) == scalars }) { return same }
    return (1...2).lazy.compactMap { edits in
      names.first { name in
        let known = folded(name)
        let most = known.count < 4 ? 0 : known.count < 6 ? 1 : 2
        // The difference in length is checked first, because the search takes longer for longer names.
        return edits <= most && abs(known.count - scalars.count) <= edits && isWithin(edits, scalars, 0, known, 0)
      }
    }.first
  }

  /// Returns whether at most `edits` changes turn the rest of one text into the rest of the other. A change adds,
  /// removes or replaces a scalar, or swaps two neighbours. The number of steps is at most the length times four to the
  /// power of the number of changes.
  static func isWithin(
    _ edits: Int, _ left: [Unicode.Scalar], _ leftStart: Int, _ right: [Unicode.Scalar], _ rightStart: Int
  ) -> Bool {
    var (i, j) = (leftStart, rightStart)
    while i < left.count, j < right.count, left[i] == right[j] { (i, j) = (i + 1, j + 1) }
    let (leftRest, rightRest) = (left.count - i, right.count - j)
    guard leftRest > 0, rightRest > 0 else { return leftRest + rightRest <= edits }
    guard edits > 0, abs(leftRest - rightRest) <= edits else { return false }
    if leftRest > 1, rightRest > 1, left[i] == right[j + 1], left[i + 1] == right[j],
      isWithin(edits - 1, left, i + 2, right, j + 2)
    {
      return true
    }
    return isWithin(edits - 1, left, i + 1, right, j + 1) || isWithin(edits - 1, left, i + 1, right, j)
      || isWithin(edits - 1, left, i, right, j + 1)
  }
}
