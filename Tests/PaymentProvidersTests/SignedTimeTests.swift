// SPDX-License-Identifier: Apache-2.0

import Foundation
import PaymentProviders
import Testing

@Suite("Signed times")
struct SignedTimeTests {
  private let now = Date(timeIntervalSince1970: 1_700_000_000)

  @Test(
    "a signed time at most 300 seconds before or after the clock is accepted", arguments: [-300, 0, 300] as [Int64])
  func near(offset: Int64) throws {
    let date = try SignedTime.date("\(1_700_000_000 + offset)", of: now)
    #expect(date == now.addingTimeInterval(TimeInterval(offset)))
  }

  @Test(
    "a signed time 301 seconds before or after the clock is refused, and the error names the difference",
    arguments: [-301, 301] as [Int64])
  func far(offset: Int64) {
    let error = #expect(throws: ProviderRejection.self) { try SignedTime.date("\(1_700_000_000 + offset)", of: now) }
    #expect(error?.code == .timestampOutsideWindow && error?.skew == offset)
  }

  @Test(
    "a signed time that is not written as a whole number of seconds is refused",
    arguments: ["", "-5", "+1700000000", "01700000000", "1.7e9", "1700000000.0", "９", "99999999999999999999"])
  func malformed(text: String) {
    #expect(throws: ProviderRejection.self) { try SignedTime.date(text, of: now) }
  }

  @Test(
    "a difference between clocks is given in the largest unit in which it is at least two",
    arguments: [
      (0, "0 seconds"), (119, "119 seconds"), (120, "2 minutes"), (7_199, "119 minutes"), (7_200, "2 hours"),
      (172_799, "47 hours"), (172_800, "2 days"),
    ])
  func difference(seconds: Int64, text: String) { #expect(ClockSkew.text(of: seconds) == text) }

  @Test("the text about a clock difference says whether the service's clock is behind or ahead")
  func sentence() {
    #expect(ClockSkew.sentence(providerAheadBy: 360) == "Your clock is 6 minutes behind the provider's.")
    #expect(ClockSkew.sentence(providerAheadBy: -360) == "Your clock is 6 minutes ahead of the provider's.")
  }
}
