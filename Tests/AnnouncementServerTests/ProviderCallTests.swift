// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import Announcements
import ConcurrencySupport
import Foundation
import HTTPTypes
import HostAddresses
import Ledger
import PaymentProviders
import ServiceAccess
import TestSupport
import Testing

@testable import AnnouncementServer

/// Settings of providers that a test changes.
final class TestProviders: Sendable {
  private struct Unusable: Error, CustomStringConvertible {
    let description = "providers.yaml:3: secrets is missing; add it."
  }

  private let state = Locked((version: 0, endpoints: [ProviderEndpoint]()))

  init(_ endpoints: [ProviderEndpoint]) { state.withLock { $0.endpoints = endpoints } }

  /// Sets the endpoints; none for settings that cannot be used.
  func set(_ endpoints: [ProviderEndpoint]) { state.withLock { $0 = ($0.version + 1, endpoints) } }

  var parts: ProviderParts {
    ProviderParts(version: { [self] in "\(state.withLock { $0.version })" }) { [self] in
      let endpoints = state.withLock { $0.endpoints }
      if endpoints.isEmpty { throw Unusable() }
      return endpoints
    }
  }
}

@Suite("Webhooks of payment providers through the service", .timeLimit(.minutes(5)))
struct ProviderCallTests {
  private static let secret = ProviderSecret("whsec_of_a_test")
  private let providers: TestProviders
  private let service: TestService

  private static var stripe: ProviderEndpoint {
    var endpoint = ProviderEndpoint(id: "till", provider: .stripe, account: "shop")
    endpoint.secrets = [secret]
    endpoint.locale = "en-US"
    return endpoint
  }

  private static var alipay: ProviderEndpoint {
    var endpoint = ProviderEndpoint(id: "kiosk", provider: .alipay, account: "shop")
    endpoint.publicKeys = [:]
    return endpoint
  }

  private static var wechat: ProviderEndpoint {
    ProviderEndpoint(id: "counter", provider: .wechatpay, account: "shop")
  }

  init() throws {
    let providers = TestProviders([Self.stripe, Self.alipay, Self.wechat])
    self.providers = providers
    service = try TestService { options in
      options.providers = providers.parts
      options.hasPlayer = true
      // A slow machine sends fewer requests in a second than the usual rate allows.
      options.settings.keyFailures = try? RateLimit(rate: 0.001, burst: 50)
    }
    service.server.providerEndpoints.look()
  }

