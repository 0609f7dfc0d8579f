// SPDX-License-Identifier: Apache-2.0

import PaymentProviders

extension ProviderMapping {
  /// Checks that no unsigned value decides about a payment. For a scheme that signs nothing, only `time` and `live` are
  /// checked.
  ///
  /// - Parameters:
  ///   - fields: The entries of `payment`.
  ///   - rows: The rows of `kinds`.
  func checkSignedValues(_ fields: SettingsFields, _ rows: [SettingsNode]) throws(ProviderSettingsError) {
    func check(_ key: String, _ sources: [ValueSource], _ remedy: String) throws(ProviderSettingsError) {
      guard let node = fields[key], !sources.allSatisfy(verification.covers) else { return }
      throw node.error("is not signed, so it must not decide anything", remedy: remedy)
    }
    // People rely on an age limit and on a filter for test payments. A limit or a filter that anybody could circumvent
    // would do harm.
    try check("time", payment.time.map { [$0.source] } ?? [], "remove it")
    try check("live", payment.live.map { [$0.source] } ?? [], "remove it")
    guard isSigned else { return }
    let remedy = "give a place that the signature covers, or write text:"
    if payment.identity.isEmpty {
      try check("id", payment.id, "give a place that the signature covers, or add 'identity' with such a place")
    }
    try check("identity", payment.identity, remedy)
    try check("amount", [payment.amount.source], remedy)
    try check("currency", [payment.currency], remedy)
    try check("merchant", payment.merchant.map { [$0] } ?? [], "remove it")
    for (row, node) in zip(kinds, rows) {
      guard case .payment = row.meaning, verification.coverage == .parts || !row.when.isEmpty,
        !row.when.contains(where: { verification.covers($0.source) })
      else { continue }
      throw node.error(
        "accepts a payment without a signed condition", remedy: "add a condition on a place that the signature covers")
    }
  }
}
