// SPDX-License-Identifier: Apache-2.0

/// Keys by which other systems tell what became of the money. Where a payment has no `kind`, such a key must say that the
/// money came.
extension PayloadKeys {
  /// How the value of such a key is read.
  enum State: Sendable {
    /// It is in words, of which each must say that the money came, or nothing about it.
    case told
    /// It names a thing, which may be a refund.
    case thing
    /// It is true when the money came.
    case came
    /// It is true when the money did not come, or went.
    case went
    /// Only a refund has it.
    case refund
    /// It is `kind` in other words.
    case kind
  }

  private static let states: [(State, [String])] = [
    (
      .told,
      [
        "type", "transaction_type", "txn_type", "payment_type", "event", "event_type", "event_code", "action",
        "operation", "direction", "status", "payment_status", "transaction_status", "order_status", "trade_status",
        "state", "payment_state", "transaction_state", "order_state", "trade_state", "result",
      ]
    ),
    (.thing, ["object"]),
    (.came, ["paid", "is_paid", "success", "is_success", "succeeded", "captured", "is_captured"]),
    (
      .went,
      [
        "refund", "refunded", "is_refund", "is_refunded", "reverse", "reversal", "reversed", "is_reversal",
        "chargeback", "withdrawal", "withdrawn", "failed", "failure", "is_failed", "declined", "cancelled", "canceled",
        "void", "voided", "debit",
      ]
    ),
    (.refund, ["amount_refunded", "refunded_amount", "refund_amount", "refund_id", "refund_status", "refunds"]),
  ]

  /// A key, without underscores.
  private struct Spelling: Sendable {
    var name: String
    var joined: [Unicode.Scalar]
    var state: State
  }

  private static let kind = Array("kind".unicodeScalars)

  private static let spellings: [Spelling] = states.flatMap { state, names in
    names.map { Spelling(name: $0, joined: $0.unicodeScalars.filter { $0 != "_" }, state: state) }
  }

  /// What a key tells, and the key of those above that it is.
  ///
  /// A key is one of them where its letters are the same, but for one that is wrong, missing or too many, or two that
  /// have changed places. A key whose first or last word is kind tells a kind.
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
    abs(key.count - known.count) <= 1 && isWithin(1, key, 0, known, 0)
  }

  /// Whether the key may tell that the money did not come, or went.
  static func contradictsReceipt(_ key: Folded, _ value: PayloadValue) -> Bool {
    switch state(key)?.state {
    case nil: false
    case .kind?: true
    case .told?: !tellsReceipt(value)
    case .thing?: namesRefund(value)
    case .came?: !isTrue(value) && !tellsReceipt(value)
    case .went?: !isFalse(value)
    case .refund?: !isFalse(value) && !isEmpty(value)
    }
  }

  // MARK: Values

  /// In bytes. A longer value is no word for what became of the money.
  private static let longestValue = 64

  /// Words that say that the money came.
  private static let received: Set<String> = [
    "received", "receive", "paid", "pay", "success", "succeeded", "successful", "complete", "completed", "captured",
    "settled", "finished", "ok", "credit", "credited", "incoming", "in",
  ]

  /// Words that say nothing about it.
  private static let neutral: Set<String> = [
    "capture", "charge", "checkout", "intent", "invoice", "order", "payment", "purchase", "sale", "session", "trade",
    "transaction",
  ]

  /// Each part must say it or be neutral: PAYMENT.SALE.COMPLETED does, and payout.paid and payment.failed.ok do not.
  private static func tellsReceipt(_ value: PayloadValue) -> Bool {
    guard case .string(let text) = value, text.utf8.count <= longestValue else { return false }
    let parts = parts(of: text)
    return !parts.isEmpty && parts.allSatisfy { received.contains($0) || neutral.contains($0) }
  }

  /// A value's words in lower case, divided by points, hyphens, blanks and the like, and by a capital behind a small
  /// letter. Other signs stay, so that a word with one is no known word.
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

  /// Whether it is nothing, or a sum of nothing.
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
