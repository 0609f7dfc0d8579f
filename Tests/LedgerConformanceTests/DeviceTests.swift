// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import PushMessages
import Testing

extension Ledger.DeviceStore {
  fileprivate func tokens(_ id: String = "phone-1") async throws -> [PushTokenKind: String] {
    try await device(account: "shop", id: id)?.tokens.mapValues(\.text) ?? [:]
  }
}

@Suite("Devices", .removesLedgers)
struct DeviceTests {
  @Test("a device is stored with all its values and survives reopening the ledger", arguments: LedgerUnderTest.all)
  func everything(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    let new = NewDevice(
      account: "shop", id: "收银-1", app: "com.example.shop", environment: .sandbox, appGroup: "group.tills",
      deviceGroup: "counter", locale: "zh-CN", tone: "cash.wav",
      tokens: [.alert: "a1", .background: "b2", .fileProvider: "c3", .fileProviderExtension: "d4"])
    let registration = try await ledger.register(new)
    #expect(registration.isNew && registration.isKeyStored)
    for ledger in [ledger, try await place.open()] {
      let device = try #require(try await ledger.device(account: "shop", id: "收银-1"))
      #expect(device == registration.device)
      #expect(device.account == "shop" && device.app == "com.example.shop" && device.environment == .sandbox)
      #expect(device.appGroup == "group.tills" && device.deviceGroup == "counter")
      #expect(device.locale == "zh-CN" && device.tone == "cash.wav")
      #expect(device.tokens.mapValues(\.text) == new.tokens)
      #expect(device.tokens.values.allSatisfy { $0.registeredAt == place.clock.now && $0.refusals == 0 })
      #expect(device.keyID == "shop-收银-1" && device.lastSequence == 0)
      #expect(device.registeredAt == place.clock.now && device.changedAt == place.clock.now)
    }
  }

  @Test(
    "another registration replaces all values of the device except its key and the time of its registration",
    arguments: LedgerUnderTest.all)
  func replaced(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    var first = newDevice(group: "counter", tokens: [.alert: "a1", .background: "b2"])
    (first.appGroup, first.locale, first.tone) = ("group.tills", "en-US", "cash.wav")
    let former = try await ledger.register(first).device
    place.clock.advance(by: 60)
    let registration = try await ledger.register(newDevice(tokens: [.alert: "a1", .fileProvider: "c3"]), "other")
    #expect(!registration.isNew && !registration.isKeyStored)
    let device = registration.device
    #expect(device.appGroup == nil && device.deviceGroup == nil && device.locale == nil && device.tone == nil)
    #expect(device.tokens.mapValues(\.text) == [.alert: "a1", .fileProvider: "c3"])
    #expect(device.keyID == former.keyID && device.registeredAt == former.registeredAt)
    #expect(device.changedAt == place.clock.now)
    #expect(try await ledger.keys().map(\.id) == ["shop-phone-1"])
  }

  @Test(
    "each registration renews a token's time, and keeps the refusals unless the token, app or environment changes",
    arguments: LedgerUnderTest.all)
  func age(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    try await ledger.register(newDevice())
    func token() async throws -> Ledger.Device.Token? {
      try await ledger.device(account: "shop", id: "phone-1")?.tokens[.alert]
    }
    try await ledger.countRefusal(ofToken: "a1", account: "shop", device: "phone-1")
    place.clock.advance(by: 60)
    let since = place.clock.now
    place.clock.advance(by: 60)
    try await ledger.register(newDevice(group: "counter"))
    #expect(try await token()?.registeredAt == place.clock.now)
    #expect(try await token()?.refusals == 1)
    // APNs reports late that the token was no longer valid before it was registered again.
    try await ledger.removeToken("a1", account: "shop", device: "phone-1", invalidSince: since)
    #expect(try await token()?.text == "a1")

    for change: (inout NewDevice) -> Void in [
      { $0.tokens = [.alert: "a2"] }, { $0.app = "com.example.other" }, { $0.environment = .sandbox },
    ] {
      place.clock.advance(by: 60)
      var new = newDevice()
      change(&new)
      try await ledger.register(new)
      #expect(try await token()?.registeredAt == place.clock.now)
      #expect(try await token()?.refusals == 0)
      try await ledger.countRefusal(ofToken: new.tokens[.alert] ?? "", account: "shop", device: "phone-1")
    }
  }

