// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import PushMessages
import Testing

@Suite("Enumerators of devices", .removesLedgers)
struct EnumeratorTests {
  @Test(
    "an enumerator is stored once with the time of its first registration, and is removed with its device",
    arguments: LedgerUnderTest.all)
  func stored(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    try await ledger.register(newDevice())
    let first = try #require(try await ledger.addEnumerator(of: "packs", account: "shop", device: "phone-1"))
    #expect(first.isNew && first.container == "packs" && first.registeredAt == place.clock.now)
    place.clock.advance(by: 10)
    let again = try #require(try await ledger.addEnumerator(of: "packs", account: "shop", device: "phone-1"))
    #expect(!again.isNew && again.registeredAt == first.registeredAt)
    for (account, device) in [("kiosk", "phone-1"), ("shop", "phone-2"), ("shop\0", "phone-1")] {
      #expect(try await ledger.addEnumerator(of: "packs", account: account, device: device) == nil)
      #expect(try await !ledger.removeEnumerator(of: "packs", account: account, device: device))
    }
    #expect(try await ledger.libraryDevice(account: "shop", id: "phone-1")?.containers == ["packs"])
    #expect(try await ledger.removeEnumerator(of: "packs", account: "shop", device: "phone-1"))
    #expect(try await !ledger.removeEnumerator(of: "packs", account: "shop", device: "phone-1"))
    _ = try await ledger.addEnumerator(of: "packs", account: "shop", device: "phone-1")
    try await ledger.register(newDevice(environment: .sandbox), renewsKey: false)
    #expect(try await ledger.libraryDevice(account: "shop", id: "phone-1")?.containers == ["packs"])
    try await ledger.removeDevice(account: "shop", id: "phone-1", by: .currentUser)
    try await ledger.register(newDevice(), "new")
    #expect(try await ledger.libraryDevice(account: "shop", id: "phone-1")?.containers == [])
  }

  @Test(
    "a device's enumerators are listed in the order of registration, without those of other devices",
    arguments: LedgerUnderTest.all)
  func list(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let ledger = try await place.open()
    for (id, account) in [("phone-1", "shop"), ("phone-2", "shop"), ("phone-1", "kiosk")] {
      try await ledger.register(newDevice(id, account: account))
    }
    #expect(try await ledger.enumerators(account: "shop", device: "phone-1") == [])
    let start = place.clock.now
    for name in ["packs", "clips", "packs"] {
      _ = try await ledger.addEnumerator(of: name, account: "shop", device: "phone-1")
      place.clock.advance(by: 10)
    }
    _ = try await ledger.addEnumerator(of: "root", account: "shop", device: "phone-2")
    let listed = try #require(try await ledger.enumerators(account: "shop", device: "phone-1"))
    #expect(listed.map(\.container) == ["packs", "clips"] && listed.allSatisfy { !$0.isNew })
    #expect(listed.map(\.registeredAt) == [start, start.addingTimeInterval(10)])
    #expect(try await ledger.enumerators(account: "kiosk", device: "phone-1") == [])
    for (account, device) in [("kiosk", "phone-2"), ("shop", "phone-3"), ("shop\0", "phone-1"), ("shop", "\0")] {
      #expect(try await ledger.enumerators(account: account, device: device) == nil)
    }
  }

  @Test(
    "a device has a limited number of enumerators, whose names have 1 to 1,024 bytes", arguments: LedgerUnderTest.all)
  func limits(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    var options = LedgerUnderTest.Options()
    options.limits.mostEnumerators = 2
    let ledger = try await place.open(options)
    try await ledger.register(newDevice())
    for name in ["a", "b", "a"] {
      #expect(try await ledger.addEnumerator(of: name, account: "shop", device: "phone-1") != nil)
    }
    let error = try await #require(throws: LedgerError.self) {
      try await ledger.addEnumerator(of: "c", account: "shop", device: "phone-1")
    }
    #expect(error.code == .tooManyEnumerators)
    for name in ["", "a\0", String(repeating: "x", count: 1025)] {
      await #expect(throws: LedgerError.self) {
        try await ledger.addEnumerator(of: name, account: "shop", device: "phone-1")
      }
    }
  }

  @Test(
    "an account at its limit of enumerators cannot register another one, and can still register a known one again",
    arguments: LedgerUnderTest.all)
  func limitOfAccount(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    var options = LedgerUnderTest.Options()
    #expect(options.limits.mostEnumeratorsOfAccount == 20_000)
    options.limits.mostEnumeratorsOfAccount = 3
    let ledger = try await place.open(options)
    for (id, account) in [("a", "shop"), ("b", "shop"), ("a", "kiosk")] {
      try await ledger.register(newDevice(id, account: account))
    }
    func add(_ name: String, _ device: String, _ account: String = "shop") async throws {
      #expect(try await ledger.addEnumerator(of: name, account: account, device: device) != nil)
    }
    for (name, device) in [("1", "a"), ("2", "a"), ("1", "b"), ("1", "b")] { try await add(name, device) }
    for device in ["a", "b"] {
      let error = try await #require(throws: LedgerError.self) { try await add("3", device) }
      #expect(error.code == .tooManyEnumerators)
    }
    try await add("1", "a", "kiosk")
    try await ledger.removeDevice(account: "shop", id: "a", by: .currentUser)
    try await add("3", "b")
  }

  @Test(
    "devices with a push token are listed in pages, with the kinds of their tokens and with their enumerators",
    arguments: LedgerUnderTest.all)
  func devices(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    try await ledger.register(newDevice("a", tokens: [:]))
    try await ledger.register(newDevice("b", tokens: [.alert: "a1"]))
    try await ledger.register(newDevice("c", tokens: [.fileProvider: "c1", .fileProviderExtension: "d1"]))
    try await ledger.register(newDevice("b", account: "kiosk", tokens: [.background: "b1"]))
    _ = try await ledger.addEnumerator(of: "root", account: "shop", device: "c")
    var all: [Ledger.LibraryDevice] = []
    while case let page = try await ledger.libraryDevices(account: nil, after: all.last, limit: 1), !page.isEmpty {
      all += page
    }
    #expect(all.map { "\($0.account) \($0.id)" } == ["kiosk b", "shop b", "shop c"])
    #expect(all.map(\.hasFileProvider) == [false, false, true] && all.map(\.hasBackground) == [true, true, false])
    #expect(all.map(\.containers) == [[], [], ["root"]])
    #expect(try await ledger.libraryDevices(account: "shop", after: nil, limit: 500).map(\.id) == ["b", "c"])
    #expect(try await ledger.libraryDevices(account: "shop", after: all[1], limit: 500).map(\.id) == ["c"])
    #expect(try await ledger.libraryDevices(account: "nobody", after: nil, limit: 500).isEmpty)
    for device in all { #expect(try await ledger.libraryDevice(account: device.account, id: device.id) == device) }
    #expect(try await ledger.libraryDevice(account: "shop", id: "a") == nil)
  }

  @Test("a device that registers itself stays in its app group", arguments: LedgerUnderTest.all)
  func appGroup(kind: LedgerUnderTest) async throws {
    let ledger = try await kind.makePlace().open()
    var new = newDevice()
    new.appGroup = "group.tills"
    try await ledger.register(new)
    new.appGroup = "group.other"
    let own = try await ledger.register(
      new, key: deviceKey("other"), renewsKey: false, with: "shop-phone-1", by: .key("shop-phone-1"))
    #expect(own.device.appGroup == "group.tills")
    new.appGroup = nil
    #expect(try await ledger.register(new).device.appGroup == nil)
  }
}
