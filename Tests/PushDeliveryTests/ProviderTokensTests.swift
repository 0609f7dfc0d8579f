// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Crypto
import Foundation
@testable import PushDelivery
import PushMessages
import Testing

@Suite("The provider tokens")
struct ProviderTokensTests {
  /// Both clocks, which a test moves.
  private final class Clock: Sendable {
    private let elapsed = Locked(0)
    let start = Date(timeIntervalSince1970: 1_800_000_000)

    var moment: ProviderTokenAge.Moment {
      let seconds = elapsed.withLock { $0 }
      return ProviderTokenAge.Moment(date: start.addingTimeInterval(Double(seconds)), elapsed: .seconds(seconds))
    }

    func advance(_ seconds: Int) { elapsed.withLock { $0 += seconds } }
  }

  private func make() throws -> (ProviderTokens, Clock) {
    let clock = Clock()
    let pem = P256.Signing.PrivateKey().pemRepresentation
    let key = try ProviderKey(pem: pem, id: "ABC123DEFG", team: "DEF123GHIJ")
    return (ProviderTokens(key: key, now: { clock.moment }), clock)
  }

  /// Reads the token's `iat`.
  private func issued(_ token: ProviderTokens.Token) throws -> Int {
    let claims = try #require(ProviderKeyTests.decode(token.text.split(separator: ".")[1]))
    let object = try #require(try JSONSerialization.jsonObject(with: claims) as? [String: Any])
    return try #require(object["iat"] as? Int)
  }

  @Test(
    "no provider token gets older than 60 minutes, and none is replaced before 20 minutes", arguments: [60, 7, 1_199])
  func day(step: Int) async throws {
    let (tokens, clock) = try make()
    var last: Int?
    var count = 0
    for _ in stride(from: 0, to: 86_400, by: step) {
      let issued = try issued(await tokens.token())
      let now = Int(clock.moment.date.timeIntervalSince1970)
      #expect(now - issued < 3_600)
      if let last, last != issued {
        #expect(issued - last >= 1_200)
        count += 1
      }
      last = issued
      clock.advance(step)
    }
    #expect((24...72).contains(count))
  }

  @Test("threads that ask for a provider token at the same time share one token")
  func shared() async throws {
    let (tokens, _) = try make()
    let texts = try await withThrowingTaskGroup(of: Set<String>.self) { group in
      for _ in 0..<16 {
        group.addTask {
          var texts: Set<String> = []
          for _ in 0..<500 { texts.insert(try await tokens.token().text) }
          return texts
        }
      }
      return try await group.reduce(into: Set<String>()) { $0.formUnion($1) }
    }
    #expect(texts.count == 1)
  }

  @Test("a hundred refusals of an expired provider token lead to one new token")
  func refusals() async throws {
    let (tokens, clock) = try make()
    let refused = try await tokens.token()
    clock.advance(25 * 60)
    let renewed = try await withThrowingTaskGroup(of: String?.self) { group in
      for _ in 0..<100 { group.addTask { try await tokens.token(afterRefusalOf: refused)?.text } }
      return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
    }
    #expect(renewed.count == 1)
    #expect(renewed != [refused.text])
    #expect(renewed == [try await tokens.token().text])
  }

  @Test("a provider token that is refused in its first 20 minutes is not replaced")
  func tooEarly() async throws {
    let (tokens, clock) = try make()
    let refused = try await tokens.token()
    clock.advance(20 * 60 - 1)
    #expect(try await tokens.token(afterRefusalOf: refused) == nil)
    #expect(try await tokens.token() == refused)
    clock.advance(1)
    #expect(try await tokens.token(afterRefusalOf: refused) != nil)
  }
}