  @Test(
    "a token moves to the device that registers it, within one account, app and environment",
    arguments: LedgerUnderTest.all)
  func moved(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    try await ledger.register(newDevice("old", tokens: [.alert: "a1", .background: "b2"]))
    try await ledger.register(newDevice("sandbox", environment: .sandbox))
    try await ledger.register(newDevice("kiosk", account: "kiosk"))
    let changedAt = try await ledger.device(account: "shop", id: "old")?.changedAt
    place.clock.advance(by: 60)
    #expect(try await ledger.register(newDevice("new")).movedTokens == [.alert])
    #expect(try await ledger.register(newDevice("new")).movedTokens == [])
    #expect(try await ledger.device(account: "shop", id: "old")?.changedAt == changedAt?.addingTimeInterval(60))
    #expect(try await ledger.tokens("old") == [.background: "b2"])
    #expect(try await ledger.tokens("new") == [.alert: "a1"])
    #expect(try await ledger.tokens("sandbox") == [.alert: "a1"])
    #expect(try await ledger.device(account: "kiosk", id: "kiosk")?.tokens[.alert]?.text == "a1")
    // A device that names one token for two kinds keeps both.
    try await ledger.register(newDevice("new", tokens: [.alert: "a1", .background: "a1"]))
    #expect(try await ledger.tokens("new") == [.alert: "a1", .background: "a1"])
  }

  @Test(
    "a device's key is stored once, and only a renewal replaces the key and revokes the former key",
    arguments: LedgerUnderTest.all)
  func key(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await ledger.register(newDevice(), "first")
    #expect(try await !ledger.register(newDevice(), "second").isKeyStored)
    #expect(try await ledger.key(id: "second") == nil)
    let renewed = try await ledger.register(newDevice(), "third", renewsKey: true)
    #expect(renewed.isKeyStored && !renewed.isNew && renewed.device.keyID == "third")
    #expect(try await ledger.key(id: "first") == nil)
    let key = try #require(try await ledger.key(id: "third"))
    #expect(key.device == "phone-1" && key.account == "shop" && key.scopes == ["device"])
    let acts = try await ledger.administrativeActs()
    #expect(acts.map(\.action) == [.keyCreated, .keyRevoked, .keyCreated])
    #expect(acts.map(\.subject) == ["first", "first", "third"] && acts.allSatisfy { $0.actor == "key:admin" })
  }

