// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import Announcements
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Ledger
import NIOCore
import PushDelivery
import PushMessages
import ServiceAccess
import TextFormats

/// The routes of `/v1/devices`, with which phones are registered for pushes and catch up on missed announcements.
///
/// A device's own key may use only the routes of its device. A request for another device is refused before anything is
/// looked up, so that its sender does not learn which devices exist. No answer contains a token of APNs.
struct DeviceRoutes: Sendable {
  let ledger: any Ledger.Store
  let keys: KeyRing
  let phraseBooks: PhraseBooks
  let groups: AppGroups
  /// The sender of tests to devices; nil for a service that sends no pushes.
  let test: DeviceTest?
  let administration: AdministrationLog

  var routes: [Route] {
    [
      .get("/v1/devices", .key(.read), query: ["after", "limit"], isLong: true, list),
      .put("/v1/devices/{id}", .keyOrOwnDevice(.register), register),
      .get("/v1/devices/{id}", .keyOrOwnDevice(.read)) { call in
        guard let device = try await ledger.device(account: try call.sender.account, id: call.parameter) else {
          throw Self.unknown
        }
        return try ServiceJSON.response(.ok, DeviceLine(device))
      },
      .delete("/v1/devices/{id}", .keyOrOwnDevice(.announce), remove),
      .post("/v1/devices/{id}/test", .key(.announce), sendTest),
      .get("/v1/devices/{id}/announcements", .keyOrOwnDevice(.read), query: ["after", "limit"], isLong: true, catchUp),
    ]
  }

  static let unknown = Problem.notFound("The account has no device with this id.")

  // MARK: Listing

  private struct Page: Encodable {
    var devices: [DeviceLine]
    /// The value of `after` for the next page; missing if there are no more devices.
    var next: String?
  }

  private func list(_ call: Call) async throws -> Response {
    let limit = try call.number("limit", in: 1...200) ?? 50
    let devices = try await ledger.devices(
      account: try call.sender.account, after: call.query("after") ?? "", limit: limit + 1)
    let page = devices.prefix(limit)
    return try ServiceJSON.response(
      .ok, Page(devices: page.map(DeviceLine.init), next: devices.count > limit ? page.last?.id : nil))
  }

  // MARK: Registering

  private func register(_ call: Call) async throws -> Response {
    let sender = try call.sender
    let fields = try await JSONFields.read(call, keys: DeviceRequest.keys, keys)
    let request = try DeviceRequest(fields, id: call.parameter, account: sender.account)
    // In another group, a phone would get the announcements of other phones.
    guard sender.device == nil || request.device.deviceGroup == nil else {
      throw fields.invalid("device_group", "leave it out: only a key with the scope announce can change it")
    }
    if let id = sender.device, let group = request.device.appGroup {
      // In another app group, a phone would get the clips of other phones.
      let known = try await ledger.device(account: sender.account, id: id)?.appGroup ?? groups.standard
      guard group == known else {
        throw fields.invalid("group", "leave it out: only a key with the scope announce can change it")
      }
    }
    var device = request.device
    // If the locale did not exist, every announcement to the device would fail.
    if let locale = device.locale { device.locale = try phraseBooks.book(for: locale).locale }
    let key = APIKey.make()
    let own = NewKey(
      id: key.id, account: sender.account, digest: key.digest, scopes: [Scope.device.rawValue], device: device.id)
    let registration = try await register(device, key: own, renewsKey: request.renewsKey, for: sender)
    var line = DeviceLine(registration.device)
    line.warnings = warnings(about: registration, for: sender)
    return try ServiceJSON.response(
      registration.isNew ? .created : .ok,
      WithMembers(object: line, members: registration.isKeyStored ? ["key": key.text] : [:]))
  }

  /// Returns warnings about the reasons for which no pushes reach the registered device, and about the tokens that it
  /// has taken over from another device.
  private func warnings(about registration: Ledger.Registration, for sender: Caller) -> [String] {
    let device = registration.device
    var warnings = registration.movedTokens.map(\.rawValue).sorted().map {
      "tokens.\($0): another device of the account had this token, which now belongs to this device"
    }
    let app = PushSchedule.App(bundleID: device.app, environment: device.environment)
    if let clients = test?.clients {
      if clients[app] == nil {
        warnings.append(
          "bundle_id: the setting 'apns' does not contain this app and environment, so nothing is pushed to the device")
      }
    } else {
      warnings.append("This service has no setting 'apns', so it pushes nothing.")
    }
    if let group = device.appGroup, !groups.own.contains(group), group != sender.defaults.group {
      warnings.append(
        "group: is not a group of this service, so no announcement can be made for it; add it to the setting 'groups'")
    }
    return warnings
  }

