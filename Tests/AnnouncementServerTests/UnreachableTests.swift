// SPDX-License-Identifier: Apache-2.0

import APNSSimulator
import Crypto
import Foundation
import HTTPTypes
import HostAddresses
import Ledger
import PushDelivery
import PushMessages
import ServiceAccess
import TestSupport
import Testing
import WebhookDelivery
import WebhookMessages

@testable import AnnouncementServer

/// Pushes and webhooks that cannot leave the machine.
@Suite("A service that cannot reach APNs or a receiver", .timeLimit(.minutes(5)))
struct UnreachableTests {
  private static let token = String(repeating: "ab", count: 32)

  /// Waits until a line of the log begins with a text.
  private func line(_ start: String, in service: TestService) async throws -> String {
    var line: String?
    try await eventually("a line of the log begins with: \(start)") {
      line = service.log.lines.first { $0.hasPrefix(start) }
      return line != nil
    }
    return try #require(line)
  }

  // MARK: Pushes

  /// A service that pushes to a port of this machine.
  private func pushing(to port: Int, authority: String? = nil) async throws -> TestService {
    let folder = try TemporaryFolder()
    let roots = folder.url.appending(path: "ca.pem")
    if let authority { try Data(authority.utf8).write(to: roots) }
    let server = PushServer(host: "localhost", port: port, trustRoots: authority == nil ? nil : roots)
    let key = try PushDelivery.ProviderKey(
      pem: P256.Signing.PrivateKey().pemRepresentation, id: "ABC123DEFG", team: "TEAM123456")
    let client = PushClient(connections: try PushConnections(server: server), tokens: ProviderTokens(key: key))
    let app = PushSchedule.App(bundleID: "com.example.shop", environment: .production)
    let service = try TestService(in: folder) { $0.pushes = PushParts(clients: [app: client]) }
    let deviceKey = APIKey.make()
    _ = try await service.ledger.register(
      NewDevice(
        account: "shop", id: "phone", app: "com.example.shop", environment: .production, tokens: [.alert: Self.token]),
      key: NewKey(id: deviceKey.id, account: "shop", digest: deviceKey.digest, scopes: ["device"], device: "phone"),
      renewsKey: false, with: nil,
      by: .currentUser)
    return service
  }

  /// A port on which nothing listens.
  private func closedPort() async throws -> Int {
    let simulator = try await APNSSimulator.start()
    await simulator.stop()
    return simulator.port
  }

  @Test("pushes that cannot reach APNs for a minute cause one warning, a degraded part of /readyz, and a metric")
  func pushes() async throws {
    let port = try await closedPort()
    let service = try await pushing(to: port)
    let client = try await service.client()
    service.run { [server = service.server] in try await server.pushService?.run() }
    #expect(try await client.post(payment("p1", "12.50", #""deliver":["push"],"device":"phone""#)).status == 201)
    let failures = #"crier_push_connection_failures_total{reason="cannot_connect"}"#
    try await eventually {
      try await MetricLines(service.stranger.get("/metrics").text).values[failures] ?? 0 >= 1
    }
    let before = try await service.stranger.get("/readyz")
    #expect(try before.string("status") == "ready" && before.value("checks.pushes.ok") as? Bool == true)
    #expect(!service.log.lines.contains { $0.hasPrefix("warning") })

    service.wait(.seconds(60))
    let warning = try await line("warning APNs cannot be reached", in: service)
    #expect(warning.contains("cannot_connect") && warning.contains("localhost:") && warning.contains("crier doctor"))
    let after = try await service.stranger.get("/readyz")
    #expect(after.status == 200, "payments are still heard")
    #expect(try after.string("status") == "degraded" && after.value("checks.pushes.ok") as? Bool == false)
    #expect(try after.string("checks.pushes.code") == "push_unreachable")
    #expect(try after.string("checks.pushes.cause") == "cannot_connect" && after.string("checks.pushes.since") != nil)
    #expect(try after.number("checks.pushes.waiting") == 1)
    #expect(try (after.number("checks.pushes.attempts") ?? 0) >= 1)
    let metrics = MetricLines(try await service.stranger.get("/metrics").text)
    #expect(metrics.faults == [] && metrics.values["crier_push_unreachable_servers"] == 1)
    let shop = try await client.get("/v1/shop")
    #expect(try shop.string("state") == "bad" && shop.string("problems.0.code") == "push_unreachable")
    #expect(try shop.number("problems.0.count") == 1 && shop.string("problems.0.cause") == "cannot_connect")
    #expect(try shop.string("problems.0.remedy.command")?.hasSuffix("https://localhost:\(port)/") == true)
    let again = try await client.get("/v1/shop")
    #expect(try shop.string("problems.0.since") == again.string("problems.0.since"), "the time does not wander")

    try #require(service.server.pushService).reach.note("localhost:\(port)", .cannotConnect)
    service.wait(.seconds(540))
    _ = try await line("error APNs cannot be reached, so pushes still wait", in: service)
    #expect(service.log.lines.count { $0.hasPrefix("warning APNs cannot be reached") } == 1)
    #expect(!service.log.lines.joined().contains(Self.token))
  }