  @Test(
    "a key is refused if it belongs to another account or device than the registration, or if it already exists",
    arguments: LedgerUnderTest.all)
  func wrongKey(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await ledger.createKey(newKey("taken"))
    for (key, code) in [
      (deviceKey("k", of: "phone-2"), LedgerError.Code.invalidValue), (deviceKey("k", account: "kiosk"), .invalidValue),
      (newKey("k"), .invalidValue), (deviceKey("taken"), .keyExists),
    ] {
      let error = try await #require(throws: LedgerError.self) {
        try await ledger.register(newDevice(), key: key, renewsKey: false, with: nil, by: .key("admin"))
      }
      #expect(error.code == code)
    }
    #expect(try await ledger.devices(account: "shop").isEmpty)
  }

  @Test(
    "the removal of a device revokes all its keys, also during a rotation, and leaves other devices alone",
    arguments: LedgerUnderTest.all)
  func removal(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    try await ledger.register(newDevice(), "first")
    try await ledger.register(newDevice("phone-2", tokens: [.alert: "a2"]), "other")
    try await ledger.register(newDevice(account: "kiosk"), "kiosk's")
    try await ledger.rotateKey("first", to: "second", digest: digestOf("second"), overlap: 3600)
    #expect(try await ledger.device(account: "shop", id: "phone-1")?.keyID == "second")
    for (account, id) in [("shop", "nobody"), ("shop", "phone-1\0"), ("shop\0", "phone-1"), ("", "phone-1")] {
      #expect(try await !ledger.removeDevice(account: account, id: id, by: .key("admin")))
    }
    #expect(try await ledger.removeDevice(account: "shop", id: "phone-1", by: .key("admin")))
    #expect(try await !ledger.removeDevice(account: "shop", id: "phone-1", by: .key("admin")))
    for id in ["first", "second"] { #expect(try await ledger.key(id: id) == nil) }
    for id in ["other", "kiosk's"] { #expect(try await ledger.key(id: id) != nil) }
    #expect(try await ledger.device(account: "shop", id: "phone-1") == nil)
    #expect(try await ledger.tokens("phone-2") == [.alert: "a2"])
    #expect(try await ledger.device(account: "kiosk", id: "phone-1")?.tokens.count == 1)
    #expect(try await ledger.register(newDevice(tokens: [:]), "third").device.tokens.isEmpty)
  }

  @Test(
    "a removed device cannot register itself again with its key, not even if a new device has its id",
    arguments: LedgerUnderTest.all)
  func removedMeanwhile(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    func register(with key: String) async throws -> LedgerError.Code? {
      do {
        try await ledger.register(
          newDevice(tokens: [:]), key: deviceKey("k"), renewsKey: false, with: key, by: .key(key))
        return nil
      } catch { return error.code }
    }
    #expect(try await register(with: "first") == .keyNotInForce)
    try await ledger.register(newDevice(), "first")
    #expect(try await register(with: "first") == nil)
    #expect(try await register(with: "nobody") == .keyNotInForce)
    try await ledger.removeDevice(account: "shop", id: "phone-1", by: .key("admin"))
    #expect(try await register(with: "first") == .keyNotInForce)
    try await ledger.register(newDevice(), "second")
    #expect(try await register(with: "first") == .keyNotInForce)
    #expect(try await register(with: "second") == nil)
  }

  @Test("a device that registers itself stays in its group", arguments: LedgerUnderTest.all)
  func ownGroup(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await ledger.register(newDevice(group: "counter"), "first")
    for group in ["kitchen", nil] {
      let device = try await ledger.register(
        newDevice(group: group), key: deviceKey("k"), renewsKey: false, with: "first", by: .key("first")
      ).device
      #expect(device.deviceGroup == "counter")
    }
    #expect(try await ledger.register(newDevice()).device.deviceGroup == nil)
  }

  @Test(
    "a name means the device with that id or the devices of that group, and no id equals a group's name",
    arguments: LedgerUnderTest.all)
  func names(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    for id in ["c", "a", "b"] { try await ledger.register(newDevice(id, group: "counter", tokens: [.alert: id])) }
    try await ledger.register(newDevice("d", tokens: [.alert: "d"]))
    try await ledger.register(newDevice("a", account: "kiosk", group: "counter"))
    #expect(try await ledger.devices(account: "shop", named: "counter").map(\.id) == ["a", "b", "c"])
    #expect(try await ledger.devices(account: "shop", named: "d").map(\.id) == ["d"])
    for (account, name) in [("shop", "nobody"), ("shop", "counter\0"), ("shop\0", "counter"), ("shop", "")] {
      #expect(try await ledger.devices(account: account, named: name).isEmpty)
    }
    for (id, group) in [("counter", nil), ("e", "e"), ("e", "a"), ("b", "a"), ("d", "c")] {
      let error = try await #require(throws: LedgerError.self, "\(id)") {
        try await ledger.register(newDevice(id, group: group, tokens: [:]))
      }
      #expect(error.code == .deviceNameTaken)
    }
    // Another account has names of its own.
    try await ledger.register(newDevice("counter", account: "other"))
    #expect(try await ledger.devices(account: "shop").map(\.deviceGroup) == ["counter", "counter", "counter", nil])
  }

  @Test("the devices of an account are listed in pages in the order of their ids", arguments: LedgerUnderTest.all)
  func listing(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    for number in 10..<25 { try await ledger.register(newDevice("p\(number)", tokens: [:])) }
    try await ledger.register(newDevice("p15", account: "kiosk"))
    let all = (10..<25).map { "p\($0)" }
    #expect(try await ledger.devices(account: "shop").map(\.id) == all)
    #expect(try await ledger.devices(account: "shop", limit: 4).map(\.id) == Array(all.prefix(4)))
    #expect(try await ledger.devices(account: "shop", after: "p13", limit: 4).map(\.id) == Array(all[4..<8]))
    #expect(try await ledger.devices(account: "shop", after: "p24", limit: 100).isEmpty)
    #expect(try await ledger.devices(account: "shop", limit: 0).map(\.id) == ["p10"])
    #expect(try await ledger.devices(account: "shop", after: "p\0", limit: 100).isEmpty)
    #expect(try await ledger.devices(account: "shop\0").isEmpty)
  }

  @Test(
    "an account at its limit of devices cannot register another device, and can still change a registered device",
    arguments: LedgerUnderTest.all)
  func most(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    var options = LedgerUnderTest.Options()
    #expect(options.limits.mostDevices == 10_000)
    options.limits.mostDevices = 3
    let ledger = try await place.open(options)
    for number in 0..<3 { try await ledger.register(newDevice("p\(number)", tokens: [:])) }
    let error = try await #require(throws: LedgerError.self) { try await ledger.register(newDevice("one more")) }
    #expect(error.code == .tooManyDevices)
    #expect(try await ledger.key(id: "shop-one more") == nil)
    #expect(try await !ledger.register(newDevice("p0")).isNew)
    #expect(try await ledger.register(newDevice("one more", account: "kiosk")).isNew)
    try await ledger.removeDevice(account: "shop", id: "p0", by: .key("admin"))
    #expect(try await ledger.register(newDevice("one more")).isNew)
  }

  @Test(
    "a group at its limit takes no further device, also by a move, and its own devices can still be changed",
    arguments: LedgerUnderTest.all)
  func mostInGroup(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    var options = LedgerUnderTest.Options()
    #expect(options.limits.mostDevicesInGroup == 500)
    options.limits.mostDevicesInGroup = 2
    let ledger = try await place.open(options)
    for number in 0..<2 { try await ledger.register(newDevice("p\(number)", group: "counter", tokens: [:])) }
    try await ledger.register(newDevice("alone", tokens: [:]))
    for id in ["one more", "alone"] {
      let error = try await #require(throws: LedgerError.self) {
        try await ledger.register(newDevice(id, group: "counter", tokens: [:]))
      }
      #expect(error.code == .tooManyDevices)
    }
    #expect(try await !ledger.register(newDevice("p0", group: "counter", tokens: [:])).isNew)
    #expect(try await ledger.register(newDevice("one more", group: "kitchen", tokens: [:])).isNew)
    try await ledger.register(newDevice("p0", tokens: [:]))
    #expect(try await !ledger.register(newDevice("alone", group: "counter", tokens: [:])).isNew)
  }

  @Test(
    "a device with an invalid value is refused by an error that names the field, not the value, and nothing is stored",
    arguments: LedgerUnderTest.all)
  func refused(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    func changed(_ change: (inout NewDevice) -> Void) -> NewDevice {
      var new = newDevice()
      change(&new)
      return new
    }
    let long = String(repeating: "x", count: 513)
    let bad: [(NewDevice, String)] = [
      (changed { $0.account = "" }, "account"), (changed { $0.account = "a\0" }, "account"),
      (changed { $0.id = "" }, "id"), (changed { $0.id = "a\0b" }, "id"),
      (changed { $0.id = String(long.prefix(129)) }, "id"),
      (changed { $0.app = "" }, "app"), (changed { $0.app = String(long.prefix(156)) }, "app"),
      (changed { $0.appGroup = "" }, "appGroup"), (changed { $0.appGroup = "g\0" }, "appGroup"),
      (changed { $0.deviceGroup = "" }, "deviceGroup"), (changed { $0.deviceGroup = "\0" }, "deviceGroup"),
      (changed { $0.deviceGroup = String(long.prefix(129)) }, "deviceGroup"),
      (changed { $0.locale = "" }, "locale"), (changed { $0.tone = String(long.prefix(256)) }, "tone"),
      (changed { $0.tone = "a\0.wav" }, "tone"), (changed { $0.tokens = [.alert: ""] }, "tokens"),
      (changed { $0.tokens = [.alert: "a1", .background: long] }, "tokens"),
      (changed { $0.tokens = [.fileProvider: "a\0"] }, "tokens"),
    ]
    for (new, field) in bad {
      var key = deviceKey("k")
      (key.account, key.device) = (new.account, new.id)
      let error = try await #require(throws: LedgerError.self, "\(field)") {
        try await ledger.register(new, key: key, renewsKey: false, with: nil, by: .key("admin"))
      }
      #expect(error.code == .invalidValue && error.field?.hasPrefix(field) == true, "\(error)")
      #expect(error.description.hasPrefix("Changing the devices in the ledger ") && !error.description.contains("xx"))
    }
    #expect(try await ledger.keys().isEmpty)
  }

  // MARK: - Tokens

  @Test(
    "a token is removed only if it was registered before the time at which it was reported invalid",
    arguments: LedgerUnderTest.all)
  func unregistered(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    try await ledger.register(newDevice(tokens: [.alert: "a1", .background: "a1", .fileProvider: "c3"]))
    let moment = place.clock.now
    func remove(_ token: String, _ since: Date, device: String = "phone-1") async throws -> Bool {
      try await ledger.removeToken(token, account: "shop", device: device, invalidSince: since)
    }
    #expect(try await !remove("a1", moment - 1))
    #expect(try await !remove("a1", moment), "it was registered at this very moment")
    for (token, device) in [("a2", "phone-1"), ("a1", "phone-2"), ("a1\0", "phone-1"), ("a1", "phone-1\0")] {
      #expect(try await !remove(token, moment + 60, device: device))
    }
    #expect(try await !remove("a1", Date(timeIntervalSince1970: .nan)))
    #expect(try await ledger.tokens().count == 3)
    #expect(try await remove("a1", moment + 0.001))
    #expect(try await ledger.tokens() == [.fileProvider: "c3"])
    #expect(try await ledger.device(account: "shop", id: "phone-1")?.keyID != nil, "the device stays")

    // The phone gives the token again, and an answer from before arrives late.
    place.clock.advance(by: 60)
    try await ledger.register(newDevice())
    #expect(try await !remove("a1", moment + 30))
    #expect(try await ledger.tokens() == [.alert: "a1"])
  }

  @Test("APNs' refusals of a token are counted, and do not remove the token", arguments: LedgerUnderTest.all)
  func refusals(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await ledger.register(newDevice(tokens: [.alert: "a1", .background: "b2"]))
    for (token, device) in [
      ("a1", "phone-1"), ("a1", "phone-1"), ("a2", "phone-1"), ("b2\0", "phone-1"), ("b2", "p\0"),
    ] {
      try await ledger.countRefusal(ofToken: token, account: "shop", device: device)
    }
    let tokens = try await ledger.device(account: "shop", id: "phone-1")?.tokens
    #expect(tokens?[.alert]?.refusals == 2 && tokens?[.background]?.refusals == 0)
  }
}
