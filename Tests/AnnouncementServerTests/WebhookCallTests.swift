// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import HostAddresses
import Ledger
import ServiceAccess
import TestSupport
import Testing
import WebhookDelivery
import WebhookMessages

@testable import AnnouncementServer

extension TestClient {
  /// Registers a webhook endpoint.
  fileprivate func register(_ body: String) async throws -> TestAnswer {
    try await send(
      .post, "/v1/webhook-endpoints", headers: ["Content-Type": "application/json"], body: Data(body.utf8))
  }

  fileprivate func register(path: String = "hooks") async throws -> String {
    try await register(#"{"url":"https://shop.example/\#(path)"}"#).string("id").orThrow("an id")
  }
}

@Suite("Webhook endpoints through the service", .timeLimit(.minutes(5)))
struct WebhookCallTests {
  private let service: TestService
  private let backend: TestClient

  init() async throws {
    service = try TestService()
    backend = try await service.client([.announce, .read])
  }

  @Test("a webhook endpoint is registered with all fields of the request, and no later answer has its secret")
  func registered() async throws {
    let answer = try await backend.register(
      #"{"url":"https://shop.example:8443/hooks?key=1","events":["announcement.failed","announcement.played"],"#
        + #""description":"总店"}"#)
    #expect(answer.status == 201 && answer.header("Cache-Control") == "no-store", "\(answer.text)")
    let secret = try WebhookSecret(try answer.string("secret").orThrow("a secret"))
    let id = try answer.string("id").orThrow("an id")
    #expect(try answer.string("url") == "https://shop.example:8443/hooks?key=1")
    #expect(try answer.value("events") as? [String] == ["announcement.played", "announcement.failed"])
    #expect(try answer.string("description") == "总店" && answer.string("created_at") != nil)
    #expect(try answer.number("messages.waiting") == 0 && answer.number("messages.missed") == 0)
    for target in ["/v1/webhook-endpoints", "/v1/webhook-endpoints/\(id)"] {
      let shown = try await backend.get(target)
      #expect(shown.status == 200 && shown.header("Cache-Control") == "no-store")
      #expect(!shown.text.contains(secret.text) && shown.text.contains(id))
    }
    let all = try await backend.register(#"{"url":"https://shop.example/all"}"#)
    #expect(try (all.value("events") as? [String])?.count == WebhookEvent.Kind.registrable.count)
    #expect(try await service.ledger.administrativeActs().last?.action == .webhookEndpointRegistered)
  }

  @Test(
    "an invalid registration of a webhook endpoint is refused with the name of the field and without its value",
    arguments: [
      (#"{"url":"http://shop.example/SECRET"}"#, "url"), (#"{"url":"https://me:SECRET@shop.example/"}"#, "url"),
      (#"{"url":"https://shop.example/#SECRET"}"#, "url"), (#"{"url":"SECRET"}"#, "url"), (#"{"url":""}"#, "url"),
      (#"{"url":null}"#, "url"), (#"{"url":["SECRET"]}"#, "url"), (#"{"url":"https://shop.example:0/"}"#, "url"),
      (#"{"url":"https://127.0.0.1/SECRET"}"#, "url"), (#"{"url":"https://[::1]/SECRET"}"#, "url"),
      (#"{"url":"https://localhost/SECRET"}"#, "url"), (#"{"url":"https://0x7f.1/SECRET"}"#, "url"),
      (#"{"url":"https://a.example/","events":"announcement.played"}"#, "events"),
      (#"{"url":"https://a.example/","events":[]}"#, "events"),
      (#"{"url":"https://a.example/","events":["played"]}"#, "events"),
      (#"{"url":"https://a.example/","events":["test.ping"]}"#, "events"),
      (#"{"url":"https://a.example/","events":[1]}"#, "events"),
      (#"{"url":"https://a.example/","description":""}"#, "description"),
      (#"{"url":"https://a.example/","description":"a\u0000"}"#, "description"),
      (#"{"url":"https://a.example/","description":7}"#, "description"),
    ])
  func invalid(body: String, field: String) async throws {
    let answer = try await backend.register(body)
    #expect(answer.status == 422 && answer.code == "field_invalid", "\(answer.text)")
    #expect(try answer.string("detail")?.hasPrefix("\(field): ") == true && !answer.text.contains("SECRET"))
    #expect(try await service.ledger.webhookEndpoints(account: "shop").isEmpty)
  }

  @Test("an account has at most sixteen webhook endpoints, each with its own URL")
  func limits() async throws {
    for number in 1...16 { _ = try await backend.register(path: "\(number)") }
    #expect(try await backend.register(#"{"url":"https://shop.example/17"}"#).code == "too_many_webhook_endpoints")
    let list = try await backend.get("/v1/webhook-endpoints").value("webhook_endpoints") as? [[String: Any]]
    #expect(list?.map { $0["url"] as? String } == (1...16).map { "https://shop.example/\($0)" })
    let kiosk = try await service.client([.announce, .read], account: "kiosk")
    _ = try await kiosk.register(path: "1")
    let again = try await kiosk.register(#"{"url":"https://shop.example/1"}"#)
    #expect(again.status == 409 && again.code == "webhook_endpoint_exists")
  }

  @Test("another account, and a key without the scope, cannot see, test, enable or remove a webhook endpoint")
  func isolated() async throws {
    let id = try await backend.register(path: "hooks")
    let calls: [(HTTPRequest.Method, String, Scope)] = [
      (.get, "/v1/webhook-endpoints/\(id)", .read), (.delete, "/v1/webhook-endpoints/\(id)", .announce),
      (.post, "/v1/webhook-endpoints/\(id)/test", .announce), (.post, "/v1/webhook-endpoints/\(id)/enable", .announce),
    ]
    let kiosk = try await service.client([.announce, .read], account: "kiosk")
    let admin = try await service.client([.admin], account: "kiosk")
    for (method, target, scope) in calls {
      for client in [kiosk, admin] { #expect(try await client.send(method, target).code == "not_found") }
      let other = try await service.client(scope == .read ? [.announce, .play] : [.read, .play])
      #expect(try await other.send(method, target).code == "scope_missing")
      #expect(try await service.stranger.send(method, target).status == 401)
    }
    #expect(try await kiosk.get("/v1/webhook-endpoints").text == #"{"webhook_endpoints":[]}"#)
    #expect(try await service.ledger.webhookEndpoints(account: "shop").count == 1)
  }

  @Test("the key of a device has no access to webhooks")
  func device() async throws {
    let phone = try await service.phone()
    let id = try await backend.register(path: "hooks")
    for (method, target) in [
      (.get, "/v1/webhook-endpoints"), (.post, "/v1/webhook-endpoints"), (.get, "/v1/webhook-endpoints/\(id)"),
      (.delete, "/v1/webhook-endpoints/\(id)"), (.post, "/v1/webhook-endpoints/\(id)/test"),
      (.post, "/v1/webhook-endpoints/\(id)/enable"),
    ] as [(HTTPRequest.Method, String)] {
      let answer = try await phone.send(method, target)
      #expect(answer.status == 403 && answer.code == "scope_missing", "\(method) \(target)")
    }
  }

  @Test("the removal of a webhook endpoint also removes its waiting messages")
  func removed() async throws {
    let id = try await backend.register(path: "hooks")
    #expect(try await backend.send(.post, "/v1/webhook-endpoints/\(id)/test").status == 202)
    let answer = try await backend.send(.delete, "/v1/webhook-endpoints/\(id)")
    #expect(answer.status == 200 && answer.text == #"{"id":"\#(id)"}"#)
    #expect(try await backend.send(.delete, "/v1/webhook-endpoints/\(id)").code == "not_found")
    #expect(try await service.ledger.unfinishedWebhooks().isEmpty)
  }

  @Test("a disabled webhook endpoint is shown with its reason, is not tested, and can be enabled again")
  func disabled() async throws {
    let id = try await backend.register(path: "hooks")
    _ = try await backend.send(.post, "/v1/webhook-endpoints/\(id)/test")
    let number = try #require(try await service.ledger.unfinishedWebhooks().first?.number)
    _ = try await service.ledger.record(
      Ledger.WebhookAttempt(startedAt: Date(), outcome: .gone, nextAt: nil, patience: 86_400), ofWebhook: number)
    let shown = try await backend.get("/v1/webhook-endpoints/\(id)")
    #expect(try shown.string("disabled_reason") == "gone" && shown.string("disabled_at") != nil)
    #expect(try shown.string("last_outcome") == "gone" && shown.number("messages.failed") == 1)
    let test = try await backend.send(.post, "/v1/webhook-endpoints/\(id)/test")
    #expect(test.status == 409 && test.code == "webhook_endpoint_disabled")
    let enabled = try await backend.send(.post, "/v1/webhook-endpoints/\(id)/enable")
    #expect(try enabled.status == 200 && enabled.string("disabled_at") == nil)
    #expect(try await backend.send(.post, "/v1/webhook-endpoints/\(id)/test").status == 202)
  }

  // MARK: Sending

  /// A resolver that knows one address for every host.
  private struct OneAddress: HostResolving {
    var address: IPAddress
    func addresses(of host: String) async -> [IPAddress] { [address] }
  }

  @Test("a message about an announcement goes to the account's endpoint, and the metrics count the attempt")
  func announced() async throws {
    // The address is private, so the attempt ends at once and nothing leaves the machine.
    let resolver = OneAddress(address: IPAddress(bytes: [10, 0, 0, 7]))
    let service = try TestService { $0.webhooks = WebhookParts(client: WebhookClient(resolver: resolver)) }
    let backend = try await service.client([.announce, .read])
    let id = try await backend.register(path: "SECRET")
    service.run { [server = service.server] in try await server.webhookService?.run() }
    #expect(try await backend.post(payment("p1")).status == 201)
    var shown = try await backend.get("/v1/webhook-endpoints/\(id)")
    while try shown.string("last_outcome") == nil { shown = try await backend.get("/v1/webhook-endpoints/\(id)") }
    #expect(try shown.string("last_outcome") == "address_refused" && shown.number("messages.waiting") == 1)
    let message = try #require(try await service.ledger.webhooks(account: "shop", endpoint: id, limit: 1000).first)
    let body = String(decoding: message.message.body, as: UTF8.self)
    #expect(message.kind == .rendered && body.contains(#""id":"p1""#) && body.contains(#""method":"speech""#))
    for secret in ["12.5", "USD"] { #expect(!body.contains(secret)) }
    let metrics = try await service.stranger.get("/metrics").text
    #expect(metrics.contains(#"crier_webhook_attempts_total{outcome="address_refused"} 1"#))
    #expect(metrics.contains("crier_webhook_waiting 1") && metrics.contains("crier_webhook_endpoints_disabled 0"))
  }

  @Test("a disabled webhook endpoint causes one error in the log and one count in the metrics, without its URL")
  func alarm() async throws {
    let resolver = OneAddress(address: IPAddress(bytes: [10, 0, 0, 7]))
    let start = Date()
    // The first attempt was made more than three days ago.
    let service = try TestService {
      $0.now = { start }
      $0.webhooks = WebhookParts(client: WebhookClient(resolver: resolver))
    }
    let backend = try await service.client([.announce, .read])
    let id = try await backend.register(path: "SECRET")
    _ = try await backend.send(.post, "/v1/webhook-endpoints/\(id)/test")
    let number = try #require(try await service.ledger.unfinishedWebhooks().first?.number)
    let before = start.addingTimeInterval(-4 * 86_400)
    _ = try await service.ledger.record(
      Ledger.WebhookAttempt(startedAt: before, outcome: .refused, nextAt: start, patience: 9 * 86_400),
      ofWebhook: number)
    service.run { [server = service.server] in try await server.webhookService?.run() }
    var shown = try await backend.get("/v1/webhook-endpoints/\(id)")
    while try shown.string("disabled_at") == nil { shown = try await backend.get("/v1/webhook-endpoints/\(id)") }
    #expect(try shown.string("disabled_reason") == "failing" && shown.number("messages.expired") == 1)
    try await eventually { service.log.lines.contains(where: { $0.contains("webhook endpoint was disabled") }) }
    let alarms = service.log.lines.filter { $0.contains("webhook endpoint was disabled") }
    #expect(alarms.count == 1 && alarms[0].hasPrefix("error") && alarms[0].contains(id))
    #expect(!service.log.lines.joined().contains("SECRET"))
    let metrics = try await service.stranger.get("/metrics").text
    #expect(metrics.contains("crier_webhook_endpoints_disabled 1"))
    #expect(metrics.contains(#"crier_webhook_messages_total{outcome="expired"} 1"#))
  }

  @Test("a webhook URL with a private address and without encryption is accepted if the settings allow it")
  func unencrypted() async throws {
    let service = try TestService {
      $0.webhooks = WebhookParts(client: WebhookClient(), allowsPrivateAddresses: true)
    }
    let backend = try await service.client([.announce, .read])
    #expect(try await backend.register(#"{"url":"http://127.0.0.1:9000/hooks"}"#).status == 201)
  }
}