  /// The body of a charge that has succeeded.
  private func charge(
    _ id: String = "pi_1", _ amount: Int = 1_250, type: String = "charge.succeeded", age: Int64 = 0,
    payer: String = "Ann"
  ) -> Data {
    let created = Int64(Date().timeIntervalSince1970) - age
    return Data(
      #"""
      {"id":"evt_\#(UUID().uuidString)","object":"event","type":"\#(type)","created":\#(created),"livemode":true,"data":
      {"object":{"id":"ch_1","object":"charge","payment_intent":"\#(id)","amount":\#(amount),"amount_captured":\#(amount),
      "captured":true,"currency":"usd","billing_details":{"name":"\#(payer)"}}}}
      """#.utf8)
  }

  private func post(
    _ body: Data, to path: String = "/v1/providers/stripe/till", secret: ProviderSecret = secret,
    at date: Date = Date(),
    headers more: [String: String] = [:]
  ) async throws -> TestAnswer {
    let signed = StripeProvider.headers(signing: body, with: secret, at: date)
    let headers = Dictionary(signed.map { ($0.name, $0.value) }) { first, _ in first }.merging(more) { first, _ in first
    }
    return try await service.stranger.send(.post, path, headers: headers, body: body)
  }

  private func announced() async throws -> [String] {
    try await service.ledger.unfinished(lane: TestService.lane).map(\.id)
  }

  private var logged: String { service.log.lines.joined(separator: "\n") }

  /// Announces the payments that wait.
  private func announce() async throws {
    service.run { [service = service.server.providerService] in await service.payments.run() }
    try await eventually { try await service.ledger.waitingProviderPayments(after: 0).isEmpty }
  }

  private func endpoint(_ id: String = "till") async throws -> [String: Any] {
    let answer = try await service.client([.read]).get("/v1/provider-endpoints")
    let endpoints = try answer.value("endpoints") as? [[String: Any]] ?? []
    return try endpoints.first { $0["id"] as? String == id }.orThrow("the endpoint")
  }

  @Test("a signed payment is stored before the answer, and its clip is made after the answer")
  func accepted() async throws {
    let answer = try await post(charge())
    #expect(answer.status == 200 && answer.body.isEmpty)
    #expect(try await service.ledger.waitingProviderPayments(after: 0).map(\.id) == ["pi_1"])
    #expect(service.clips().isEmpty)
    try await announce()
    #expect(try await announced() == ["till:pi_1"])
    let shown = try await service.client([.read]).get("/v1/announcements/till:pi_1")
    #expect(try shown.string("text")?.contains("twelve dollars") == true, "\(shown.text)")
    #expect(try shown.string("amount.value") == "12.50" && shown.string("amount.currency") == "USD")
  }

  @Test("the payer's name is neither stored nor spoken unless the endpoint asks for it")
  func payer() async throws {
    _ = try await post(charge(payer: "SECRETNAME"))
    let payload = try await service.ledger.waitingProviderPayments(after: 0).first?.payload
    #expect(String(decoding: payload ?? Data(), as: UTF8.self).contains("12.50"))
    #expect(!String(decoding: payload ?? Data(), as: UTF8.self).contains("SECRETNAME"))
  }

  @Test("a payment that is reported fifty times at once by two kinds of events is announced once")
  func once() async throws {
    let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<50 {
        group.addTask {
          try await post(charge(type: number.isMultiple(of: 2) ? "charge.succeeded" : "charge.captured")).status
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(statuses == Array(repeating: 200, count: 50))
    try await announce()
    #expect(try await announced() == ["till:pi_1"])
    let counts = try await endpoint()["counts"] as? [String: Int]
    #expect(counts?["accepted"] == 1 && counts?["duplicate"] == 49)
  }

  @Test("a payment that is reported again with another sum is answered with success and shown as refused")
  func otherSum() async throws {
    _ = try await post(charge("pi_1", 1_250))
    #expect(try await post(charge("pi_1", 9_900)).status == 200)
    try await announce()
    #expect(try await announced() == ["till:pi_1"])
    let payments = try await endpoint()["payments"] as? [[String: Any]]
    #expect(payments?.map { $0["state"] as? String } == ["refused", "announced"])
    #expect(logged.contains("cannot be announced") && !logged.contains("99.00") && !logged.contains("9900"))
  }

  @Test("a webhook with a wrong signature is answered with 401, announces nothing, and does not count as a failed key")
  func rejected() async throws {
    for _ in 0..<80 {
      let answer = try await post(
        charge(), secret: ProviderSecret("whsec_other"), headers: ["Authorization": "Bearer crier_wrong"])
      #expect(answer.status == 401 && answer.code == nil)
    }
    #expect(try await service.ledger.waitingProviderPayments(after: 0).isEmpty)
    #expect(try await service.client([.read]).get("/v1/provider-endpoints").status == 200)
    let counts = try await endpoint()["counts"] as? [String: Int]
    #expect(counts?["rejected"] == 80)
    #expect(try await post(charge()).status == 200)
  }

  @Test(
    "the answer to a refused webhook has the form that the provider expects",
    arguments: [
      ("alipay/kiosk", 401, "fail"), ("wechatpay/counter", 401, #""code":"FAIL""#),
    ])
  func answers(path: String, status: Int, text: String) async throws {
    let answer = try await service.stranger.send(.post, "/v1/providers/\(path)", body: Data("a=b".utf8))
    #expect(answer.status == status && answer.text.contains(text), "\(answer.status) \(answer.text)")
  }

  @Test("a probe of WeChat Pay with a wrong signature is refused, but is not counted or logged as a rejected request")
  func probe() async throws {
    let answer = try await service.stranger.send(
      .post, "/v1/providers/wechatpay/counter",
      headers: [
        "Wechatpay-Signature": "WECHATPAY/SIGNTEST/abc", "Wechatpay-Serial": "1", "Wechatpay-Nonce": "n",
        "Wechatpay-Timestamp": String(Int(Date().timeIntervalSince1970)),
      ], body: Data("{}".utf8))
    #expect(answer.status >= 400)
    let counts = try await endpoint("counter")["counts"] as? [String: Int]
    #expect(counts?["probe"] == 1 && counts?["rejected"] == 0)
    #expect(!logged.contains("was not taken"))
  }

  @Test("a payment that is too old is stored and shown as late, and is not spoken")
  func late() async throws {
    #expect(try await post(charge(age: 4_000)).status == 200)
    #expect(try await service.ledger.waitingProviderPayments(after: 0).isEmpty)
    let payments = try await endpoint()["payments"] as? [[String: Any]]
    #expect(payments?.first?["state"] as? String == "late" && payments?.first?["amount"] as? String == "12.50")
  }

  @Test("a webhook may have an unknown query parameter, and an unknown endpoint is answered with 404")
  func paths() async throws {
    #expect(try await post(charge(), to: "/v1/providers/stripe/till?source=dashboard").status == 200)
    for path in ["stripe/other", "square/till", "stripe/till/pix"] {
      #expect(try await post(charge(), to: "/v1/providers/\(path)").code == "not_found")
    }
  }

  @Test("a webhook's body of 1 MiB is read, and a larger body is refused")
  func largeBodies() async throws {
    let padded = charge() + Data(repeating: UInt8(ascii: " "), count: (1 << 20) - charge().count)
    #expect(try await post(padded).status == 200)
    #expect(try await post(padded + Data([UInt8(ascii: " ")])).status == 413)
  }

  @Test("a clock that differs from the provider's clock is reported in the log and in the list of endpoints")
  func skew() async throws {
    let answer = try await post(charge(), at: Date(timeIntervalSinceNow: 360))
    #expect(answer.status == 401)
    #expect(logged.contains("Your clock is 6 minutes behind the provider's."))
    #expect(try await post(charge(), at: Date(timeIntervalSinceNow: 120)).status == 200)
    #expect((try await endpoint()["clock_skew_seconds"] as? Int ?? 0) >= 118)
  }

  @Test("unusable settings for providers are reported, and the last usable settings stay in force")
  func faultySettings() async throws {
    providers.set([])
    service.server.providerEndpoints.look()
    #expect(try await post(charge()).status == 200)
    #expect(try await service.stranger.get("/readyz").string("checks.providers.code") == "settings_invalid")
    #expect(try await service.client([.admin]).get("/v1/provider-endpoints").string("problem")?.contains(":3:") == true)
    var other = Self.stripe
    other.secrets = [ProviderSecret("whsec_new")]
    providers.set([other])
    service.server.providerEndpoints.look()
    #expect(try await post(charge("pi_2")).status == 401)
    #expect(try await post(charge("pi_2"), secret: ProviderSecret("whsec_new")).status == 200)
  }

  @Test("a service with unusable settings at its start answers providers with 503 and Retry-After")
  func faultyAtStart() async throws {
    let broken = try TestService { $0.providers = TestProviders([]).parts }
    broken.server.providerEndpoints.look()
    let answer = try await broken.stranger.send(.post, "/v1/providers/stripe/till", body: charge())
    #expect(answer.status == 503 && answer.code == "providers_unavailable" && answer.header("Retry-After") != nil)
  }

  @Test("a stranger who floods an endpoint does not use up the provider's rate limit")
  func flood() async throws {
    let stranger = Connection(peer: IPAddress("192.0.2.1"))
    let statuses = try await Connection.$current.withValue(stranger) {
      var statuses: Set<Int> = []
      for _ in 0..<80 { statuses.insert(try await post(charge(), secret: ProviderSecret("whsec_wrong")).status) }
      return statuses
    }
    #expect(statuses == [401, 429])
    // Genuine requests from this address are still accepted. The other ones may belong to another customer of the
    // provider, who has registered this URL as his own.
    try await Connection.$current.withValue(stranger) { () async throws in
      for number in 0..<80 { #expect(try await post(charge("pi_\(number)")).status == 200) }
    }
  }

  @Test("a payment with an unclear sum is shown once as refused, with its id and a reason")
  func unclear() async throws {
    let body = Data(String(decoding: charge("pi_9"), as: UTF8.self).replacing("usd", with: "lyd").utf8)
    for _ in 0..<2 { #expect(try await post(body).status == 200) }
    let payments = try await endpoint()["payments"] as? [[String: Any]]
    #expect(payments?.count == 1)
    #expect(payments?.first?["id"] as? String == "pi_9" && payments?.first?["state"] as? String == "refused")
    #expect(payments?.first?["reason"] as? String != nil)
  }

  @Test("an endpoint has its own rate limit, and a request above the limit gets 429 with Retry-After")
  func rate() async throws {
    let providers = TestProviders([Self.stripe])
    let rate = try RateLimit(rate: 0.001, burst: 2)
    let limited = try TestService { options in
      options.providers = providers.parts
      options.settings.rate = rate
    }
    limited.server.providerEndpoints.look()
    var statuses: [Int] = []
    for number in 0..<3 {
      let body = charge("pi_\(number)")
      let headers = StripeProvider.headers(signing: body, with: Self.secret, at: Date())
      let answer = try await limited.stranger.send(
        .post, "/v1/providers/stripe/till",
        headers: Dictionary(headers.map { ($0.name, $0.value) }) { first, _ in first },
        body: body)
      statuses.append(answer.status)
      #expect(answer.status == 200 || answer.header("Retry-After") != nil)
    }
    #expect(statuses == [200, 200, 429])
  }

  @Test("another account sees neither the endpoints nor their payments, and a caller without a key sees nothing")
  func isolated() async throws {
    _ = try await post(charge())
    let kiosk = try await service.client([.read], account: "kiosk").get("/v1/provider-endpoints")
    #expect(try (kiosk.value("endpoints") as? [Any])?.isEmpty == true)
    #expect(try await service.stranger.get("/v1/provider-endpoints").status == 401)
    #expect(try await service.client([.announce]).get("/v1/provider-endpoints").code == "scope_missing")
    let own = try await service.client([.read]).get("/v1/provider-endpoints")
    #expect(!own.text.contains("whsec"))
  }

  @Test("a refused payment causes an event in the account's event stream")
  func event() async throws {
    let stream = await (try await service.client([.read])).stream("/v1/events")
    try await eventually { service.server.hub.count > 0 }
    let body = Data(#"{"object":"event","type":"charge.succeeded","data":{"object":{"captured":true}}}"#.utf8)
    #expect(try await post(body).status == 200)
    let event = try await stream.event("provider_refused")
    #expect(try event.string("detail.endpoint") == "till" && event.string("detail.reason")?.isEmpty == false)
    stream.end()
  }

  // MARK: Testing an endpoint

  private func test(_ id: String = "till", _ client: TestClient? = nil) async throws -> TestAnswer {
    var sender = client
    if sender == nil { sender = try await service.client([.announce]) }
    return try await sender.orThrow("a client").send(
      .post, "/v1/provider-endpoints/\(id)/test")
  }

  @Test("a test of an endpoint announces a payment with a new id that marks the test")
  func tested() async throws {
    var ids: [String] = []
    for _ in 0..<2 {
      let answer = try await test()
      #expect(answer.status == 200)
      #expect(
        try answer.string("outcome") == "accepted" && answer.string("reason")?.contains("the shop hears it") == true)
      ids.append(try answer.string("id").orThrow("the id"))
    }
    #expect(ids[0] != ids[1] && ids.allSatisfy { $0.contains("crier-test-") })
    try await announce()
    #expect(try await announced() == ids.map { "till:\($0)" })
    let payments = try await endpoint()["payments"] as? [[String: Any]]
    #expect(payments?.map { $0["id"] as? String } == ids.reversed() && payments?.first?["amount"] as? String == "1.00")
  }

  @Test(
    "a test of an endpoint does not count as a provider's request, and does not change the measured clock difference")
  func testIsNoRequest() async throws {
    _ = try await test()
    #expect(try await endpoint()["last_request_at"] is NSNull)
    #expect(try await endpoint()["clock_skew_seconds"] is NSNull)
    _ = try await post(charge())
    #expect(try await endpoint()["last_request_at"] is String)
  }

  @Test("if an endpoint ignores the payment of its test, the answer has the reason")
  func testIgnored() async throws {
    var refunds = Self.stripe
    refunds.kinds = [.refunded]
    providers.set([refunds])
    service.server.providerEndpoints.look()
    let answer = try await test()
    #expect(try answer.string("outcome") == "ignored" && answer.string("reason")?.contains("kind received") == true)
    #expect(try await service.ledger.waitingProviderPayments(after: 0).isEmpty)
  }

  @Test("an endpoint whose requests only the provider can sign cannot be tested", arguments: ["counter", "kiosk"])
  func testUnavailable(id: String) async throws {
    let answer = try await test(id)
    #expect(answer.status == 409 && answer.code == "provider_test_unavailable")
    #expect(try answer.string("detail")?.contains("crier providers check") == true)
    #expect(try (await endpoint(id)["recent"] as? [Any])?.isEmpty == true)
  }

  @Test("a test of an endpoint needs the scope 'announce', and is possible only for the caller's own endpoints")
  func testAccess() async throws {
    #expect(try await test("till", service.client([.read])).code == "scope_missing")
    #expect(try await test("till", service.stranger).status == 401)
    #expect(try await test("till", service.client([.announce], account: "kiosk")).code == "not_found")
    #expect(try await test("other").code == "not_found")
    #expect(try await test("till", service.client([.admin], account: "kiosk")).status == 200)
  }
}
