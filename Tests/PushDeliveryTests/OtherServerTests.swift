// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushDelivery
import PushMessages
import PushTestSupport
import Testing

extension Networked {
  /// Servers that share no code with Crier: Python's h2 (`Tests/push/h2_server.py`) and nghttpd.
  @Suite("The client and other servers", .timeLimit(.minutes(5)))
  struct OtherServerTests {
    private typealias Outcome = Result<PushResponse, PushTransportError>

    private func send(
      _ count: Int, to server: PushServer, connections: Int = 1, timeout: Duration = .seconds(60), _ site: PushSite,
      size: Int? = nil, device: @Sendable (Int) -> String = PushSite.token
    ) async throws -> [Outcome] {
      let connections = try PushConnections(server: server, count: connections, timeout: timeout)
      defer { connections.close() }
      let tokens = ProviderTokens(key: site.key)
      let client = PushClient(connections: connections, tokens: tokens)
      let requests = try (0..<count).map { number in
        try PushRequest(
          token: DeviceToken(device(number)), app: BundleID(PushSite.app), type: .alert,
          expiresAt: Date().addingTimeInterval(600), collapseID: number % 2 == 0 ? "till" : nil,
          body: Data(#"{"aps":{"alert":"\#(size.map { String(repeating: "e", count: $0) } ?? text(number))"}}"#.utf8))
      }
      return await withTaskGroup(of: Outcome.self) { group in
        for request in requests {
          group.addTask {
            do throws(PushTransportError) {
              return .success(try await client.send(request).response)
            } catch {
              return .failure(error)
            }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
    }

    private func text(_ count: Int) -> String { String(repeating: "é", count: count) }

    private func code(_ outcome: Outcome) -> PushTransportError.Code? {
      if case .failure(let error) = outcome { error.code } else { nil }
    }

    @Test(
      "Python's h2 receives every header field and the provider token correctly",
      arguments: ["apns", "shrink", "early", "narrow"])
    func python(mode: String) async throws {
      try await PushSite.with { site in
        let server = try await OtherServer.python(mode, in: site.folder)
        let outcomes = try await send(200, to: server.server, connections: 2, site)
        let faults = try await server.stop()
        #expect(faults.isEmpty)
        #expect(outcomes.count { (try? $0.get().status) == 200 } == 200)
      }
    }

    @Test("Python's h2 refuses a dead device token, and a provider token of another key")
    func pythonRefuses() async throws {
      try await PushSite.with { site in
        let server = try await OtherServer.python("apns", in: site.folder)
        let dead = try await send(1, to: server.server, site) { _ in String(repeating: "dead", count: 16) }[0].get()
        #expect(dead.status == 410)
        #expect(dead.reason == "Unregistered")
        #expect(dead.invalidSince == Date(timeIntervalSince1970: 1_700_000_000))
        let other = try await PushSite.with { other in
          try await send(1, to: server.server, other)[0].get()
        }
        #expect(other.status == 403)
        #expect(other.reason == "InvalidProviderToken")
        #expect(try await server.stop() == ["Unregistered", "InvalidProviderToken"])
      }
    }

    @Test(
      "each push ends once, even if the server does not speak HTTP/2 correctly",
      arguments: [
        ("http1", PushTransportError.Code.notHTTP2), ("noalpn", .notHTTP2), ("plain", .cannotConnect),
        ("mute", .cannotConnect), ("zero", .cannotConnect), ("drop", .cannotConnect),
        ("stray", .connectionLost), ("headers", .timedOut),
      ])
    func unusable(mode: String, expected: PushTransportError.Code) async throws {
      try await PushSite.with { site in
        let server = try await OtherServer.python(mode, in: site.folder)
        let outcomes = try await send(20, to: server.server, timeout: .seconds(5), site)
        try await server.stop()
        #expect(outcomes.count == 20)
        #expect(outcomes.allSatisfy { code($0) == expected })
      }
    }

    @Test("if a server stops reading, all pushes to it end, also those that wait for their turn")
    func deaf() async throws {
      try await PushSite.with { site in
        let server = try await OtherServer.python("deaf", in: site.folder)
        let outcomes = try await send(300, to: server.server, timeout: .seconds(2), site, size: 3_900)
        try await server.stop()
        #expect(outcomes.count == 300)
        #expect(outcomes.allSatisfy { [.timedOut, .notProcessed].contains(code($0)) })
      }
    }

    @Test("a push that waits too long for its turn is reported as not processed")
    func longQueue() async throws {
      try await PushSite.with { site in
        let server = try await OtherServer.python("one", in: site.folder)
        let outcomes = try await send(50, to: server.server, timeout: .seconds(2), site)
        try await server.stop()
        #expect(outcomes.count { code($0) == .notProcessed } >= 48)
        #expect(outcomes.contains { code($0) == .timedOut })
      }
    }

    @Test("an answer whose body has a wrong length ends only the push that it answers")
    func lengths() async throws {
      try await PushSite.with { site in
        let server = try await OtherServer.python("lengths", in: site.folder)
        let outcomes = try await send(50, to: server.server, site)
        try await server.stop()
        #expect(outcomes.count { (try? $0.get())?.status == 200 } == 25)
        #expect(outcomes.count { (try? $0.get())?.reason == "Short" } == 25)
      }
    }

    @Test("the largest push bodies arrive whole, even if the server's flow-control windows are small")
    func largestBodies() async throws {
      try await PushSite.with { site in
        let server = try await OtherServer.python("narrow", in: site.folder)
        let outcomes = try await send(20, to: server.server, site, size: 4_000)
        #expect(try await server.stop().isEmpty)
        #expect(outcomes.allSatisfy { (try? $0.get())?.status == 200 })
      }
    }

    @Test("an answer to a push counts even if its body does not end")
    func endless() async throws {
      try await PushSite.with { site in
        let server = try await OtherServer.python("endless", in: site.folder)
        let outcomes = try await send(20, to: server.server, site)
        try await server.stop()
        #expect(outcomes.allSatisfy { (try? $0.get())?.status == 200 })
      }
    }

    @Test("refusals that together are larger than the connection's flow-control window all arrive")
    func wordy() async throws {
      try await PushSite.with { site in
        let server = try await OtherServer.python("wordy", in: site.folder)
        let outcomes = try await send(200, to: server.server, site)
        try await server.stop()
        #expect(outcomes.allSatisfy { (try? $0.get())?.reason == "Wordy" })
      }
    }

    @Test("nghttpd answers every push, over one connection and over four connections", arguments: [1, 4])
    func nghttpd(connections: Int) async throws {
      try await PushSite.with { site in
        let server = try await OtherServer.nghttpd(in: site.folder)
        let outcomes = try await send(1_000, to: server.server, connections: connections, site)
        try await server.stop()
        // nghttpd has no file with such a path.
        #expect(outcomes.compactMap(code).isEmpty)
        #expect(outcomes.count { (try? $0.get())?.status == 404 } == 1_000)
      }
    }
  }
}
