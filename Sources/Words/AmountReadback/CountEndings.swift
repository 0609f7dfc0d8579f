// SPDX-License-Identifier: Apache-2.0

/// The counts after which a word may stand, by their last digits: рубль stands after 1, 21 and 101, but not after 11.
///
/// The notation is a list such as `1 -11`: a count must fit one of the entries without a minus (if there are any), and
/// none of the entries with a minus. `1` fits each number that ends in 1, `05` fits each that ends in 05, and `=1` fits
/// only 1. `.` is for a word that stands only behind digits after a point: десять запятая пять ноль белорусского рубля.
struct CountEndings: Sendable, Hashable {
  private struct Ending: Hashable {
    var value: Int64
    /// The number by which the count is divided, so that the remainder is compared; 0 if the whole count is compared.
    var divisor: Int64

    func fits(_ count: Int64) -> Bool { divisor == 0 ? count == value : count % divisor == value }
  }

  private var allowed: [Ending] = []
  private var excluded: [Ending] = []
  private var isAfterPoint = false

  /// Creates a list from its notation.
  ///
  /// - Returns: `nil` for a list without an entry, or with an entry that is not a number.
  init?(_ text: some StringProtocol) {
    if text == "." {
      isAfterPoint = true
      return
    }
    for entry in text.split(separator: " ") {
      let isExcluded = entry.first == "-"
      var rest = isExcluded ? entry.dropFirst() : entry
      let isWhole = rest.first == "="
      if isWhole { rest = rest.dropFirst() }
      guard let value = Int64(rest), value >= 0, let divisor = Int64.power(ofTen: rest.count) else { return nil }
      let ending = Ending(value: value, divisor: isWhole ? 0 : divisor)
      if isExcluded { excluded.append(ending) } else { allowed.append(ending) }
    }
    if allowed.isEmpty, excluded.isEmpty { return nil }
  }

  func contains(_ count: Int64) -> Bool {
    !isAfterPoint && (allowed.isEmpty || allowed.contains { $0.fits(count) }) && !excluded.contains { $0.fits(count) }
  }
}
