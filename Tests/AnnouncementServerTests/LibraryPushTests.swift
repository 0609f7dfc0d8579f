// SPDX-License-Identifier: Apache-2.0

import APNSSimulator
import Announcements
import Crypto
import Foundation
import HTTPTypes
import Ledger
import PushDelivery
import PushMessages
import ServiceAccess
import TestSupport
import Testing

@testable import AnnouncementServer

/// Pushes of changes of the library, through the simulator of APNs.
@Suite("Pushing changes of the library", .timeLimit(.minutes(5)))
struct LibraryPushTests {
  private static let root = "NSFileProviderRootContainerItemIdentifier"
  private static let workingSet = "NSFileProviderWorkingSetContainerItemIdentifier"
  private static let app = "com.example.shop"

  private func token(_ digits: String) -> String { String(repeating: digits, count: 32) }

  private func service(_ simulator: APNSSimulator? = nil) async throws -> TestService {
    let folder = try TemporaryFolder()
    var clients: [PushSchedule.App: PushClient] = [:]
    let key = try PushDelivery.ProviderKey(
      pem: P256.Signing.PrivateKey().pemRepresentation, id: "ABC123DEFG", team: "TEAM123456")
    let authority = folder.url.appending(path: "ca.pem")
    try Data((simulator?.certificateAuthority ?? "").utf8).write(to: authority)
    let server = PushServer(
      host: "localhost", port: simulator?.port ?? 1, trustRoots: simulator == nil ? nil : authority)
    clients[PushSchedule.App(bundleID: Self.app, environment: .production)] = PushClient(
      connections: try PushConnections(server: server), tokens: ProviderTokens(key: key))
    let voices = folder.url.appending(path: "Voices", directoryHint: .isDirectory)
    let service = try TestService(in: folder) { [clients] in
      $0.pushes = PushParts(clients: clients)
      $0.packs = [voices]
      $0.settings.groups = ["group.tills"]
      // The clock of the pace moves only when a test waits.
      $0.time = { .zero }
    }
    // These sounds and packs existed before the phones were registered.
    await service.server.packWatch.look()
    return service
  }

  private func register(
    _ id: String, _ tokens: [PushTokenKind: String], in service: TestService, account: String = "shop",
    group: String? = nil, app: String = LibraryPushTests.app
  ) async throws {
    let key = APIKey.make()
    _ = try await service.ledger.register(
      NewDevice(account: account, id: id, app: app, environment: .production, appGroup: group, tokens: tokens),
      key: NewKey(id: key.id, account: account, digest: key.digest, scopes: ["device"], device: id), renewsKey: false,
      with: nil, by: .currentUser)
  }

  /// Looks at the changes once, and returns the new pushes: the device, and the identifier of the container.
  private func look(_ service: TestService) async throws -> [String] {
    let known = try await service.ledger.unfinishedPushes().last?.number ?? 0
    try await service.server.pushService.orThrow("pushes").library.look()
    let new = try await service.ledger.unfinishedPushes(after: known)
    let started = try await service.ledger.startSending(new.map(\.number))
    return try started.map { push, _ in
      let body = try JSONSerialization.jsonObject(with: push.body) as? [String: Any]
      #expect(push.priority == 5 && push.collapseID?.hasPrefix("library-") == true && push.sequence == nil)
      guard push.kind == .fileProvider else {
        #expect(push.kind == .background && (body?["aps"] as? [String: Int]) == ["content-available": 1])
        return "\(push.device) background"
      }
      return "\(push.device) \(body?["container-identifier"] as? String ?? "")"
    }.sorted()
  }

