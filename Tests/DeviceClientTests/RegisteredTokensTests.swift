// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushMessages
import Testing

@testable import DeviceClient

@Suite("Registered tokens")
struct RegisteredTokensTests {
  private let first = Data([1, 2, 3])
  private let second = Data([4, 5, 6])

  /// Tokens that the service has.
  private func registered() -> RegisteredTokens {
    var tokens = RegisteredTokens()
    _ = tokens.receive(first, .alert)
    _ = tokens.registrationEnded(true)
    return tokens
  }

  @Test("a phone's first push token is registered, and the same token is not registered again")
  func unchanged() {
    var tokens = RegisteredTokens()
    #expect(tokens.receive(first, .alert) == .register([.alert: first]))
    #expect(tokens.registrationEnded(true) == .nothing)
    #expect(!tokens.needsRegistration)
    #expect(tokens.receive(first, .alert) == .nothing)
  }

  @Test("the push tokens of the app and of its extension are registered together")
  func together() {
    var tokens = registered()
    #expect(tokens.receive(second, .fileProvider) == .register([.alert: first, .fileProvider: second]))
    _ = tokens.registrationEnded(true)
    #expect(
      tokens.receive(second, .fileProviderExtension)
        == .register([.alert: first, .fileProvider: second, .fileProviderExtension: second]))
  }

  @Test("a new push token replaces the token of the same kind")
  func replaced() {
    var tokens = registered()
    #expect(tokens.receive(second, .alert) == .register([.alert: second]))
  }

  @Test("an invalidated push token is removed by a registration without it, and an unknown token needs no call")
  func invalidated() {
    var tokens = registered()
    #expect(tokens.invalidate(.fileProvider) == .nothing)
    #expect(tokens.invalidate(.alert) == .register([:]))
    #expect(tokens.registrationEnded(true) == .nothing)
    #expect(tokens.invalidate(.alert) == .nothing)
  }

  @Test("an empty push token counts as invalidated")
  func empty() {
    var tokens = registered()
    #expect(tokens.receive(Data(), .alert) == .register([:]))
  }

  @Test("only one registration call is in progress, and token changes during the call are registered after it")
  func inProgress() {
    var tokens = RegisteredTokens()
    _ = tokens.receive(first, .alert)
    #expect(tokens.receive(second, .fileProvider) == .nothing)
    #expect(tokens.invalidate(.alert) == .nothing)
    #expect(tokens.registrationEnded(true) == .register([.fileProvider: second]))
    #expect(tokens.registrationEnded(true) == .nothing)
  }

  @Test("a push token that changes and changes back during a call needs no second call")
  func backAgain() {
    var tokens = RegisteredTokens()
    _ = tokens.receive(first, .alert)
    _ = tokens.receive(second, .alert)
    _ = tokens.receive(first, .alert)
    #expect(tokens.registrationEnded(true) == .nothing)
    #expect(!tokens.needsRegistration)
  }

  @Test("after a failed call, the push tokens are registered again on request or with the next token")
  func failed() {
    var tokens = RegisteredTokens()
    _ = tokens.receive(first, .alert)
    #expect(tokens.registrationEnded(false) == .nothing)
    #expect(tokens.needsRegistration)
    #expect(tokens.registerAgain() == .register([.alert: first]))
    #expect(tokens.registrationEnded(false) == .nothing)
    #expect(tokens.receive(first, .alert) == .register([.alert: first]))
  }

  @Test("push tokens that changed during a failed call are registered at once")
  func failedAndChanged() {
    var tokens = RegisteredTokens()
    _ = tokens.receive(first, .alert)
    _ = tokens.receive(second, .alert)
    #expect(tokens.registrationEnded(false) == .register([.alert: second]))
  }

  @Test("after a failed call, the earlier push tokens are registered again, because the call may have arrived")
  func failedAfterSuccess() {
    var tokens = registered()
    _ = tokens.receive(second, .alert)
    _ = tokens.registrationEnded(false)
    #expect(tokens.receive(first, .alert) == .register([.alert: first]))
  }

  @Test("another registration of the push tokens can be requested, also during a call")
  func again() {
    var tokens = registered()
    #expect(tokens.registerAgain() == .register([.alert: first]))
    #expect(tokens.registerAgain() == .nothing)
    #expect(tokens.registrationEnded(true) == .register([.alert: first]))
    #expect(tokens.registrationEnded(true) == .nothing)
  }

  @Test("the end of a registration call that was never made has no effect")
  func noCall() {
    var tokens = registered()
    #expect(tokens.registrationEnded(false) == .nothing)
    #expect(!tokens.needsRegistration)
  }

  @Test("stored push tokens are restored, and a call that was in progress is made again")
  func stored() throws {
    func restored(_ tokens: RegisteredTokens) throws -> RegisteredTokens {
      try JSONDecoder().decode(RegisteredTokens.self, from: JSONEncoder().encode(tokens))
    }
    var tokens = try restored(registered())
    #expect(tokens == registered())
    #expect(tokens.receive(second, .background) != .nothing)
    var ended = try restored(tokens)
    #expect(ended.needsRegistration)
    #expect(ended.receive(first, .alert) == .register([.alert: first, .background: second]))
  }

  @Test("a kind of push token that only a newer version knows is left out, and damaged text is refused")
  func otherText() throws {
    let text = #"{"tokens":{"alert":"AQID","watch":"AQID"},"registered":{"watch":"AQID"}}"#
    let tokens = try JSONDecoder().decode(RegisteredTokens.self, from: Data(text.utf8))
    #expect(tokens.tokens == [.alert: first])
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(RegisteredTokens.self, from: Data(#"{"tokens":[1]}"#.utf8))
    }
  }

  @Test("the description, the mirror and the dump of registered tokens do not show a token")
  func texts() {
    let registration = DeviceRegistration(
      tokens: [.alert: Data([0xAB, 0xCD])], bundleID: "com.example.shop", environment: .sandbox)
    var tokens = RegisteredTokens()
    _ = tokens.receive(Data([0xAB, 0xCD]), .alert)
    var dumped = ""
    dump(tokens, to: &dumped)
    dump(registration, to: &dumped)
    for text in ["\(tokens)", String(reflecting: tokens), "\(registration)", String(reflecting: registration), dumped] {
      #expect(text.contains("alert"))
      #expect(!text.lowercased().contains("abcd"))
      #expect(!text.contains("171"))
    }
  }
}
