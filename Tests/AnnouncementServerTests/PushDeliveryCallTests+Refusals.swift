// SPDX-License-Identifier: Apache-2.0

import APNSSimulator
import Foundation
import HTTPTypes
import Ledger
import ServiceAccess
import TestSupport
import Testing

@testable import AnnouncementServer

/// Phones that get no notification until somebody corrects a fault.
extension PushDeliveryCallTests {
  /// A service whose payment `p1` waits, because APNs has refused the app.
  ///
  /// - Parameter refusals: The number of requests that the simulator refuses.
  private func refusedApp(
    refusals: Int
  ) async throws -> (simulator: APNSSimulator, service: TestService, client: TestClient) {
    var configuration = APNSSimulator.Configuration()
    configuration.faults = .script {
      $0.number <= refusals ? Fault(.answer(status: 403, reason: "InvalidProviderToken")) : nil
    }
    let simulator = try await APNSSimulator.start(configuration)
    let service = try service(simulator)
    try await register("phone", Self.tokens[0], in: service)
    let client = try await service.client([.admin, .announce, .read])
    service.run { [server = service.server] in try await server.pushService?.run() }
    #expect(try await client.post(payment("p1", "12.50", #""deliver":["push"],"device":"phone""#)).status == 201)
    try await eventually { try await client.get("/v1/shop").string("problems.0.code") == "push_refused" }
    return (simulator, service, client)
  }

  @Test("an app that APNs refuses is a problem in the shop's state and in /readyz until a test push succeeds")
  func refusedApp() async throws {
    let (simulator, service, client) = try await refusedApp(refusals: 1)
    let shop = try await client.get("/v1/shop")
    #expect(try shop.string("state") == "bad" && shop.string("problems.0.cause") == "InvalidProviderToken")
    #expect(try shop.number("problems.0.count") == 1 && shop.string("problems.0.since") != nil)
    #expect(try shop.string("problems.0.remedy.text")?.contains("setting 'apns'") == true)
    let ready = try await service.stranger.get("/readyz")
    #expect(try ready.status == 200 && ready.string("status") == "degraded")
    #expect(try ready.string("checks.pushes.code") == "push_refused" && ready.number("checks.pushes.waiting") == 1)
    #expect(try ready.string("checks.pushes.cause") == "InvalidProviderToken")

    #expect(try await client.send(.post, "/v1/devices/phone/test").string("state") == "delivered")
    #expect(try await outcome(of: "p1", client).map(\.state) == ["delivered"], "without the pause of 15 minutes")
    #expect(try await client.get("/v1/shop").string("state") == "good")
    #expect(try await service.stranger.get("/readyz").string("status") == "ready")
    #expect(service.log.lines.contains { $0.hasPrefix("notice APNs accepts the pushes to an app again") })
    await simulator.stop()
  }

  @Test("a refused test push does not release the waiting pushes of a refused app")
  func refusedTest() async throws {
    let (simulator, service, client) = try await refusedApp(refusals: .max)
    #expect(try await client.send(.post, "/v1/devices/phone/test").string("reason") == "InvalidProviderToken")
    #expect(try await client.get("/v1/shop").string("problems.0.code") == "push_refused")
    #expect(try await service.stranger.get("/readyz").string("checks.pushes.code") == "push_refused")
    #expect(simulator.counts.requests == 2, "the push waits")
    await simulator.stop()
  }

