// SPDX-License-Identifier: Apache-2.0

/// The keys that other systems use to report the state of a payment. If a payment has no `kind`, the value of such a
/// key must mean that money was received.
extension PayloadKeys {
  /// How the value of a key is read.
  enum State: Sendable {
    /// The value consists of words. Each must mean that money was received, or be neutral.
    case words
    /// The value names a kind of object, which may be a refund.
    case thing
    /// A flag that is true when money was received.
    case received
    /// A flag that is true when money was not received, or was paid back.
    case notReceived
    /// A key that only a refund has.
    case refund
    /// Another spelling of `kind`.
    case kind
  }

  private static let states: [(State, [String])] = [
    (
      .words,
      [
        "type", "transaction_type", "txn_type", "payment_type", "event", "event_type", "event_code", "action",
        "operation", "direction", "status", "payment_status", "transaction_status", "order_status", "trade_status",
        "state", "payment_state", "transaction_state", "order_state", "trade_state", "result",
      ]
    ),
    (.thing, ["object"]),
    (.received, ["paid", "is_paid", "success", "is_success", "succeeded", "captured", "is_captured"]),
    (
      .notReceived,
      [
        "refund", "refunded", "is_refund", "is_refunded", "reverse", "reversal", "reversed", "is_reversal",
        "chargeback", "withdrawal", "withdrawn", "failed", "failure", "is_failed", "declined", "cancelled", "canceled",
        "void", "voided", "debit",
      ]
    ),
    (.refund, ["amount_refunded", "refunded_amount", "refund_amount", "refund_id", "refund_status", "refunds"]),
  ]

  /// A key without underscores.
  private struct Spelling: Sendable {
    var name: String
    var joined: [Unicode.Scalar]
    var state: State
  }

  private static let kind = Array("kind".unicodeScalars)

  private static let spellings: [Spelling] = states.flatMap { state, names in
    names.map { Spelling(name: $0, joined: $0.unicodeScalars.filter { $0 != "_" }, state: state) }
  }

  /// Returns the known state key that a key means, and how its value is read; `nil` if the key is not a state key.
  ///
  /// A key matches a state key if both have the same letters. One error is allowed: a wrong, missing or additional
  /// letter, or two swapped neighbours. A key whose first or last word is `kind` also matches.
  static func state(_ key: Folded) -> (name: String, state: State)? {
    if let same = spellings.first(where: { $0.joined == key.joined }) { return (same.name, same.state) }
    if key.words.starts(with: kind + ["_"]) || key.joined.suffix(kind.count).elementsEqual(kind) {
      return (key.name, .kind)
    }
    guard !unrelated.contains(key.name) else { return nil }
    if isNear(key.joined, kind) { return (key.name, .kind) }
    return spellings.first { isNear(key.joined, $0.joined) }.map { ($0.name, $0.state) }
  }

  private static func isNear(_ key: [Unicode.Scalar], _ known: [Unicode.Scalar]) -> Bool {
    abs(key.count - known.count) <= 1 && SimilarNames.isWithin(1, key, 0, known, 0)
  }

  /// Returns whether the key's value may mean that money was not received, or was paid back.
  static func contradictsReceipt(_ key: Folded, _ value: PayloadValue) -> Bool {
    switch state(key)?.state {
    case nil: false
    case .kind?: true
    case .words?: !meansReceipt(value)
    case .thing?: namesRefund(value)
    case .received?: !isTrue(value) && !meansReceipt(value)
    case .notReceived?: !isFalse(value)
    case .refund?: !isFalse(value) && !isEmpty(value)
    }
  }

  // MARK: Values

  /// The largest size of a value in bytes. A longer value does not report a state.
  private static let longestValue = 64

  /// The words that mean that money was received.
  private static let received: Set<String> = [
    "received", "receive", "paid", "pay", "success", "succeeded", "successful", "complete", "completed", "captured",
    "settled", "finished", "ok", "credit", "credited", "incoming", "in",
  ]

  /// The words that say nothing about the state.
  private static let neutral: Set<String> = [
    "capture", "charge", "checkout", "intent", "invoice", "order", "payment", "purchase", "sale", "session", "trade",
    "transaction",
  ]

  /// Returns whether a value means that money was received. Each part must have that meaning or be neutral:
  /// PAYMENT.SALE.COMPLETED is accepted; payout.paid and payment.failed.ok are not.
  private static func meansReceipt(_ value: PayloadValue) -> Bool {
    guard case .string(let text) = value, text.utf8.count <= longestValue else { return false }
    let parts = parts(of: text)
    return !parts.isEmpty && parts.allSatisfy { received.contains($0) || neutral.contains($0) }
  }

  /// Returns a value's words in lower case. Words are separated by periods, hyphens, blanks and similar characters, and
  /// before each capital that follows a small letter. Other signs stay in the word, which is then not a known word.
  private static func parts(of text: String) -> [String] {
    var parts: [String.UnicodeScalarView] = [.init()]
    var isBehindSmall = false
    for scalar in text.unicodeScalars {
      let lowered = scalar.lowercased
      let isDivided = isBetweenWords(scalar)
      if isDivided || lowered != scalar && isBehindSmall { parts.append(.init()) }
      if !isDivided { parts[parts.count - 1].append(lowered) }
      isBehindSmall = lowered == scalar && scalar.isWordPart
    }
    return parts.filter { !$0.isEmpty }.map { String($0) }
  }

  private static let refundNames = ["refund", "chargeback", "payout", "dispute", "withdraw", "reversal"]

  private static func namesRefund(_ value: PayloadValue) -> Bool {
    guard case .string(let text) = value else { return false }
    guard text.utf8.count <= longestValue else { return true }
    let name = String(String.UnicodeScalarView(Folded(text).joined))
    return !isPlain(text) || refundNames.contains { name.contains($0) }
  }

  private static func isTrue(_ value: PayloadValue) -> Bool {
    switch value {
    case .boolean(true), .number("1"): true
    case .string(let text): text.utf8.count <= longestValue && ["true", "yes", "y", "1"].contains(text.lowercased())
    default: false
    }
  }

  private static func isFalse(_ value: PayloadValue) -> Bool {
    switch value {
    case .boolean(false), .number("0"): true
    case .string(let text): text.utf8.count <= longestValue && ["false", "no", "n", "0"].contains(text.lowercased())
    default: false
    }
  }

  /// Returns whether a value is empty, or a sum of zero.
  private static func isEmpty(_ value: PayloadValue) -> Bool {
    switch value {
    case .string(let text): text.isEmpty || text == "none" || isZero(text)
    case .number(let digits): isZero(digits)
    case .array(let elements): elements.isEmpty
    case .object(let fields): fields.isEmpty
    case .boolean, .null: false
    }
  }

  private static func isZero(_ digits: String) -> Bool {
    digits.utf8.contains(UInt8(ascii: "0"))
      && digits.utf8.allSatisfy { $0 == UInt8(ascii: "0") || $0 == UInt8(ascii: ".") }
  }
}
