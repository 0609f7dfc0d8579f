// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Ledger
import PlaybackOrder
public import PushMessages
public import WebhookMessages

/// A payment for the lane of the tests.
public func payment(
  _ id: String, account: String = "", lane: String = "counter", sequence: Int64? = nil, payload: String = "{}"
) -> StoredAnnouncement {
  StoredAnnouncement(
    account: account, id: id, lane: lane, category: .payment, sequence: sequence, payload: Data(payload.utf8))
}

/// A replay for the lane of the tests.
public func replayAnnouncement(_ id: String) -> StoredAnnouncement {
  var replay = payment(id)
  (replay.isReplay, replay.category) = (true, .alert)
  return replay
}

/// Returns the states of an announcement on its way to a state. The last of them is that state.
public func way(to state: Ledger.State) -> [Ledger.State] {
  switch state {
  case .accepted: []
  case .rendering: [.rendering]
  case .waiting: [.rendering, .waiting]
  case .playing: [.rendering, .waiting, .playing]
  case .played: [.rendering, .waiting, .playing, .played]
  case .cancelled, .failed, .expired, .quiet: [state]
  }
}

/// Returns 32 bytes for a text. Different texts of the tests have different bytes.
public func digestOf(_ text: String) -> Data { Data((text.utf8 + Array(repeating: 0, count: 32)).prefix(32)) }

/// A key of the tests, with a digest of its own.
public func newKey(_ id: String, digest: UInt8? = nil) -> NewKey {
  NewKey(
    id: id, account: "shop", digest: digest.map { Data(repeating: $0, count: 32) } ?? digestOf(id),
    scopes: ["announce", "read"])
}

/// A phone of the tests.
public func newDevice(
  _ id: String = "phone-1", account: String = "shop", environment: PushEnvironment = .production,
  group: String? = nil, tokens: [PushTokenKind: String] = [.alert: "a1"]
) -> NewDevice {
  NewDevice(
    account: account, id: id, app: "com.example.shop", environment: environment, deviceGroup: group, tokens: tokens)
}

/// A key of a device of the tests.
public func deviceKey(_ id: String, of device: String = "phone-1", account: String = "shop") -> NewKey {
  NewKey(id: id, account: account, digest: digestOf("\(account) \(id)"), scopes: ["device"], device: device)
}

extension Ledger.DeviceStore {
  /// Registers a device. By default, the id of its key is made from the id of the device.
  @discardableResult
  public func register(
    _ new: NewDevice, _ key: String? = nil, renewsKey: Bool = false
  ) async throws -> Ledger.Registration {
    let key = deviceKey(key ?? "\(new.account)-\(new.id)", of: new.id, account: new.account)
    return try await register(new, key: key, renewsKey: renewsKey, with: nil, by: .key("admin"))
  }
}

/// A push of the tests. The body contains the sequence number of the push.
public func newPush(
  _ device: String = "phone-1", _ kind: PushType = .alert, clip: String? = nil,
  expiresAt: Date = Date(timeIntervalSince1970: 1_800_003_600)
) -> NewPush {
  NewPush(
    device: device, kind: kind, priority: kind == .background ? 5 : 10, clip: clip, expiresAt: expiresAt,
    body: NewPush.Body(beforeSequence: Data(#"{"sequence":"#.utf8), afterSequence: Data("}".utf8)))
}

/// A clip of the tests. Its digest repeats one letter.
public func libraryClip(_ name: String, _ digit: Character = "a", group: String = "group.crier") -> LibrarySound {
  LibrarySound(name: name, group: group, sha256: String(repeating: digit, count: 64), bytes: 1_000)
}

/// An endpoint of the tests.
public func newEndpoint(
  _ path: String = "hooks", account: String = "shop",
  kinds: Set<WebhookEvent.Kind> = Set(WebhookEvent.Kind.registrable)
) throws -> NewWebhookEndpoint {
  NewWebhookEndpoint(account: account, url: try WebhookURL("https://shop.example/\(path)"), kinds: kinds)
}
