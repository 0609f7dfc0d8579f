// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A share from 0 to 1 in whole hundredths, such as the volume of a critical alert. It is written in JSON as a decimal
/// number: 75 hundredths as `0.75`.
public struct Hundredths: Sendable, Hashable {
  /// 0 to 100.
  public let value: Int

  /// - Throws: ``PushMessageError`` with `hundredthsInvalid` unless the value is 0 to 100.
  public init(_ value: Int) throws(PushMessageError) {
    guard (0...100).contains(value) else {
      throw PushMessageError(.hundredthsInvalid, "must be 0 to 100 hundredths, not \(value)")
    }
    self.value = value
  }

  private init(checked value: Int) { self.value = value }

  /// One, which is 100 hundredths.
  public static let one = Hundredths(checked: 100)
}

extension Hundredths: Encodable {
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    // A Decimal is written digit by digit; a Double could be written as 0.28999999999999998.
    try container.encode(Decimal(value) / 100)
  }
}
