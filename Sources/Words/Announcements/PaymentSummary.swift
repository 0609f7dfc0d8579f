// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A summary of several received payments. For each currency it has the number of payments and their sum.
///
/// The JSON form:
///
///     {"locale": "zh-CN", "totals": [{"count": 5, "currency": "CNY", "amount": "57.50"}]}
///
/// `locale` is optional, and the amount is decimal text. To read the JSON, use ``init(json:)``, which also detects
/// repeated keys. A decoder alone does not detect them.
public struct PaymentSummary: Sendable, Hashable {
  /// The number of payments in one currency, and their sum.
  public struct Total: Sendable, Hashable {
    /// The number of payments, from 1 to ``PaymentSummary/largestCount``.
    public let count: Int
    public let amount: Money

    /// Creates a total.
    ///
    /// - Parameter field: the field name for errors about the count.
    /// - Throws: `.fieldInvalid` for a count that is not between 1 and ``PaymentSummary/largestCount``.
    public init(count: Int, amount: Money, field: String = "count") throws(AnnouncementError) {
      guard (1...PaymentSummary.largestCount).contains(count) else {
        throw AnnouncementError(
          .fieldInvalid, field, count == 0 ? "is zero" : count < 0 ? "is negative" : "is too large to be spoken",
          remedy: "give a number of payments from 1 to \(PaymentSummary.largestCount)")
      }
      self.count = count
      self.amount = amount
    }
  }

  /// The largest number of payments in one currency. The reader that checks the spoken words understands no larger
  /// count.
  public static let largestCount = 9_999_999

  /// The locale as a BCP 47 tag. If it is `nil`, the account's locale is used.
  public let locale: String?

  /// The totals, in the order in which their currencies first occurred. There is at least one total, and exactly one
  /// for each currency.
  public let totals: [Total]

  /// Creates a summary.
  ///
  /// - Throws: `.fieldInvalid` when there is no total, or when two totals have the same currency.
  public init(locale: String? = nil, totals: [Total]) throws(AnnouncementError) {
    guard !totals.isEmpty else {
      throw AnnouncementError(
        .fieldInvalid, "totals", "is empty", remedy: "give a total for each currency, at least one")
    }
    var currencies: Set<Currency> = []
    for (index, total) in totals.enumerated() where !currencies.insert(total.amount.currency).inserted {
      throw AnnouncementError(
        .fieldInvalid, "totals[\(index)].currency", "occurs twice", remedy: "give one total for each currency")
    }
    self.locale = locale
    self.totals = totals
  }

  /// Adds payments exactly. The summary's locale is the most frequent locale of the payments, where having no locale
  /// counts as a locale too. If several are equally frequent, the one that occurs first is used.
  ///
  /// - Returns: `nil` when the payments cannot be summarised: there are none, one of them is not a received payment, or
  ///   the sum of a currency is too large to be spoken.
  public init?(of payments: [Payment]) {
    guard !payments.isEmpty, payments.allSatisfy({ $0.kind == .received }) else { return nil }
    var currencies: [Currency] = []
    var sums: [Currency: (count: Int, minorUnits: Int64)] = [:]
    for amount in payments.map(\.amount) {
      guard let sum = sums[amount.currency] else {
        currencies.append(amount.currency)
        sums[amount.currency] = (1, amount.minorUnits)
        continue
      }
      let (minorUnits, overflow) = sum.minorUnits.addingReportingOverflow(amount.minorUnits)
      guard !overflow else { return nil }
      sums[amount.currency] = (sum.count + 1, minorUnits)
    }
    let totals = currencies.compactMap { currency -> Total? in
      guard let sum = sums[currency], let amount = try? Money(minorUnits: sum.minorUnits, currency: currency)
      else { return nil }
      return try? Total(count: sum.count, amount: amount)
    }
    guard totals.count == currencies.count else { return nil }
    try? self.init(locale: Self.mostFrequent(payments.map(\.locale)), totals: totals)
  }

  private static func mostFrequent(_ locales: [String?]) -> String? {
    let counts = locales.reduce(into: [:]) { counts, locale in counts[locale, default: 0] += 1 }
    let most = counts.values.max()
    return locales.first { counts[$0] == most } ?? nil
  }

  /// Reads a summary from JSON in UTF-8, with the limits of a payload. Unknown keys are ignored.
  ///
  /// - Throws: an `AnnouncementError` that names the field, the shape of its value, and a correct value.
  public init(json: Data) throws(AnnouncementError) {
    let value: PayloadValue
    do throws(AnnouncementError) {
      value = try PayloadParser.value(of: [UInt8](json))
    } catch {
      guard error.subject == "payload" else { throw error }
      throw AnnouncementError(error.code, Self.subject, error.problem, remedy: Self.shape)
    }
    guard case .object(let values) = value else {
      throw AnnouncementError(.payloadMalformed, Self.subject, "is not an object", remedy: Self.shape)
    }
    let fields = PayloadFields(path: "", values: values)
    let list = try fields.required("totals", fields.value("totals"), Self.shape)
    guard case .array(let elements) = list else { throw fields.invalid("totals", list, Self.shape) }
    var totals: [Total] = []
    for (index, element) in elements.enumerated() {
      let path = "totals[\(index)]"
      guard case .object(let values) = element else {
        throw AnnouncementError(.fieldInvalid, path, "is \(element.shape)", remedy: Self.shape)
      }
      totals.append(try Self.total(PayloadFields(path: path, values: values)))
    }
    try self.init(locale: try fields.textOrBlank("locale", atMost: 64), totals: totals)
  }

  private static let subject = "summary"
  private static let shape = "give one JSON object with totals, a list of objects with count, currency and amount"

  private static func total(_ fields: PayloadFields) throws(AnnouncementError) -> Total {
    let count = try fields.required("count", try fields.integer("count"), "give the number of payments")
    let currency = try PayloadDecoder.currency(fields)
    let remedy = "give the sum as a decimal string, such as \"57.50\""
    let amount = try fields.required("amount", fields.value("amount"), remedy)
    guard case .string(let text) = amount else { throw fields.invalid("amount", amount, remedy) }
    return try Total(
      count: Int(clamping: count),
      amount: try Money(decimalText: text, currency: currency, field: fields.name("amount")),
      field: fields.name("count"))
  }
}

extension PaymentSummary: Encodable {
  private enum Key: String, CodingKey { case locale, totals, count, currency, amount }

  /// Encodes a summary in the form that ``init(json:)`` reads. In this form, the amount of a total is not a separate
  /// object.
  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: Key.self)
    try object.encodeIfPresent(locale, forKey: .locale)
    var list = object.nestedUnkeyedContainer(forKey: .totals)
    for total in totals {
      var fields = list.nestedContainer(keyedBy: Key.self)
      try fields.encode(total.count, forKey: .count)
      try fields.encode(total.amount.currency.code, forKey: .currency)
      try fields.encode(total.amount.decimalText, forKey: .amount)
    }
  }
}
