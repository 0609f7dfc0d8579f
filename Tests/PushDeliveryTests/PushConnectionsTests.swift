// SPDX-License-Identifier: Apache-2.0

import APNSSimulator
import ConcurrencySupport
import Foundation
import PushDelivery
import PushMessages
import PushTestSupport
import Testing

extension Networked {
  @Suite("The connections to a push server", .timeLimit(.minutes(5)))
  struct PushConnectionsTests {
    private typealias Outcome = Result<PushResponse, PushTransportError>

    /// Sends pushes at the same time.
    ///
    /// - Returns: The outcome of each, by its id.
    private func send(
      _ requests: [PushRequest], through connections: PushConnections, _ site: PushSite
    ) async throws -> [UUID: Outcome] {
      await withTaskGroup(of: (UUID, Outcome).self) { group in
        for request in requests {
          group.addTask {
            do throws(PushTransportError) {
              return (request.id, .success(try await connections.send(request, providerToken: site.providerToken)))
            } catch {
              return (request.id, .failure(error))
            }
          }
        }
        return await group.reduce(into: [:]) { outcomes, outcome in
          #expect(outcomes.updateValue(outcome.1, forKey: outcome.0) == nil)
        }
      }
    }

    private func send(_ count: Int, through connections: PushConnections, _ site: PushSite) async throws -> [Outcome] {
      Array(try await send((0..<count).map { try PushSite.request(to: $0) }, through: connections, site).values)
    }

    private func code(_ outcome: Outcome?) -> PushTransportError.Code? {
      if case .failure(let error)? = outcome { error.code } else { nil }
    }

    private func status(_ outcome: Outcome) -> Int? { try? outcome.get().status }

    // MARK: Answers

    @Test("each answer to a push arrives with its status, reason, id and waiting time")
    func answers() async throws {
      let answers: [(status: Int, reason: String, wait: Int?)] = [
        (400, "BadTopic", nil), (403, "ExpiredProviderToken", nil), (404, "BadPath", nil),
        (405, "MethodNotAllowed", nil),
        (410, "Unregistered", nil), (413, "PayloadTooLarge", nil), (429, "TooManyRequests", 7),
        (500, "InternalServerError", nil), (503, "ServiceUnavailable", 120), (418, "IAmATeapot", 0),
      ]
      try await PushSite.with { configuration in
        configuration.faults = .script { request in
          guard let device = Int(request.device, radix: 16), answers.indices.contains(device) else { return nil }
          let answer = answers[device]
          return Fault(.answer(status: answer.status, reason: answer.reason, retryAfter: answer.wait))
        }
      } _: { site in
        let connections = try site.connections()
        let requests = try (0...answers.count).map { try PushSite.request(to: $0) }
        let outcomes = try await send(requests, through: connections, site)
        for (request, answer) in zip(requests, answers) {
          let response = try #require(try outcomes[request.id]?.get())
          #expect(response.status == answer.status)
          #expect(response.reason == answer.reason)
          #expect(response.retryAfter == answer.wait)
          #expect(response.id == request.id.uuidString.lowercased())
          #expect((response.invalidSince != nil) == (answer.status == 410))
        }
        #expect(try outcomes[requests[answers.count].id]?.get().status == 200)
        connections.close()
      }
    }

    @Test(
      "a thousand pushes at once are all answered, over one connection and over four connections", arguments: [1, 4])
    func manyPushes(count: Int) async throws {
      try await PushSite.with { site in
        let connections = try site.connections(count: count)
        let outcomes = try await send(1_000, through: connections, site)
        #expect(outcomes.allSatisfy { status($0) == 200 })
        #expect(site.simulator.counts.accepted == 1_000)
        #expect(site.simulator.counts.duplicates == 0)
        #expect(site.simulator.counts.connections == count)
        connections.close()
      }
    }

    @Test("the client of APNs opens no more streams than the server allows", arguments: [1, 10])
    func fewStreams(limit: Int) async throws {
      try await PushSite.with {
        $0.maxConcurrentStreams = limit
        $0.answerDelay = 1
      } _: { site in
        let connections = try site.connections()
        let outcomes = try await send(200, through: connections, site)
        #expect(outcomes.allSatisfy { status($0) == 200 })
        #expect(site.simulator.counts.requests == 200)
        connections.close()
      }
    }

    @Test("a server that allows one stream until it accepts the provider token gets one push first")
    func strictStreams() async throws {
      try await PushSite.with {
        $0.hasStrictStreams = true
      } _: { site in
        let connections = try site.connections()
        let outcomes = try await send(300, through: connections, site)
        #expect(outcomes.allSatisfy { status($0) == 200 })
        #expect(site.simulator.counts.requests == 300)
        connections.close()
      }
    }

    // MARK: Connections that end