  private func register(
    _ device: NewDevice, key: NewKey, renewsKey: Bool, for sender: Caller
  ) async throws -> Ledger.Registration {
    let ownKey = sender.device == nil ? nil : sender.keyID
    do throws(LedgerError) {
      return try await ledger.register(
        device, key: key, renewsKey: renewsKey, with: ownKey, by: .key(sender.keyID))
    } catch {
      // The device was removed, or got a new key, after the sender of this request was identified.
      throw error.code == .keyNotInForce ? KeyRing.unknown : Problem(error)
    }
  }

  private func remove(_ call: Call) async throws -> Response {
    let sender = try call.sender
    let isRemoved = try await ledger.removeDevice(
      account: sender.account, id: call.parameter, by: .key(sender.keyID))
    guard isRemoved else { throw Self.unknown }
    return try ServiceJSON.removed(call.parameter)
  }

  // MARK: Testing

  private func sendTest(_ call: Call) async throws -> Response {
    guard let device = try await ledger.device(account: try call.sender.account, id: call.parameter) else {
      throw Self.unknown
    }
    guard let test else {
      throw Problem(
        .unprocessableContent, "push_unavailable", "Pushes need the setting 'apns', which this service does not have.")
    }
    let outcome = try await test.send(to: device)
    await administration.record(.deviceTested, call, subject: device.id)
    return try ServiceJSON.response(.ok, outcome)
  }

  // MARK: Catching up

  /// The highest value of `after`: the largest whole number that every reader of JSON knows exactly.
  private static let highestSequence = 1 << 53 - 1

  /// An announcement that was pushed, without its payload.
  private struct Pushed: Encodable {
    var sequence: Int64
    var id: String?
    var pushedAt: Date
    var state: String

    enum CodingKeys: String, CodingKey {
      case sequence, id, state
      case pushedAt = "pushed_at"
    }
  }

  /// Answers with the pushed announcements, as far back as the service keeps pushes (`retention_days`).
  private func catchUp(_ call: Call) async throws -> Response {
    let sender = try call.sender
    let after = try call.number("after", in: 0...Self.highestSequence) ?? 0
    let limit = try call.number("limit", in: 1...200) ?? 50
    let pushes = try await ledger.pushes(
      account: sender.account, device: call.parameter, afterSequence: Int64(after), limit: limit)
    // The device is read after the pushes, so that its last number is not lower than theirs.
    guard let device = try await ledger.device(account: sender.account, id: call.parameter) else { throw Self.unknown }
    var body = Data(#"{"announcements":["#.utf8)
    var separator = ""
    for push in pushes {
      guard let sequence = push.sequence else { continue }
      let pushed = try ReportJSON.data(
        of: Pushed(sequence: sequence, id: push.announcement, pushedAt: push.createdAt, state: push.state.rawValue))
      // The payload is the push's own JSON, byte for byte.
      body += Data(separator.utf8) + pushed.dropLast() + Data(#","payload":"#.utf8) + push.body + Data("}".utf8)
      separator = ","
    }
    body += Data(#"],"last_sequence":\#(device.lastSequence)}"#.utf8)
    return ServiceJSON.response(.ok, buffer: ByteBuffer(bytes: body))
  }
}

/// A device as the service shows it: without its tokens, which are secrets of the phone.
private struct DeviceLine: Encodable {
  struct Token: Encodable {
    var registeredAt: Date
    /// How often APNs refused the token as bad.
    var refusals: Int
  }

  /// The outcome of the latest push that used a token of one kind.
  struct Outcome: Encodable {
    var state: String
    @ExplicitNull var reason: String?
    var text: String
    var at: Date
  }

  var id: String
  var bundleID: String
  var environment: String
  var tokens: [String: Token]
  var lastOutcomes: [String: Outcome]
  var group: String?
  var deviceGroup: String?
  var locale: String?
  var tone: String?
  var keyID: String?
  var lastSequence: Int64
  var registeredAt: Date
  var changedAt: Date
  /// The warnings about the registration; nil in all other answers.
  var warnings: [String]?

  init(_ device: Ledger.Device) {
    (id, bundleID, environment) = (device.id, device.app, device.environment.rawValue)
    tokens = Dictionary(
      uniqueKeysWithValues: device.tokens.map { kind, token in
        (kind.rawValue, Token(registeredAt: token.registeredAt, refusals: token.refusals))
      })
    lastOutcomes = Dictionary(
      uniqueKeysWithValues: device.outcomes.map { kind, outcome in
        let text = PushOutcomeText.text(of: outcome.state, reason: outcome.reason)
        return (
          kind.rawValue, Outcome(state: outcome.state.rawValue, reason: outcome.reason, text: text, at: outcome.at)
        )
      })
    (group, deviceGroup, locale, tone) = (device.appGroup, device.deviceGroup, device.locale, device.tone)
    (keyID, lastSequence) = (device.keyID, device.lastSequence)
    (registeredAt, changedAt) = (device.registeredAt, device.changedAt)
  }
}
