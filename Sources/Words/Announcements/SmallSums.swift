// SPDX-License-Identifier: Apache-2.0

/// The sums that are so small that a listener may mistake them for much larger sums. Before the amount of such a
/// payment, the announcement says “only”.
///
/// Where nearly all sums are in the thousands, listeners expect thousands: sellers in Vietnam are said to have heard
/// “200 dong” and understood 200,000 (vnreview.vn, article 61053; not confirmed).
public struct SmallSums: Sendable, Hashable {
  /// The limit of each currency: a sum below the limit is small.
  private var limits: [Currency: Money] = [:]

  /// Creates an empty collection: no sum is small.
  public init() {}

  /// Creates the collection from a text such as `VND=1000 IDR=5000`: for each currency (ISO 4217) a limit below which
  /// sums in this currency are small. Returns `nil` if the text is not valid. A currency must not occur twice.
  public init?(_ text: String) {
    for entry in text.split(whereSeparator: { $0 == " " || $0 == "," }) {
      let parts = entry.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, let currency = Currency(code: parts[0]), limits[currency] == nil,
        let limit = try? Money(decimalText: parts[1], currency: currency)
      else { return nil }
      limits[currency] = limit
    }
  }

  /// Returns whether a payment's amount is small.
  func contains(_ amount: Money) -> Bool {
    limits[amount.currency].map { amount.minorUnits < $0.minorUnits } ?? false
  }
}