    @Test("pushes that GOAWAY refuses are reported as not processed, and succeed on a new connection")
    func goAway() async throws {
      try await PushSite.with { configuration in
        configuration.maxConcurrentStreams = 50
        configuration.faults = .script { $0.number % 97 == 0 ? Fault(.goAway) : nil }
      } _: { site in
        let connections = try site.connections()
        var waiting = try (0..<1_000).map { try PushSite.request(to: $0) }
        var (unprocessed, lost) = (0, 0)
        while !waiting.isEmpty {
          let outcomes = try await send(waiting, through: connections, site)
          #expect(outcomes.count == waiting.count)
          let codes = outcomes.values.compactMap(code)
          // The server closes the connection after GOAWAY. If requests were still on their way to it, the system
          // discards what the client has not read yet, so the client cannot know.
          #expect(Set(codes).isSubset(of: [.notProcessed, .connectionLost]))
          lost += codes.count { $0 == .connectionLost }
          waiting = waiting.filter { code(outcomes[$0.id]) != nil }
          unprocessed += waiting.count
        }
        #expect(unprocessed > 0)
        #expect(site.simulator.record.count == 1_000)
        // What was reported as not processed was not processed.
        #expect(site.simulator.counts.duplicates <= lost)
        #expect(site.simulator.counts.connections > 5)
        connections.close()
      }
    }

    @Test(
      "if a stream or connection ends, the error of its push says whether the server may have processed the push",
      arguments: [
        (Fault.Action.reset(code: 7), PushTransportError.Code.notProcessed), (.reset(code: 2), .connectionLost),
        (.reset(code: 8), .connectionLost), (.closeConnection, .connectionLost), (.never, .timedOut),
      ])
    func lost(action: Fault.Action, expected: PushTransportError.Code) async throws {
      try await PushSite.with {
        $0.faults = .script { $0.number == 2 ? Fault(action) : nil }
      } _: { site in
        let connections = try site.connections(timeout: .seconds(5))
        for number in 1...3 {
          let outcome = try await send(1, through: connections, site)[0]
          #expect(code(outcome) == (number == 2 ? expected : nil))
        }
        connections.close()
      }
    }

    @Test("if pushes get no answer within the time limit, later pushes are sent over a new connection")
    func deadConnection() async throws {
      try await PushSite.with {
        $0.faults = .script { $0.connection == 1 && $0.number > 1 ? Fault(.never) : nil }
      } _: {
        site in
        let connections = try site.connections(timeout: .seconds(5))
        #expect(try await status(send(1, through: connections, site)[0]) == 200)
        let lost = try await send(20, through: connections, site)
        #expect(lost.allSatisfy { code($0) == .timedOut })
        let outcomes = try await send(20, through: connections, site)
        #expect(outcomes.allSatisfy { status($0) == 200 })
        #expect(site.simulator.counts.connections == 2)
        connections.close()
      }
    }

    @Test("when the client of APNs is closed, waiting and started pushes end, and later pushes are refused")
    func closed() async throws {
      let (arrivals, arrival) = AsyncStream<Int>.makeStream()
      try await PushSite.with { configuration in
        configuration.maxConcurrentStreams = 10
        configuration.faults = .script {
          arrival.yield($0.number)
          return Fault(.never)
        }
      } _: { site in
        let connections = try site.connections()
        async let sending = send(100, through: connections, site)
        for await number in arrivals where number == 10 { break }
        connections.close()
        let outcomes = try await sending
        #expect(outcomes.count { code($0) == .connectionLost } == 10)
        #expect(outcomes.count { code($0) == .closed } == 90)
        #expect(try await code(send(1, through: connections, site)[0]) == .closed)
      }
    }

    @Test("if the client of APNs is closed while it connects, its pushes end")
    func closedWhileConnecting() async throws {
      try await PushSite.with { site in
        for _ in 0..<20 {
          let connections = try site.connections(count: 2)
          async let sending = send(10, through: connections, site)
          connections.close()
          let outcomes = try await sending
          #expect(outcomes.allSatisfy { status($0) == 200 || [.closed, .connectionLost].contains(code($0)) })
        }
      }
    }

    // MARK: Servers that cannot be used

    @Test("an unreachable server and a server with an untrusted certificate have different errors")
    func unusable() async throws {
      try await PushSite.with { site in
        let absent = try PushConnections(
          server: PushServer(host: "127.0.0.1", port: OtherServer.freePort(), trustRoots: site.authority))
        #expect(try await send(20, through: absent, site).allSatisfy { code($0) == .cannotConnect })

        let missing = site.folder.appending(path: "missing.pem")
        #expect(throws: PushTransportError.self) { try PushConnections(server: site.server(trusting: missing)) }

        try await PushSite.with { other in
          let connections = try PushConnections(server: site.server(trusting: other.authority))
          let outcomes = try await send(20, through: connections, site)
          #expect(outcomes.allSatisfy { code($0) == .certificateRefused })
          #expect(site.simulator.counts.requests == 0)
        }
        // The certificate is for localhost and 127.0.0.1.
        let byAddress = try PushConnections(server: site.server(host: "127.0.0.1"))
        #expect(try await status(send(1, through: byAddress, site)[0]) == 200)
        byAddress.close()
      }
    }
  }
}
