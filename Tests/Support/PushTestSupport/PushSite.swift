// SPDX-License-Identifier: Apache-2.0

public import APNSSimulator
import Crypto
public import Foundation
public import PushDelivery
public import PushMessages

/// A running simulator of APNs, with a key and the certificate of its authority in a fresh folder.
public struct PushSite: Sendable {
  public static let app = "com.example.shop"
  public static let keyID = "ABC123DEFG"
  public static let team = "DEF123GHIJ"

  public let folder: URL
  public let simulator: APNSSimulator
  public let key: ClientKey
  /// A provider token of the key.
  public let providerToken: String

  /// The file of the provider key, which only its owner can read.
  public var keyFile: URL { folder.appending(path: "key.p8") }
  /// The file of the certificate authority.
  public var authority: URL { folder.appending(path: "authority.pem") }

  /// Runs the work with a simulator, and removes everything afterwards.
  public static func with<Result>(
    _ change: (inout APNSSimulator.Configuration) -> Void = { _ in }, _ work: (PushSite) async throws -> Result
  ) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "push-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let pem = P256.Signing.PrivateKey().pemRepresentation
    let keyFile = folder.appending(path: "key.p8")
    try Data(pem.utf8).write(to: keyFile)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: keyFile.path)
    var configuration = APNSSimulator.Configuration()
    configuration.certificateAuthorityFile = folder.appending(path: "authority.pem")
    configuration.keys = .listed([try SimulatorKey(id: keyID, team: team, pem: pem)])
    change(&configuration)
    let simulator = try await APNSSimulator.start(configuration)
    do {
      let key = try ClientKey(file: keyFile, id: keyID, team: team)
      let site = PushSite(
        folder: folder, simulator: simulator, key: key, providerToken: try key.token(issuedAt: Date()))
      let result = try await work(site)
      await simulator.stop()
      return result
    } catch {
      await simulator.stop()
      throw error
    }
  }

  public func server(host: String = "localhost", trusting authority: URL? = nil) -> PushServer {
    PushServer(host: host, port: simulator.port, trustRoots: authority ?? self.authority)
  }

  public func connections(count: Int = 1, timeout: Duration = .seconds(60)) throws -> PushConnections {
    try PushConnections(server: server(), count: count, timeout: timeout)
  }

  public func client(count: Int = 1, timeout: Duration = .seconds(60)) throws -> PushClient {
    PushClient(connections: try connections(count: count, timeout: timeout), tokens: ProviderTokens(key: key))
  }

  /// Returns the token of a device of the tests: its number in 64 hexadecimal digits.
  public static func token(_ device: Int) -> String {
    let digits = String(device, radix: 16)
    return String(repeating: "0", count: 64 - digits.count) + digits
  }

  /// Returns an alert push to a device of the tests.
  public static func request(to device: Int, id: UUID = UUID()) throws -> PushRequest {
    try PushRequest(
      token: DeviceToken(token(device)), app: BundleID(app), type: .alert, id: id,
      body: Data(#"{"aps":{"alert":"12.50","mutable-content":1}}"#.utf8))
  }
}
