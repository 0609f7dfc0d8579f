// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Crypto
import Foundation
import Ledger
import PushMessages
import Testing

@testable import PushDelivery

/// The tokens of a ledger, in memory.
private final class StoredTokens: Ledger.ProviderTokenStore {
  struct State {
    var tokens: [String: Data] = [:]
    var isDown = false
    /// The token that another node stores before the next replacement.
    var rival: Data?
  }
  let state = Locked(State())

  private func use<Value: Sendable>(_ work: (inout State) -> Value) throws(LedgerError) -> Value {
    let value: Value? = state.withLock { state in
      if state.isDown { return nil }
      return work(&state)
    }
    guard let value else { throw LedgerError(.unreachable, while: .taking, on: "db") }
    return value
  }

  func providerToken(of key: String) async throws(LedgerError) -> Data? { try use { $0.tokens[key] } }

  func replaceProviderToken(of key: String, _ earlier: Data?, with new: Data) async throws(LedgerError) -> Data {
    try use { state in
      if let rival = state.rival { (state.tokens[key], state.rival) = (rival, nil) }
      guard state.tokens[key] == earlier else { return state.tokens[key] ?? new }
      state.tokens[key] = new
      return new
    }
  }
}

@Suite("Provider tokens that nodes share", .timeLimit(.minutes(5)))
struct SharedProviderTokenTests {
  private let key: ProviderKey
  private let start = Date(timeIntervalSince1970: 1_800_000_000)
  private let store = StoredTokens()

  init() throws {
    key = try ProviderKey(pem: P256.Signing.PrivateKey().pemRepresentation, id: "ABC123DEFG", team: "TEAM123456")
  }

  /// A node that takes the pushes over so many minutes after the first one.
  private func node(after minutes: Double, with key: ProviderKey? = nil) -> ProviderTokens {
    let date = start.addingTimeInterval(minutes * 60)
    return ProviderTokens(key: key ?? self.key, store: store) {
      ProviderTokenAge.Moment(date: date, elapsed: .seconds(1))
    }
  }

  @Test("a node that takes the pushes over within 40 minutes sends the same token, and a later one makes a new one")
  func takenOver() async throws {
    let first = try await node(after: 0).token().text
    for minutes in [0.5, 19, 21, 39] { #expect(try await node(after: minutes).token().text == first, "\(minutes)") }
    let second = try await node(after: 41).token().text
    #expect(second != first)
    #expect(try await node(after: 42).token().text == second)
  }

  @Test("a node whose clock is behind by up to five minutes sends the token of the other node")
  func behind() async throws {
    let first = try await node(after: 0).token()
    let token = try await node(after: -4).token()
    #expect(token.text == first.text)
    #expect(try await node(after: -6).token().text != first.text)
  }

  @Test("of two nodes that need a token at the same moment, the slower one sends that of the faster one")
  func faster() async throws {
    let rival = IssuedToken(text: try key.token(issuedAt: start), issuedAt: Int(start.timeIntervalSince1970))
    let sealed = try key.seal(rival)
    store.state.withLock { $0.rival = sealed }
    #expect(try await node(after: 0).token().text == rival.text)
  }

  @Test("without the ledger, a node makes a token of its own, and uses the shared one later")
  func down() async throws {
    let first = try await node(after: 0).token().text
    store.state.withLock { $0.isDown = true }
    let own = try await node(after: 1).token().text
    #expect(own != first)
    store.state.withLock { $0.isDown = false }
    #expect(try await node(after: 2).token().text == first)
  }

  @Test("the ledger has neither a token nor a part of it in plain text, and another key cannot read it")
  func sealed() async throws {
    let token = try await node(after: 0).token().text
    let stored = try #require(store.state.withLock { $0.tokens }.first)
    let text = String(decoding: stored.value, as: UTF8.self)
    for part in token.split(separator: ".") { #expect(!text.contains(part)) }
    #expect(key.open(stored.value)?.text == token)
    let wrong = try ProviderKey(pem: P256.Signing.PrivateKey().pemRepresentation, id: key.id, team: key.team)
    #expect(wrong.open(stored.value) == nil)
    #expect(try key.seal(IssuedToken(text: token, issuedAt: 1)) != key.seal(IssuedToken(text: token, issuedAt: 1)))
  }

  @Test("bytes in the ledger that are no token of this key are replaced")
  func damaged() async throws {
    let wrong = try ProviderKey(pem: P256.Signing.PrivateKey().pemRepresentation, id: key.id, team: key.team)
    let foreign = IssuedToken(text: try wrong.token(issuedAt: start), issuedAt: Int(start.timeIntervalSince1970))
    // The last one is encrypted with the right key, and signed by another.
    for bytes in [Data(), Data("token".utf8), try wrong.seal(foreign), try key.seal(foreign)] {
      store.state.withLock { $0.tokens[key.sharedName] = bytes }
      let token = try await node(after: 1).token().text
      #expect(key.hasSigned(token, issuedAt: start.addingTimeInterval(60)))
      #expect(store.state.withLock { $0.tokens[key.sharedName] } != bytes)
    }
  }

  @Test("a token that APNs refused is not taken from the ledger again")
  func refused() async throws {
    _ = try await node(after: 0).token()
    let later = node(after: 25)
    let old = try await later.token()
    let newer = try #require(try await later.token(afterRefusalOf: old))
    #expect(newer.text != old.text)
    #expect(try await node(after: 26).token().text == newer.text)
  }

  @Test("a node stores the shared token in its file, so that other programs of the machine send it too")
  func file() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tokens-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let first = try await node(after: 0).token().text
    let date = start.addingTimeInterval(60)
    func program(_ store: StoredTokens?) -> ProviderTokens {
      ProviderTokens(key: key, file: ProviderTokenFile(folder: folder, key: key), store: store) {
        ProviderTokenAge.Moment(date: date, elapsed: .seconds(1))
      }
    }
    #expect(try await program(store).token().text == first)
    #expect(try await program(nil).token().text == first)
  }
}
