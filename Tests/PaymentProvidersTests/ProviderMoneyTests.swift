// SPDX-License-Identifier: Apache-2.0

import Announcements
import PaymentProviders
import Testing

@Suite("Sums of providers")
struct ProviderMoneyTests {
  private let digits = MinorUnitDigits(["ISK": 2, "MGA": 0], unclear: ["IQD"], thirdDigitIsZero: true)

  @Test(
    "a provider's minor units are counted with the provider's number of digits",
    arguments: [("EUR", 1_250, "12.50"), ("isk", 125_000, "1250"), ("MGA", 1_250, "1250.00"), ("KWD", 1_250, "1.250")])
  func sums(currency: String, units: Int64, sum: String) throws {
    #expect(try digits.money(units, currency).decimalText == sum)
  }

  @Test(
    "a sum that a provider's rules leave unclear is refused, and the error names the field",
    arguments: [("ISK", 125_050, "amount"), ("KWD", 1_251, "amount"), ("IQD", 1_250, "currency")])
  func unclear(currency: String, units: Int64, field: String) throws {
    let error = try #require(throws: AnnouncementError.self) { try digits.money(units, currency) }
    #expect(error.code == .fieldInvalid && error.subject == field)
    #expect(!error.description.contains("\(units)"))
  }

  @Test("the third digit of a sum may be any digit if the provider has no rule for it")
  func thirdDigit() throws {
    #expect(try MinorUnitDigits().money(1_251, "KWD").decimalText == "1.251")
  }

  @Test("a sum in more of a provider's units than fit into a number is refused")
  func tooLarge() {
    #expect(throws: AnnouncementError.self) { try digits.money(.max / 10, "MGA") }
  }

  @Test("in minor and in major units, the outcome of an unclear sum has the reason and the payment's id")
  func outcomes() throws {
    let minor = ProviderOutcome(id: "p1", .received, minor: 1_251, "KWD", digits)
    let major = ProviderOutcome(id: "p2", .received, major: "12.505", "EUR")
    for (outcome, identifier) in [(minor, "p1"), (major, "p2")] {
      guard case .refused(let reason, let id) = outcome else {
        Issue.record("\(outcome) is not refused")
        continue
      }
      #expect(id == identifier && reason.contains("amount: "), "\(reason)")
    }
  }
}
