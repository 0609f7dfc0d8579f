// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import PushDelivery
import PushMessages

/// Crier's client of APNs, and a peer that gives random answers to its pushes over TLS and HTTP/2.
enum PushAnswers {
  private static let workers = 96
  private static let app = "com.example.shop"

  @Sendable static func run(_ run: AnswerRun) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "hostile-answers-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let peer = try await PushPeer.start(run)
    let authority = folder.appending(path: "authority.pem")
    try Data(peer.authority.utf8).write(to: authority)
    let keyFile = folder.appending(path: "key.p8")
    try Data(P256.Signing.PrivateKey().pemRepresentation.utf8).write(to: keyFile)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: keyFile.path)
    let key = try ProviderKey(file: keyFile, id: "ABC123DEFG", team: "DEF123GHIJ")
    let server = PushServer(host: "localhost", port: peer.port, trustRoots: authority)
    // A push that is never answered ends after the timeout.
    let connections = try PushConnections(server: server, count: 8, timeout: .seconds(2))
    let client = PushClient(connections: connections, tokens: ProviderTokens(key: key))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<workers {
        group.addTask {
          let request = try request(to: worker)
          while run.begin() { await send(request, client, run) }
        }
      }
      try await group.waitForAll()
    }
    connections.close()
    try await peer.stop()
  }

  private static func request(to worker: Int) throws -> PushRequest {
    let digits = String(worker, radix: 16)
    let token = String(repeating: "0", count: 64 - digits.count) + digits
    return try PushRequest(
      token: DeviceToken(token), app: BundleID(app), type: .alert, id: UUID(),
      body: Data(#"{"aps":{"alert":"12.50","mutable-content":1}}"#.utf8))
  }

  private static func send(_ request: PushRequest, _ client: PushClient, _ run: AnswerRun) async {
    do throws(PushTransportError) {
      let attempt = try await client.send(request)
      check(attempt, run)
      run.ended(attempt.consequence.name)
    } catch {
      run.ended(error.code.rawValue)
    }
  }

  /// Checks the properties of an attempt on which the sender of pushes relies.
  private static func check(_ attempt: PushClient.Attempt, _ run: AnswerRun) {
    let response = attempt.response
    if !(200..<600).contains(response.status) { run.fail("The status \(response.status) counts as an answer.") }
    if attempt.consequence.name == "delivered", response.status != 200 {
      run.fail("A push with the status \(response.status) counts as delivered.")
    }
    if !(0...86_400).contains(response.retryAfter ?? 0) { run.fail("APNs may ask for a wait of more than a day.") }
    let isPlain = (response.reason ?? "A").utf8.allSatisfy { (0x30...0x7A).contains($0) }
    if !isPlain || (response.reason?.utf8.count ?? 1) > 64 { run.fail("A reason is not safe to log.") }
  }
}

extension PushConsequence {
  /// The name of the case without its values.
  fileprivate var name: String { String("\(self)".prefix { $0 != "(" }) }
}
