// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import PushDelivery
import PushMessages
import TextFormats

/// A notification that tests whether pushes reach a phone. It says nothing about money, is sent immediately and only
/// once, and is not among the announcements of the phone.
struct DeviceTest: Sendable {
  /// The outcome of the test.
  struct Outcome: Sendable, Encodable {
    var state: Ledger.Push.State
    /// The reason that APNs or the sender gave; null if there is none.
    @ExplicitNull var reason: String?
    var text: String

    init(_ state: Ledger.Push.State, _ reason: String? = nil) {
      // The ledger stores at most 64 bytes of the reason.
      let reason = reason.map { String(decoding: $0.utf8.prefix(64), as: UTF8.self) }
      (self.state, self.reason) = (state, reason)
      text = Self.text(of: state, reason)
    }

    /// Returns the words for the outcome. The service sends a test only once, so the words ask for another test where
    /// an ordinary push would be sent again.
    private static func text(of state: Ledger.Push.State, _ reason: String?) -> String {
      guard let row = reason.flatMap(PushReasonText.row), row.remedy == .triedAgain else {
        return PushOutcomeText.text(of: state, reason: reason)
      }
      return "\(row.meaning) Send the test again later."
    }
  }

  let clients: [PushSchedule.App: PushClient]
  let ledger: any Ledger.DeviceStore
  /// Called with the app when APNs has accepted the app's key and topic, so that the app's pushes need not wait any
  /// longer.
  let accepted: @Sendable (PushSchedule.Topic) async -> Void

  /// The body without the key `crier`, so that the app's extension leaves it as it is.
  private static let body = Data(
    #"{"aps":{"alert":{"body":"This is a test. No money was received.","title":"Crier"},"sound":"default"}}"#.utf8)
  /// The time after which APNs drops the notification, in seconds.
  private static let lifetime: TimeInterval = 300

  /// Sends the notification, and stores the outcome with the device.
  func send(to device: Ledger.Device) async throws -> Outcome {
    let outcome = try await attempt(device)
    try await ledger.noteOutcome(
      outcome.state, reason: outcome.reason, of: .alert, account: device.account, device: device.id)
    return outcome
  }

  private func attempt(_ device: Ledger.Device) async throws -> Outcome {
    guard let token = device.tokens[.alert]?.text else { return Outcome(.unregistered, PushSender.noToken) }
    let app = PushSchedule.App(bundleID: device.app, environment: device.environment)
    guard let client = clients[app] else {
      return Outcome(.failed, PushSender.notConfigured)
    }
    do {
      let request = try PushRequest(
        token: DeviceToken(token), app: BundleID(device.app), type: .alert, id: UUID(), priority: .immediate,
        expiresAt: Date(timeIntervalSinceNow: Self.lifetime), body: Self.body)
      let attempt = try await client.send(request)
      let reason = attempt.response.reason ?? "Status\(attempt.response.status)"
      switch attempt.consequence {
      case .delivered:
        await accepted(PushSchedule.Topic(app))
        return Outcome(.delivered)
      case .deviceGone(let since):
        if let since {
          try await ledger.removeToken(token, account: device.account, device: device.id, invalidSince: since)
        }
        return Outcome(.unregistered, reason)
      case .tokenSuspect:
        try await ledger.countRefusal(ofToken: token, account: device.account, device: device.id)
        return Outcome(.failed, reason)
      case .retry, .refreshToken, .failed, .stopApp: return Outcome(.failed, reason)
      }
    } catch let error as PushMessageError {
      return Outcome(.failed, error.code.rawValue)
    } catch let error as PushTransportError {
      return Outcome(.failed, error.code.rawValue)
    }
  }
}
