// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import Testing

@Suite("Provider tokens in the ledger", .removesLedgers)
struct ProviderTokenTests {
  @Test(
    "a key without a token has none, and the first token of a key is the one to send", arguments: LedgerUnderTest.all)
  func first(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    #expect(try await ledger.providerToken(of: "key") == nil)
    #expect(try await ledger.replaceProviderToken(of: "key", nil, with: Data([1])) == Data([1]))
    #expect(try await ledger.providerToken(of: "other") == nil)
  }

  @Test(
    "a token is replaced only by a node that has read it",
    .enabled(if: LedgerUnderTest.all.contains(.postgresql), "This needs a ledger that several machines use."))
  func replaced() async throws {
    let place = try await LedgerUnderTest.postgresql.makePlace()
    let (first, second) = (
      try await place.open(LedgerUnderTest.Options(), on: "shop-1"),
      try await place.open(LedgerUnderTest.Options(), on: "shop-2")
    )
    #expect(try await first.replaceProviderToken(of: "key", nil, with: Data([1])) == Data([1]))
    // The other node has found no token before.
    #expect(try await second.replaceProviderToken(of: "key", nil, with: Data([2])) == Data([1]))
    #expect(try await second.replaceProviderToken(of: "key", Data([1]), with: Data([3])) == Data([3]))
    #expect(try await first.replaceProviderToken(of: "key", Data([1]), with: Data([4])) == Data([3]))
    #expect(try await first.providerToken(of: "key") == Data([3]))
  }

  @Test(
    "a name or a token that is too long is refused",
    .enabled(if: LedgerUnderTest.all.contains(.postgresql), "This needs a ledger that several machines use."))
  func refused() async throws {
    let ledger = try await LedgerUnderTest.postgresql.makePlace().open()
    for (key, token) in [
      ("", Data([1])), ("a\0", Data([1])), (String(repeating: "a", count: 256), Data([1])), ("key", Data()),
      ("key", Data(count: 4_097)),
    ] {
      let error = await #expect(throws: LedgerError.self) {
        try await ledger.replaceProviderToken(of: key, nil, with: token)
      }
      #expect(error?.code == .invalidValue)
    }
  }
}
