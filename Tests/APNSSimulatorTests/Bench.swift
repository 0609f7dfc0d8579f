// SPDX-License-Identifier: Apache-2.0

import APNSSimulator
import ConcurrencySupport
import Crypto
import Foundation

/// A running simulator with one key of one team, and curl as its client.
struct Bench {
  static let device = String(repeating: "0f", count: 32)
  static let otherDevice = String(repeating: "a1", count: 32)
  static let topic = "com.example.shop"
  static let keyID = "ABC123DEFG"
  static let team = "DEF123GHIJ"
  static let alert = #"{"aps":{"alert":"12.50"}}"#
  /// The time at which the clock of the simulator begins, in milliseconds since 1970.
  static let start: Int64 = 1_900_000_000_000

  let simulator: APNSSimulator
  let curl: Curl
  let key: P256.Signing.PrivateKey
  /// The simulator's clock, in milliseconds since 1970.
  let clock: Locked<Int64>

  /// Runs the work with a simulator, and removes everything afterwards.
  static func with(
    _ change: (inout APNSSimulator.Configuration) -> Void = { _ in }, _ work: (Bench) async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "apns-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let key = P256.Signing.PrivateKey()
    let clock = Locked(start)
    var configuration = APNSSimulator.Configuration()
    configuration.keys = .listed([try ProviderKey(id: keyID, team: team, pem: key.pemRepresentation)])
    configuration.now = { clock.withLock { $0 } }
    change(&configuration)
    let simulator = try await APNSSimulator.start(configuration)
    do {
      try await work(
        Bench(simulator: simulator, curl: try Curl(simulator, folder: folder), key: key, clock: clock))
    } catch {
      await simulator.stop()
      throw error
    }
    await simulator.stop()
  }

  func advance(seconds: Int64) { clock.withLock { $0 += seconds * 1000 } }

  /// Returns a provider token.
  ///
  /// - Parameter age: The age of the token, in seconds.
  func token(
    keyID: String = keyID, team: String = team, age: Int64 = 0, algorithm: String = "ES256",
    key: P256.Signing.PrivateKey? = nil
  ) throws -> String {
    let issued = clock.withLock { $0 } / 1000 - age
    let signed =
      Self.encode(Data(#"{"alg":"\#(algorithm)","kid":"\#(keyID)"}"#.utf8)) + "."
      + Self.encode(Data(#"{"iss":"\#(team)","iat":\#(issued)}"#.utf8))
    let signature = try (key ?? self.key).signature(for: Data(signed.utf8))
    return signed + "." + Self.encode(signature.rawRepresentation)
  }

  static func encode(_ data: Data) -> String {
    data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  /// Returns the header fields of an alert push that is right.
  func headers(token: String? = nil) throws -> [(String, String)] {
    [
      ("authorization", "bearer \(try token ?? self.token())"), ("apns-topic", Self.topic), ("apns-push-type", "alert"),
    ]
  }

  /// Sends an alert push that is right, except for the changes.
  ///
  /// - Parameters:
  ///   - token: The provider token. Without it, a new one is made.
  ///   - fields: Header fields that replace those of the same name. `nil` removes one.
  func push(
    to device: String = device, token: String? = nil, _ fields: [String: String?] = [:], body: String = alert,
    options: [String] = []
  ) async throws -> Curl.Answer {
    var headers = try headers(token: token).filter { fields[$0.0] == nil }
    for (name, value) in fields { if let value { headers.append((name, value)) } }
    return try await curl.send(
      "POST", "/3/device/\(device)", headers: headers, body: Array(body.utf8), options: options)
  }
}
