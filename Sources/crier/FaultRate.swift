// SPDX-License-Identifier: Apache-2.0

import APNSSimulator
import ArgumentParser

/// A fault of the push simulator and its rate, as they are typed: `503=0.1`, `400:BadTopic=0.01`, `after-close=0.02`.
struct FaultRate: ExpressibleByArgument {
  private var fault: Fault
  private var probability: Double

  /// The reason of each status, if none is typed.
  private static let reasons = [
    400: "BadDeviceToken", 403: "ExpiredProviderToken", 404: "BadPath", 405: "MethodNotAllowed", 410: "Unregistered",
    413: "PayloadTooLarge", 429: "TooManyRequests", 500: "InternalServerError", 503: "ServiceUnavailable",
  ]

  init?(argument: String) {
    guard let equals = argument.lastIndex(of: "="), let rate = Double(argument[argument.index(after: equals)...]),
      (0...1).contains(rate)
    else { return nil }
    var name = argument[..<equals]
    let isAfter = name.hasPrefix("after-")
    if isAfter { name = name.dropFirst("after-".count) }
    guard let action = Self.action(name) else { return nil }
    (fault, probability) = (Fault(action, isAfter ? .afterProcessing : .beforeProcessing), rate)
  }

  private static func action(_ name: Substring) -> Fault.Action? {
    switch name {
    case "goaway": return .goAway
    case "reset": return .reset(code: 2)  // INTERNAL_ERROR (RFC 9113, section 7)
    case "close": return .closeConnection
    case "never": return .never
    default: break
    }
    let parts = name.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard let status = Int(parts[0]), (400...599).contains(status) else { return nil }
    let reason = parts.count == 2 ? String(parts[1]) : reasons[status] ?? "Unknown"
    guard !reason.isEmpty, reason.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) else { return nil }
    return .answer(status: status, reason: reason)
  }

  /// Returns the rate for the simulator.
  ///
  /// - Parameter retryAfter: `Retry-After` of the statuses 429 and 503, in seconds.
  func rate(_ retryAfter: Int?) -> Faults.Rate {
    guard case .answer(let status, let reason, _) = fault.action, status == 429 || status == 503 else {
      return Faults.Rate(fault, probability: probability)
    }
    return Faults.Rate(
      Fault(.answer(status: status, reason: reason, retryAfter: retryAfter), fault.moment), probability: probability)
  }
}
