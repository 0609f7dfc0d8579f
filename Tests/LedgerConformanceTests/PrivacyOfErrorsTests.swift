// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import Testing

@Suite("Private values and the errors of the ledger", .removesLedgers)
struct PrivacyOfErrorsTests {
  @Test("no error of the ledger reveals a payload, an id or an account", arguments: LedgerUnderTest.all)
  func privacy(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    let secret = "SECRET-ID"
    var new = payment(secret, account: secret, payload: "12.50 \(secret)")
    try await _ = ledger.accept(new)
    new.lane = ""
    var texts: [String] = []
    do { _ = try await ledger.accept(new) } catch { texts.append("\(error) \(error.localizedDescription)") }
    do { _ = try await ledger.accept(payment("\(secret)2"), standingFor: [1, 9]) } catch { texts.append("\(error)") }
    do { try await ledger.set(1, .played) } catch { texts.append("\(error)") }
    do { try await ledger.set(9, .played) } catch { texts.append("\(error)") }
    #expect(texts.count == 4)
    for text in texts { #expect(!text.contains("SECRET") && !text.contains("12.50")) }
  }
}
