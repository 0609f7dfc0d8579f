// SPDX-License-Identifier: Apache-2.0

extension Int64 {
  func adding(_ other: Int64) throws(Refusal) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    guard !overflow else { throw .outOfRange }
    return sum
  }

  func multiplied(by other: Int64) throws(Refusal) -> Int64 {
    let (product, overflow) = multipliedReportingOverflow(by: other)
    guard !overflow else { throw .outOfRange }
    return product
  }

  /// Returns 10^exponent; `nil` when it does not fit into 64 bits.
  static func power(ofTen exponent: Int) -> Int64? {
    guard (0...18).contains(exponent) else { return nil }
    var power: Int64 = 1
    for _ in 0..<exponent { power *= 10 }
    return power
  }
}