  @Test(
    "an announcement to a phone without a token is accepted with a warning",
    arguments: [
      (["bare"], "bare", "device: has no token"),
      (["bare", "full"], "till", "device: 1 of the 2 devices have no token"),
      (["full"], "full", nil),
    ])
  func withoutToken(phones: [String], name: String, warning: String?) async throws {
    let simulator = try await APNSSimulator.start()
    let service = try service(simulator)
    for phone in phones {
      try await register(phone, phone == "bare" ? nil : Self.tokens[0], in: service, group: "till")
    }
    let client = try await service.client()
    let answer = try await client.post(payment("p1", "12.50", #""deliver":["push"],"device":"\#(name)""#))
    let warnings = try #require(try answer.value("warnings") as? [String])
    #expect(answer.status == 201 && warnings.count == (warning == nil ? 0 : 1))
    if let warning { #expect(warnings.first?.hasPrefix(warning) == true, "\(warnings)") }
    await simulator.stop()
  }

  @Test("a payload that names a device and does not deliver by push is accepted with a warning")
  func deviceWithoutPush() async throws {
    let service = try TestService()
    let client = try await service.client()
    let answer = try await client.post(payment("p1", "12.50", #""deliver":["clip"],"device":"till""#))
    #expect(answer.status == 201)
    #expect(
      try answer.value("warnings") as? [String]
        == ["device: nothing is pushed to it, because deliver does not contain push"])
    let plain = try await client.post(payment("p2", "12.50", #""deliver":["clip"]"#))
    #expect(try plain.value("warnings") as? [String] == [])
  }

  @Test("an announcement gets warnings about phones that have another app, or another app group than the clip")
  func otherApps() async throws {
    let simulator = try await APNSSimulator.start()
    let service = try service(simulator)
    try await register("phone", Self.tokens[0], in: service, group: "till")
    let client = try await service.client()
    let other =
      #"{"bundle_id":"com.example.other","environment":"production","group":"group.other","device_group":"till""#
    let registered = try await service.client([.announce]).put("other", other + #","tokens":{}}"#)
    let registration = try #require(try registered.value("warnings") as? [String])
    #expect(registration.count == 2 && registration[1].hasPrefix("group: is not a group of this service"))
    let answer = try await client.post(payment("p1", "12.50", #""deliver":["push"],"device":"till""#))
    let warnings = try #require(try answer.value("warnings") as? [String])
    #expect(
      warnings.map { $0.prefix(50) } == [
        "device: 1 of the 2 devices have no token, so they ", "device: 1 of the 2 devices belong to an app or an ",
        "device: 1 of the 2 devices are in another app grou",
      ])
    let alone = try await client.post(payment("p2", "12.50", #""deliver":["push"],"device":"phone""#))
    #expect(try alone.value("warnings") as? [String] == [])
    await simulator.stop()
  }

  @Test("a registration with the token of another device gets a warning that the token belongs to this device now")
  func movedToken() async throws {
    let simulator = try await APNSSimulator.start()
    let service = try service(simulator)
    let client = try await service.client([.announce])
    let body = #"{"bundle_id":"com.example.shop","environment":"production","tokens":{"alert":"\#(Self.tokens[0])"}}"#
    for (phone, warnings) in [
      ("a", []),
      ("b", ["tokens.alert: another device of the account had this token, which now belongs to this device"]),
      ("b", []),
    ] as [(String, [String])] {
      #expect(try await client.put(phone, body).value("warnings") as? [String] == warnings)
    }
    await simulator.stop()
  }

  @Test("a registration gets a warning if the service does not push to its app, or does not push at all")
  func unknownApp() async throws {
    let simulator = try await APNSSimulator.start()
    let service = try service(simulator)
    let client = try await service.client([.announce])
    for (app, warning) in [
      ("com.example.shop", nil), ("com.example.other", "bundle_id: the setting 'apns' does not contain"),
    ] {
      let body = #"{"bundle_id":"\#(app)","environment":"production","tokens":{}}"#
      for status in [201, 200] {
        let answer = try await client.put("phone-\(app)", body)
        let warnings = try #require(try answer.value("warnings") as? [String])
        #expect(answer.status == status && warnings.count == (warning == nil ? 0 : 1), "\(answer.text)")
        if let warning { #expect(warnings.first?.hasPrefix(warning) == true) }
      }
    }
    #expect(try await service.client([.read]).get("/v1/devices/phone-com.example.other").value("warnings") == nil)
    let without = try TestService()
    let silent = try await without.client([.announce])
    let body = #"{"bundle_id":"com.example.shop","environment":"production","tokens":{}}"#
    let warnings = try await silent.put("phone", body).value("warnings") as? [String]
    #expect(warnings == ["This service has no setting 'apns', so it pushes nothing."])
    await simulator.stop()
  }
}