  @Test("any answer of APNs ends its outage, and each account's events report the outage and its end")
  func reachedAgain() async throws {
    let simulator = try await APNSSimulator.start()
    let service = try await pushing(to: simulator.port, authority: simulator.certificateAuthority)
    let client = try await service.client([.announce, .read], account: "shop")
    let other = try await service.client([.read], account: "kiosk")
    let streams = [
      await client.stream("/v1/events", ["Accept": "text/event-stream"]),
      await other.stream("/v1/events", ["Accept": "text/event-stream"]),
    ]
    defer { for stream in streams { stream.end() } }
    for stream in streams { #expect(await stream.next()?.hasPrefix(":") == true) }
    let server = "localhost:\(simulator.port)"
    let reach = try #require(service.server.pushService).reach
    reach.note(server, .timedOut)
    service.wait(.seconds(60))
    reach.look()
    #expect(try await service.stranger.get("/readyz").string("status") == "degraded")
    for stream in streams {
      let event = try await stream.event()
      #expect(event.name == "push_unreachable" && event.id == nil)
      #expect(try event.string("detail.server") == server && event.string("detail.reason") == "timed_out")
      #expect(try event.string("detail.attempts") == "1")
    }
    service.run { [server = service.server] in try await server.pushService?.run() }
    #expect(try await client.post(payment("p1", "12.50", #""deliver":["push"],"device":"phone""#)).status == 201)
    _ = try await line("notice Pushes can be sent again", in: service)
    #expect(try await service.stranger.get("/readyz").string("status") == "ready")
    #expect(try await streams[1].event().name == "push_reachable")
    #expect(MetricLines(try await service.stranger.get("/metrics").text).values["crier_push_unreachable_servers"] == 0)
    await simulator.stop()
  }

  @Test("pushes that end because the service stops do not count as failures to reach APNs")
  func stopping() async throws {
    let service = try await pushing(to: 9)
    let reach = try #require(service.server.pushService).reach
    reach.note("localhost:9", .closed)
    service.wait(.seconds(600))
    reach.look()
    #expect(try await service.stranger.get("/readyz").string("status") == "ready")
    #expect(!service.log.lines.contains { $0.contains("APNs") })
  }

  @Test("a service without pushes and webhooks is ready, and /readyz has the state 'none' for both")
  func none() async throws {
    let service = try TestService()
    let answer = try await service.stranger.get("/readyz")
    #expect(try answer.string("status") == "ready" && answer.string("checks.pushes.state") == "none")
    #expect(try answer.string("checks.webhooks.state") == "none")
  }

  // MARK: Webhooks

  /// A resolver that knows no host, as without a network.
  private struct NoAddresses: HostResolving {
    func addresses(of host: String) async -> [IPAddress] { [] }
  }

  private func sending() throws -> TestService {
    try TestService { $0.webhooks = WebhookParts(client: WebhookClient(resolver: NoAddresses())) }
  }

  private func register(_ path: String, _ client: TestClient) async throws -> String {
    try await client.send(
      .post, "/v1/webhook-endpoints", headers: ["Content-Type": "application/json"],
      body: Data(#"{"url":"https://shop.example/\#(path)"}"#.utf8)
    ).string("id").orThrow("an id")
  }

  @Test("webhooks that reach no receiver for a minute cause warnings without URLs, a degraded /readyz, and a metric")
  func webhooks() async throws {
    let service = try sending()
    let client = try await service.client([.announce, .read])
    let id = try await register("SECRET", client)
    service.run { [server = service.server] in try await server.webhookService?.run() }
    _ = try await client.send(.post, "/v1/webhook-endpoints/\(id)/test")
    let webhooks = try #require(service.server.webhookService)
    try await eventually { webhooks.reach.isFailing }
    await webhooks.lookAtReach()
    #expect(try await service.stranger.get("/readyz").string("status") == "ready")

    service.wait(.seconds(60))
    await webhooks.lookAtReach()
    let warning = try await line("warning A webhook endpoint cannot be reached", in: service)
    #expect(warning.contains(id) && warning.contains("shop") && warning.contains("unreachable"))
    _ = try await line("warning No webhook endpoint can be reached", in: service)
    let answer = try await service.stranger.get("/readyz")
    #expect(answer.status == 200)
    #expect(
      try answer.string("status") == "degraded" && answer.string("checks.webhooks.code") == "webhooks_unreachable")
    #expect(
      try answer.number("checks.webhooks.waiting") == 1 && answer.string("checks.webhooks.cause") == "unreachable")
    let metrics = MetricLines(try await service.stranger.get("/metrics").text)
    #expect(metrics.faults == [] && metrics.values["crier_webhook_unreachable_endpoints"] == 1)
    #expect(!service.log.lines.joined().contains("SECRET") && !answer.text.contains(id))

    _ = try await client.send(.delete, "/v1/webhook-endpoints/\(id)")
    await webhooks.lookAtReach()
    #expect(try await service.stranger.get("/readyz").string("status") == "ready", "a removed endpoint is forgotten")
  }

