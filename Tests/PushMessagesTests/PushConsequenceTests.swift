// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import PushMessages

@Suite struct PushConsequenceTests {
  /// Apple's table, written down a second time, with what is done on each reason.
  static let table: [(status: Int, reason: String, consequence: PushConsequence)] = [
    (400, "BadCollapseId", .failed),
    (400, "BadDeviceToken", .tokenSuspect),
    (400, "BadExpirationDate", .failed),
    (400, "BadMessageId", .failed),
    (400, "BadPriority", .failed),
    (400, "BadTopic", .stopApp),
    (400, "DeviceTokenNotForTopic", .tokenSuspect),
    (400, "DuplicateHeaders", .failed),
    (400, "IdleTimeout", .retry(after: nil, scope: .push)),
    (400, "InvalidPushType", .failed),
    (400, "MissingDeviceToken", .failed),
    (400, "MissingTopic", .stopApp),
    (400, "PayloadEmpty", .failed),
    (400, "TopicDisallowed", .stopApp),
    (403, "BadCertificate", .stopApp),
    (403, "BadCertificateEnvironment", .stopApp),
    (403, "BadEnvironmentKeyIdInToken", .stopApp),
    (403, "BadEnvironmentKeyInToken", .stopApp),
    (403, "ExpiredProviderToken", .refreshToken),
    (403, "Forbidden", .stopApp),
    (403, "InvalidProviderToken", .stopApp),
    (403, "MissingProviderToken", .stopApp),
    (403, "UnrelatedKeyIdInToken", .stopApp),
    (404, "BadPath", .failed),
    (405, "MethodNotAllowed", .stopApp),
    (410, "ExpiredToken", .deviceGone(since: Date(timeIntervalSince1970: 1_800_000_000))),
    (410, "Unregistered", .deviceGone(since: Date(timeIntervalSince1970: 1_800_000_000))),
    (413, "PayloadTooLarge", .failed),
    (429, "TooManyProviderTokenUpdates", .retry(after: nil, scope: .app)),
    (429, "TooManyRequests", .retry(after: nil, scope: .device)),
    (500, "InternalServerError", .retry(after: nil, scope: .push)),
    (503, "ServiceUnavailable", .retry(after: nil, scope: .app)),
    (503, "Shutdown", .retry(after: nil, scope: .push)),
  ]

  @Test("each reason that Apple documents has the consequence in this test's table", arguments: table)
  func documented(status: Int, reason: String, consequence: PushConsequence) {
    let invalidSince = status == 410 ? Date(timeIntervalSince1970: 1_800_000_000) : nil
    #expect(PushConsequence(PushResponse(status: status, reason: reason, invalidSince: invalidSince)) == consequence)
  }

  @Test("this test's table has every reason of APNs exactly once")
  func complete() {
    #expect(Self.table.map(\.reason).sorted() == PushRefusal.allCases.map(\.rawValue).sorted())
  }

  @Test(
    "if APNs' answer has no documented reason, the status decides about the push",
    arguments: [
      (200, .delivered), (400, .failed), (401, .stopApp), (403, .stopApp), (404, .stopApp), (405, .stopApp),
      (407, .stopApp), (410, .deviceGone(since: nil)), (413, .failed), (429, .retry(after: nil, scope: .device)),
      (500, .retry(after: nil, scope: .push)), (502, .retry(after: nil, scope: .app)),
      (503, .retry(after: nil, scope: .app)), (204, .retry(after: nil, scope: .app)),
      (302, .retry(after: nil, scope: .app)), (0, .retry(after: nil, scope: .app)),
      (999, .retry(after: nil, scope: .app)),
    ] as [(Int, PushConsequence)])
  func undocumented(status: Int, consequence: PushConsequence) {
    #expect(PushConsequence(PushResponse(status: status)) == consequence)
    #expect(PushConsequence(PushResponse(status: status, reason: "NewReason")) == consequence)
  }

  @Test("only the status 410 means that the app was removed from the phone, at the time in APNs' answer")
  func gone() {
    let since = Date(timeIntervalSince1970: 1_800_000_000)
    for status in 0...599 {
      for reason in [nil, "NewReason"] + PushRefusal.allCases.map(\.rawValue) {
        let consequence = PushConsequence(PushResponse(status: status, reason: reason, invalidSince: since))
        if case .deviceGone(let time) = consequence {
          #expect(status == 410 && time == since)
        } else {
          #expect(status != 410 || reason.flatMap(PushRefusal.init(rawValue:)) != nil)
        }
      }
    }
    #expect(PushConsequence(PushResponse(status: 400, reason: "Unregistered", invalidSince: since)) == .tokenSuspect)
  }

  @Test("an expired provider token is replaced once, and a second refusal stops the pushes to the app")
  func refresh() {
    let response = PushResponse(status: 403, reason: "ExpiredProviderToken")
    #expect(PushConsequence(response) == .refreshToken)
    #expect(PushConsequence(response, afterRefresh: true) == .stopApp)
    #expect(PushConsequence(PushResponse(status: 200), afterRefresh: true) == .delivered)
  }

  @Test("a push waits as long as APNs' answer asks for")
  func retryAfter() {
    let response = PushResponse(status: 429, reason: "TooManyRequests", retryAfter: 30)
    #expect(PushConsequence(response) == .retry(after: .seconds(30), scope: .device))
    #expect(PushConsequence(PushResponse(status: 503, retryAfter: 7)) == .retry(after: .seconds(7), scope: .app))
  }

  @Test("a push without an answer is sent again")
  func interruptions() {
    #expect(PushConsequence(.notProcessed) == .retry(after: .zero, scope: .push))
    #expect(PushConsequence(.connectionLost) == .retry(after: nil, scope: .push))
    #expect(PushConsequence(.timedOut) == .retry(after: nil, scope: .push))
    #expect(PushConsequence(.unreachable) == .retry(after: nil, scope: .app))
  }

  @Test("the table in docs/push.md gives the same consequences for the reasons of APNs")
  func documentation() throws {
    let page = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/push.md")
    let rows = try String(contentsOf: page, encoding: .utf8).split(separator: "\n").compactMap { line in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      return cells.count == 5 && (400...599).contains(Int(cells[0]) ?? 0) ? cells : nil
    }
    #expect(
      rows.map { Array($0.prefix(3)) }
        == Self.table.map { ["\($0.status)", "`\($0.reason)`", Self.words(for: $0.consequence)] })
    #expect(
      rows
        == Self.table.compactMap { PushReasonText.row(of: $0.reason) }.map {
          ["\($0.status)", "`\($0.reason)`", $0.measure, $0.why, $0.text]
        })
    #expect(PushReasonText.row(of: "NewReason") == nil && PushReasonText.text(of: "NewReason") == nil)
  }

  private static func words(for consequence: PushConsequence) -> String {
    switch consequence {
    case .delivered: "delivered"
    case .retry(_, let scope): "retry: \(scope)"
    case .refreshToken: "new token"
    case .deviceGone: "device gone"
    case .tokenSuspect: "token suspect"
    case .failed: "failed"
    case .stopApp: "stop app"
    }
  }
}