  @Test("a phone gets one push in each interval, first for the working set, then for each shown container in turn")
  func paced() async throws {
    let service = try await service()
    let client = try await service.client()
    try await register("phone", [.fileProvider: token("ab"), .alert: token("ac")], in: service)
    try await register("deaf", [.alert: token("ad")], in: service)
    #expect(try await look(service).isEmpty)
    _ = try await client.post(payment("p0", "1.00"))
    #expect(try await look(service) == ["phone \(Self.workingSet)"])
    for container in ["root", "clips", "packs", "my folder"] {
      _ = try await client.send(
        .put, "/v1/devices/phone/enumerators/\(container.replacing(" ", with: "%20"))")
    }
    for number in 2...20 { _ = try await client.post(payment("p\(number)", "\(number).00")) }
    // The working set was pushed a moment ago.
    #expect(try await look(service).isEmpty)
    for number in 21...40 {
      _ = try await client.post(payment("p\(number)", "\(number).00"))
      if number.isMultiple(of: 10) { #expect(try await look(service).isEmpty) }
    }
    service.wait(.seconds(299))
    #expect(try await look(service).isEmpty)
    #expect(try await client.send(.delete, "/v1/devices/phone/enumerators/clips").status == 200)
    for expected in [Self.workingSet, Self.root] {
      service.wait(.seconds(1))
      #expect(try await look(service) == ["phone \(expected)"])
      #expect(try await look(service).isEmpty)
      service.wait(.seconds(299))
    }
    // The working set changes again, and waits for its turn. A container that is no longer shown loses its turn.
    _ = try await client.post(payment("p41", "41.00"))
    for expected in ["my folder", Self.workingSet, Self.root] {
      service.wait(.seconds(1))
      #expect(try await look(service) == ["phone \(expected)"])
      service.wait(.seconds(299))
    }
    service.wait(.seconds(3_600))
    #expect(try await look(service).isEmpty)
  }

  @Test("a clip leads to pushes only to devices of its account and group whose app is configured")
  func whose() async throws {
    let service = try await service()
    try await register("a", [.fileProvider: token("aa")], in: service)
    try await register("b", [.fileProviderExtension: token("ab")], in: service, group: "group.tills")
    try await register("c", [.fileProvider: token("ac")], in: service, account: "kiosk")
    try await register("d", [.fileProvider: token("ad")], in: service, app: "com.example.other")
    _ = try await service.client().post(payment("p1", "1.00", #""group":"group.tills""#))
    #expect(try await look(service) == ["b \(Self.workingSet)"])
    _ = try await service.client(account: "kiosk").post(payment("p1", "1.00"))
    #expect(try await look(service) == ["c \(Self.workingSet)"])
    _ = try await service.client().post(payment("p1b", "1.00"))
    #expect(try await look(service) == ["a \(Self.workingSet)"])
  }

  @Test("changed tones are pushed to all phones of their app group, in every account, and to no other phone")
  func tones() async throws {
    let service = try await service()
    try await register("a", [.fileProvider: token("aa")], in: service, account: "kiosk", group: "group.tills")
    try await register("b", [.background: token("ba")], in: service, group: "group.tills")
    try await register("c", [.fileProvider: token("ca"), .background: token("cb")], in: service)
    for container in ["packs", "tones"] {
      _ = try await service.ledger.addEnumerator(of: container, account: "kiosk", device: "a")
    }
    let digest = String(repeating: "d", count: 64)
    try await service.ledger.setLibraryTones(
      [
        LibrarySound(name: "chime.wav", group: "group.tills", sha256: digest, bytes: 1_000)
      ], unreadable: [])
    #expect(try await look(service) == ["a \(Self.workingSet)", "b background"])
    service.wait(.seconds(300))
    #expect(try await look(service) == ["a tones"])
    service.wait(.seconds(3_600))
    #expect(try await look(service).isEmpty)
  }

  @Test("a changed voice pack is pushed to all devices, and background pushes go out at most three times an hour")
  func packs() async throws {
    let service = try await service()
    let voices = service.folder.url.appending(path: "Voices")
    try await register("a", [.fileProvider: token("aa"), .alert: token("ab")], in: service)
    try await register("b", [.background: token("ba")], in: service, account: "kiosk", group: "group.tills")
    _ = try await service.ledger.addEnumerator(of: "packs", account: "shop", device: "a")
    _ = try await service.ledger.addEnumerator(of: "clips", account: "shop", device: "a")
    func change(_ words: [String]) async throws {
      try writePack("shop", in: voices, words: words)
      await service.server.packWatch.look()
    }
    try await change(["one"])
    #expect(try await look(service) == ["a \(Self.workingSet)", "a background", "b background"])
    var backgrounds: [Int] = []
    var files: [String] = []
    for minute in 1...60 {
      service.wait(.seconds(60))
      try await change(["one", "word\(minute)"])
      let pushes = try await look(service)
      if pushes.contains("b background") { backgrounds.append(minute) }
      files += pushes.filter { !$0.hasSuffix("background") }.map { "\(minute) \($0)" }
    }
    #expect(backgrounds == [20, 40, 60])
    #expect(files.prefix(3) == ["5 a packs", "10 a \(Self.workingSet)", "15 a packs"] && files.count == 12)
  }

  @Test("one change leads to one push for each phone, however many containers the phones show")
  func bounded() async throws {
    let service = try await service()
    let ids = (1...5).map { "phone\($0)" }
    for id in ids {
      try await register(id, [.fileProvider: token("a\(id.suffix(1))")], in: service)
      for number in 1...20 {
        _ = try await service.ledger.addEnumerator(of: "folder \(number)", account: "shop", device: id)
      }
    }
    _ = try await service.client().post(payment("p1", "1.00"))
    #expect(try await look(service) == ids.map { "\($0) \(Self.workingSet)" })
    var all: [String] = []
    for _ in 1...21 {
      service.wait(.seconds(300))
      let pushes = try await look(service)
      #expect(Set(pushes.map { $0.prefix { $0 != " " } }).count == pushes.count)
      all += pushes
    }
    #expect(all.count == 100 && Set(all).count == 100, "each container of each phone has its turn")
  }

  @Test("after a restart, pushes are sent again only for changes whose pushes may be missing")
  func restart() async throws {
    let service = try await service()
    try await register("a", [.fileProvider: token("aa")], in: service)
    let client = try await service.client()
    func restarted() async throws -> [String] {
      let known = try await service.ledger.unfinishedPushes().count
      let pushes = try service.server.pushService.orThrow("pushes")
      let library = LibraryPushes(
        pushes.parts, ledger: service.ledger, interval: .seconds(300), standardGroup: "group.crier",
        logger: service.log.logger, time: { .zero }, sent: {})
      await library.look()
      return try await service.ledger.unfinishedPushes().dropFirst(known).map(\.device)
    }
    _ = try await client.post(payment("p1", "1.00"))
    #expect(try await look(service).count == 1)
    #expect(try await restarted().isEmpty)
    _ = try await client.post(payment("p2", "2.00"))
    #expect(try await look(service).isEmpty, "the push is deferred")
    #expect(try await restarted() == ["a"])
    #expect(try await restarted().isEmpty)
  }

  @Test("a push has a voice pack and clip tokens only if the announcement is spoken entirely from the pack")
  func tokens() async throws {
    let service = try await service()
    try await register("phone", [.alert: token("ab")], in: service)
    let writer = try TestService.books.get().writer(for: "en-US")
    let text = payment("p1", "1.00", #""locale":"en-US","method":"clips","deliver":["push"],"device":"phone""#)
    let announcement = try PayloadDecoder.request(Data(text.utf8)).announcement
    let script = try writer.writing(of: announcement, shortenings: []).script
    try writePack(
      "shop", in: service.folder.url.appending(path: "Voices"), words: Set(script.tokens.map(\.name)).sorted())
    let client = try await service.client()
    // The second clip is found in the folder.
    for id in ["p1", "p2"] {
      let answer = try await client.post(text.replacing("p1", with: id))
      #expect(try answer.status == 201 && answer.string("method") == "clips", "\(answer.text)")
      #expect(try answer.value("tokens") == nil)
    }
    _ = try await client.post(text.replacing("p1", with: "p3").replacing("clips", with: "speech"))
    let pushes = try await service.ledger.pushes(account: "shop", device: "phone", afterSequence: 0, limit: 100)
    let contents = try pushes.map { try #require(try AlertMessage.Content(payload: $0.body)) }
    #expect(contents.map(\.spoken?.pack) == ["shop", "shop", nil])
    for content in contents.prefix(2) {
      #expect(content.spoken?.tokens.map(\.name) == script.tokens.map(\.name))
      #expect(content.spoken?.tokens.map(\.role.rawValue) == script.tokens.map(\.role.rawValue))
      #expect(content.spoken?.tokens.last?.pause == .end)
    }
  }

  @Test("APNs accepts the pushes of the library by topic, type and priority, even if an alert is sent too")
  func delivered() async throws {
    let simulator = try await APNSSimulator.start()
    let service = try await service(simulator)
    let (alert, files, background) = (token("a1"), token("a2"), token("a3"))
    try await register("phone", [.alert: alert, .fileProvider: files, .background: background], in: service)
    let deliveries = simulator.deliveries()
    service.run { [server = service.server] in try await server.pushService?.run() }
    let client = try await service.client()
    try writePack("shop", in: service.folder.url.appending(path: "Voices"))
    await service.server.packWatch.look()
    _ = try await client.post(payment("p1", "1.00", #""deliver":["push"],"device":"phone""#))
    var received: [String: Push] = [:]
    for await push in deliveries {
      received[push.type] = push
      if received.count == 3 { break }
    }
    let provider = try #require(received["fileprovider"])
    #expect(provider.device == files && provider.topic == "com.example.shop.pushkit.fileprovider")
    #expect(provider.priority == 5 && (provider.expiration ?? 0) > 0)
    #expect(String(decoding: provider.payload, as: UTF8.self) == #"{"container-identifier":"\#(Self.workingSet)"}"#)
    let woken = try #require(received["background"])
    #expect(woken.device == background && woken.topic == "com.example.shop" && woken.priority == 5)
    #expect(String(decoding: woken.payload, as: UTF8.self) == #"{"aps":{"content-available":1}}"#)
    #expect(received["alert"]?.device == alert)
    await simulator.stop()
  }
}
