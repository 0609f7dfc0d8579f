// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Ledger
import PushMessages
import ServiceAccess
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("Receipts from phones for announcements", .timeLimit(.minutes(5)))
struct ReceiptCallTests {
  private let service: TestService
  private let backend: TestClient
  private let phone: TestClient

  init() async throws {
    service = try TestService { $0.pushes = PushParts(clients: [:], lifetime: 3600) }
    backend = try await service.client([.announce, .read])
    phone = try await service.phone()
    for id in ["p1", "p2"] { try await push(id, to: "phone-1") }
  }

  /// Stores an announcement that is pushed to a device.
  private func push(_ id: String, to device: String) async throws {
    _ = try await service.ledger.accept(
      answer: NewAnswer(
        account: "shop", key: "id:\(id)", bodyDigest: Data(repeating: 1, count: 32), id: id, status: 201,
        report: Data(#"{"id":"\#(id)"}"#.utf8)), playing: nil,
      pushing: [
        NewPush(
          device: device, kind: .alert, priority: 10, expiresAt: Date(timeIntervalSinceNow: 3600),
          body: NewPush.Body(Data(#"{"aps":{}}"#.utf8)))
      ])
  }

  private func send(_ body: String, of client: TestClient? = nil, to device: String = "phone-1") async throws
    -> TestAnswer
  {
    try await (client ?? phone).send(
      .post, "/v1/devices/\(device)/handed_over", headers: ["Content-Type": "application/json"], body: Data(body.utf8))
  }

  private func handedOver(_ id: String) async throws -> String? {
    try await backend.get("/v1/announcements/\(id)").string("delivery.push.0.handed_over_at")
  }

  @Test("a receipt is shown with its announcement, and a later receipt does not replace the first receipt")
  func recorded() async throws {
    #expect(try await handedOver("p1") == nil)
    let answer = try await send(#"{"announcements":[{"id":"p1","at":"2026-11-20T20:23:59.500Z"}]}"#)
    #expect(answer.status == 200, "\(answer.text)")
    #expect(try answer.number("recorded") == 1 && answer.value("unknown") as? [String] == [])
    #expect(try await handedOver("p1") == "2026-11-20T20:23:59.500Z")
    #expect(try await handedOver("p2") == nil)
    let again = try await send(
      #"{"announcements":[{"id":"p1","at":"2026-11-21T00:00:00Z"},{"id":"p2","at":"2026-11-21T00:00:00Z"}]}"#)
    #expect(try again.number("recorded") == 2)
    #expect(try await handedOver("p1") == "2026-11-20T20:23:59.500Z")
    #expect(try await handedOver("p2") == "2026-11-21T00:00:00.000Z")
  }

  @Test("a receipt with a time in the future gets the present time")
  func future() async throws {
    let before = Date()
    _ = try await send(#"{"announcements":[{"id":"p1","at":"2100-01-01T00:00:00Z"}]}"#)
    let text = try #require(try await handedOver("p1"))
    let time = try Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    #expect(abs(time.timeIntervalSince(before)) < 60)
  }

  @Test(
    "receipts for announcements that were not pushed to the device are listed in the answer, and all others are stored")
  func unknown() async throws {
    let other = try await service.phone("phone-2")
    try await push("p3", to: "phone-2")
    let answer = try await send(
      #"{"announcements":[{"id":"p3","at":"2026-11-20T00:00:00Z"},{"id":"p1","at":"2026-11-20T00:00:00Z"},{"id":"a\u0000","at":"2026-11-20T00:00:00Z"}]}"#
    )
    #expect(try answer.number("recorded") == 1)
    #expect(try answer.value("unknown") as? [String] == ["p3", "a\u{0}"])
    #expect(try await handedOver("p3") == nil)
    #expect(try await send(#"{"announcements":[{"id":"p3","at":"2026-11-20T00:00:00Z"}]}"#, of: other).status == 403)
  }

  @Test("a device that is registered anew under the same id cannot confirm announcements of the former device")
  func registeredAnew() async throws {
    #expect(try await backend.send(.delete, "/v1/devices/phone-1").status == 200)
    let anew = try await service.phone()
    let answer = try await send(#"{"announcements":[{"id":"p1","at":"2026-11-20T00:00:00Z"}]}"#, of: anew)
    #expect(try answer.value("unknown") as? [String] == ["p1"])
  }

  @Test(
    "a body that is not a list of receipts with ids and times is refused, and nothing is recorded",
    arguments: [
      ("{}", 422), (#"{"announcements":[]}"#, 422), (#"{"announcements":7}"#, 422), (#"{"announcements":["p1"]}"#, 422),
      (#"{"announcements":[{"id":"p1"}]}"#, 422), (#"{"announcements":[{"at":"2026-11-20T00:00:00Z"}]}"#, 422),
      (#"{"announcements":[{"id":7,"at":"2026-11-20T00:00:00Z"}]}"#, 422),
      (#"{"announcements":[{"id":"p1","at":"yesterday"}]}"#, 422),
      (#"{"announcements":[{"id":"p1","at":"2026-11-20T00:00:00Z","heard":true}]}"#, 422), ("[]", 400), ("", 400),
    ])
  func refused(_ body: String, _ status: Int) async throws {
    let answer = try await send(body)
    #expect(answer.status == status, "\(answer.text)")
    #expect(try await handedOver("p1") == nil)
  }

  @Test("more than 200 receipts at once are refused, and 200 receipts are accepted")
  func tooMany() async throws {
    func body(_ count: Int) -> String {
      let receipts = (0..<count).map { #"{"id":"p\#($0)","at":"2026-11-20T00:00:00Z"}"# }.joined(separator: ",")
      return #"{"announcements":[\#(receipts)]}"#
    }
    #expect(try await send(body(201)).status == 422)
    let answer = try await send(body(200))
    #expect(try answer.status == 200 && answer.number("recorded") == 2)
  }

  @Test("a receipt for a device of another account, or with a key that may only read, is refused")
  func foreign() async throws {
    let body = #"{"announcements":[{"id":"p1","at":"2026-11-20T00:00:00Z"}]}"#
    #expect(try await send(body, of: backend, to: "phone-9").status == 404)
    #expect(try await send(body, of: try await service.client([.read])).status == 403)
    #expect(try await send(body, of: try await service.client(account: "other")).status == 404)
    #expect(try await send(body, of: backend).status == 200, "A backend may speak for its phones.")
  }
}