  @Test("an account whose receiver is down gets an event, other accounts get no event, and the service stays ready")
  func ownFault() async throws {
    let service = try sending()
    let client = try await service.client([.announce, .read])
    let other = try await service.client([.announce, .read], account: "kiosk")
    let (id, working) = (try await register("1", client), try await register("2", other))
    let (stream, others) = (
      await client.stream("/v1/events", ["Accept": "text/event-stream"]),
      await other.stream("/v1/events", ["Accept": "text/event-stream"])
    )
    defer {
      stream.end()
      others.end()
    }
    for stream in [stream, others] { #expect(await stream.next()?.hasPrefix(":") == true) }
    let webhooks = try #require(service.server.webhookService)
    webhooks.reach.note(true, account: "kiosk", endpoint: working, .delivered)
    webhooks.reach.note(false, account: "shop", endpoint: id, .unreachable)
    service.wait(.seconds(60))
    await webhooks.lookAtReach()
    let event = try await stream.event()
    #expect(event.name == "webhook_unreachable")
    #expect(try event.string("detail.endpoint") == id && event.string("detail.reason") == "unreachable")
    #expect(try await service.stranger.get("/readyz").string("status") == "ready")
    webhooks.reach.note(true, account: "shop", endpoint: id, .refused)
    #expect(try await stream.event().name == "webhook_reachable")
    // The next event that the other account gets is about its own endpoint.
    webhooks.reach.note(false, account: "kiosk", endpoint: working, .unreachable)
    service.wait(.seconds(60))
    await webhooks.lookAtReach()
    #expect(try await others.event().string("detail.endpoint") == working)
  }
}
