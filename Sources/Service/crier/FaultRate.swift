// SPDX-License-Identifier: Apache-2.0

import APNSSimulator
import ArgumentParser
import PushMessages

/// A fault of the push simulator and its rate, as they are typed: `503=0.1`, `400:BadTopic=0.01`, `after-close=0.02`.
struct FaultRate {
  private var fault: Fault
  private var probability: Double

  /// The reason that each status has if the user types none.
  private static let reasons = [
    400: "BadDeviceToken", 403: "ExpiredProviderToken", 404: "BadPath", 405: "MethodNotAllowed", 410: "Unregistered",
    413: "PayloadTooLarge", 429: "TooManyRequests", 500: "InternalServerError", 503: "ServiceUnavailable",
  ]
  /// The reason that any other status has if the user types none.
  private static let unknownReason = "Unknown"

  /// - Throws: `ValidationError`, which says which part of the text is wrong.
  @Sendable
  init(_ argument: String) throws {
    guard let equals = argument.lastIndex(of: "=") else {
      throw ValidationError("The rate is missing: give FAULT=RATE, such as \(argument.isEmpty ? "503" : argument)=0.1.")
    }
    guard let rate = Double(argument[argument.index(after: equals)...]), (0...1).contains(rate) else {
      throw ValidationError("The rate is not a number from 0 to 1.")
    }
    var name = argument[..<equals]
    let isAfter = name.hasPrefix("after-")
    if isAfter { name = name.dropFirst("after-".count) }
    let action = try Self.action(name)
    (fault, probability) = (Fault(action, isAfter ? .afterProcessing : .beforeProcessing), rate)
  }

  /// A warning for the user; nil if Apple documents the reason with this status.
  var warning: String? {
    guard case .answer(let status, let reason, _) = fault.action else { return nil }
    guard reason != Self.unknownReason else {
      return "--fault \(status): Apple documents no reason with this status. The simulator gives the reason \(reason)."
    }
    guard let row = PushReasonText.row(of: reason) else {
      return "--fault \(status):\(reason): Apple does not document this reason. It is sent as you typed it."
    }
    return row.status == status
      ? nil
      : "--fault \(status):\(reason): Apple documents this reason with the status \(row.status). It is sent as you typed it."
  }

  private static func action(_ name: Substring) throws -> Fault.Action {
    switch name {
    case "goaway": return .goAway
    case "reset": return .reset(code: 2)  // INTERNAL_ERROR (RFC 9113, section 7)
    case "close": return .closeConnection
    case "never": return .never
    default: break
    }
    let parts = name.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard let status = Int(parts[0]) else {
      throw ValidationError(
        "\(name) is not a fault: give STATUS or STATUS:REASON, such as 400:BadTopic, or goaway, reset, close or never.")
    }
    guard (400...599).contains(status) else {
      throw ValidationError("The status \(status) is not a refusal: give a status from 400 to 599.")
    }
    let reason = parts.count == 2 ? String(parts[1]) : reasons[status] ?? unknownReason
    guard !reason.isEmpty, reason.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) else {
      throw ValidationError("The reason must be one word of letters and digits, such as BadTopic.")
    }
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
