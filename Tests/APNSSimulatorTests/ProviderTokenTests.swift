// SPDX-License-Identifier: Apache-2.0

import APNSSimulator
import Crypto
import Foundation
import Testing

@Suite("Provider tokens of the push simulator", .timeLimit(.minutes(5)))
struct ProviderTokenTests {
  private func expect(
    _ reason: String, _ status: Int = 403, _ authorization: (Bench) throws -> String?
  ) async throws {
    try await Bench.with { bench in
      let value = try authorization(bench)
      let answer = try await bench.push(["authorization": value])
      #expect(answer.status == status && answer.reason == reason)
      #expect(bench.simulator.counts.accepted == 0)
    }
  }

  @Test("a request without a provider token is refused")
  func missing() async throws {
    try await expect("MissingProviderToken") { _ in nil }
    try await expect("MissingProviderToken") { "basic \(try $0.token())" }
  }

  @Test("a text that is not a provider token is refused", arguments: ["a", "a.b", "a.b.c", "e30.e30.e30", "...."])
  func malformed(text: String) async throws {
    try await expect("InvalidProviderToken") { _ in "bearer \(text)" }
  }

  @Test("a provider token is refused if its signature, algorithm, key or team is wrong")
  func wrong() async throws {
    try await expect("InvalidProviderToken") { "bearer \(try $0.token(key: P256.Signing.PrivateKey()))" }
    try await expect("InvalidProviderToken") { "bearer \(try $0.token(algorithm: "HS256"))" }
    try await expect("InvalidProviderToken") { "bearer \(try $0.token(keyID: "ZZZ123DEFG"))" }
    try await expect("InvalidProviderToken") { "bearer \(try $0.token(team: "ZZZ123GHIJ"))" }
  }

  @Test("a provider token with a time in the future is refused")
  func future() async throws {
    try await expect("InvalidProviderToken") { "bearer \(try $0.token(age: -120))" }
  }

  @Test("a provider token of 60 minutes is accepted, and one second later it has expired")
  func age() async throws {
    try await expect("ExpiredProviderToken") { "bearer \(try $0.token(age: 3_601))" }
    try await Bench.with { bench in
      let token = try bench.token()
      #expect(try await bench.push(token: token).status == 200)
      bench.advance(seconds: 3_600)
      #expect(try await bench.push(token: token).status == 200)
      bench.advance(seconds: 1)
      #expect(try await bench.push(token: token).reason == "ExpiredProviderToken")
    }
  }

  @Test("a second provider token within 20 minutes is refused, and the first one stays valid")
  func updates() async throws {
    try await Bench.with { bench in
      let first = try bench.token()
      #expect(try await bench.push(token: first).status == 200)
      bench.advance(seconds: 1_199)
      let second = try bench.token()
      let answer = try await bench.push(token: second)
      #expect(answer.status == 429 && answer.reason == "TooManyProviderTokenUpdates")
      #expect(try await bench.push(token: first).status == 200)
      bench.advance(seconds: 1)
      #expect(try await bench.push(token: second).status == 200)
      #expect(try await bench.push(token: first).status == 200)
    }
  }

  @Test("if the simulator accepts any key, it checks only the form and the age of a provider token")
  func anyKey() async throws {
    try await Bench.with {
      $0.keys = .any
    } _: { bench in
      let token = try bench.token(keyID: "ZZZ123DEFG", key: P256.Signing.PrivateKey())
      #expect(try await bench.push(token: token).status == 200)
      let old = try bench.token(age: 3_601)
      #expect(try await bench.push(token: old).reason == "ExpiredProviderToken")
    }
  }

  @Test("a text that is not a private key is refused, and the error does not contain the text")
  func keyFile() {
    let error = #expect(throws: APNSSimulatorError.self) {
      try ProviderKey(id: Bench.keyID, team: Bench.team, pem: "secret")
    }
    #expect(error?.code == .keyInvalid && error?.description.contains("secret") == false)
  }
}
