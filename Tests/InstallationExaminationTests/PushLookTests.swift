// SPDX-License-Identifier: Apache-2.0

import APNSSimulator
import Foundation
import InstallationDiagnosis
import InstallationExamination
import PushDelivery
import Testing

@Suite("The examination of a push server", .timeLimit(.minutes(2)))
struct PushLookTests {
  private func failure(_ server: PushServer) async -> String {
    if case .failed(let reason) = await PushLook.look(at: server).outcome { return reason }
    return "connected"
  }

  @Test("the examination connects to a push server with TLS and HTTP/2, and sends no push")
  func connected() async throws {
    let folder = try TemporaryFolder()
    let simulator = try await APNSSimulator.start()
    let authority = try folder.file("ca.pem", simulator.certificateAuthority)
    let facts = await PushLook.look(at: PushServer(host: "localhost", port: simulator.port, trustRoots: authority))
    #expect(facts.name == "localhost:\(simulator.port)")
    guard case .connected = facts.outcome else {
      Issue.record("\(facts)")
      return
    }
    #expect(simulator.record.isEmpty)
    await simulator.stop()
  }

  @Test("an untrusted certificate, a closed port, an unknown host and an unreadable authority have their own messages")
  func failed() async throws {
    let folder = try TemporaryFolder()
    let simulator = try await APNSSimulator.start()
    let own = PushServer(host: "localhost", port: simulator.port)
    #expect(await failure(own).contains("has a certificate that is not trusted"))
    let missing = folder.url.appending(path: "missing.pem")
    #expect(
      await failure(PushServer(host: "localhost", port: simulator.port, trustRoots: missing)).contains(
        "trusted certificates"))
    await simulator.stop()
    #expect(await failure(own).contains("cannot be reached"))
    #expect(await failure(PushServer(host: "nobody.invalid")).contains("nobody.invalid:443 cannot be reached"))
  }
}
