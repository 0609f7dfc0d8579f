// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import LedgerTestSupport
import Testing

@testable import Ledger
@testable import SQLiteLedger

@Suite("Migration of a ledger whose accounts and payloads contain the kinds and defaults of announcements")
struct KindsMigrationTests {
  let place: TemporaryLedger

  init() throws {
    place = try TemporaryLedger()
    try EarlierLedger.write(to: place.file)
  }

  /// An announcement without its id and payload.
  private struct Summary: Equatable {
    var account: String
    var kind: StoredAnnouncement.Kind
    var isReplay = false
    var locale: String?
    var group: String?
    var state: Ledger.State
  }

  @Test(
    "in the migration, each announcement keeps its account, id and state, and gets its kind and its sender's defaults")
  func kinds() async throws {
    let entries = try await place.open().recent().sorted { $0.number < $1.number }
    let shop = Summary(account: "shop", kind: .request, locale: "zh-CN", group: "group.tills", state: .waiting)
    var played = shop
    played.state = .played
    let expected = [
      played, Summary(account: "crier:files", kind: .file, state: .played), shop, shop,
      Summary(account: "kiosk", kind: .request, state: .waiting), shop,
      Summary(
        account: "crier:replay", kind: .request, isReplay: true, locale: "zh-CN", group: "group.tills",
        state: .accepted),
      Summary(account: "crier:replay:crier:files", kind: .file, isReplay: true, state: .accepted),
      Summary(account: "crier:files", kind: .file, state: .accepted),
    ]
    let migrated = entries.map {
      Summary(
        account: $0.account, kind: $0.kind, isReplay: $0.isReplay, locale: $0.defaultLocale, group: $0.defaultGroup,
        state: $0.state)
    }
    #expect(migrated == expected)
    #expect(entries.allSatisfy { $0.defaultPack == nil })
    #expect(entries.prefix(6).map(\.id).filter { $0.hasPrefix("waiting") } == (1...4).map { "waiting-\($0)" })
  }

  @Test("after the migration, each payload has the bytes that were sent")
  func payloads() async throws {
    let ledger = try place.open()
    let sent: [(account: String, id: String, payload: String)] = [
      ("shop", "heard-1", #"{"id":"heard-1","amount":"12.50","currency":"CNY","deliver":["clip","play"]}"#),
      ("shop", "waiting-1", #" {"id":"waiting-1","amount":"20.00","currency":"CNY","deliver":["play","clip"]}"#),
      (
        "shop", "waiting-2",
        #"{"id":"waiting-2","amount":"0.05","currency":"USD","locale":"en-US","group":"group.tills","deliver":["play"]}"#
      ),
      ("kiosk", "waiting-3", #"{"text":"The shop closes in ten minutes.","id":"waiting-3","deliver":["play"]}"#),
      ("shop", "waiting-4", #"{"id":"waiting-4","amount":"7","currency":"CNY","kind":"refunded","deliver":["play"]}"#),
    ]
    for (account, id, payload) in sent {
      let entry = try #require(try await ledger.entry(account: account, id: id))
      #expect(String(decoding: entry.payload, as: UTF8.self) == payload)
    }
    #expect(try await ledger.entry(7)?.payload == Data(sent[0].payload.utf8), "a replay has its original's payload")
  }

  @Test("the migration leaves answers, replays, keys, events and numbers as they were")
  func others() async throws {
    let ledger = try place.open()
    #expect(try await ledger.announcement(account: "shop", id: "clip-only")?.answer?.status == 201)
    let replay = try #require(try await ledger.replay(7))
    #expect(replay.original == 1 && replay.requester == "shop")
    #expect(try await ledger.replay(8)?.original == 2)
    #expect(try await ledger.keys().map(\.account).sorted() == ["kiosk", "shop"])
    #expect(try await ledger.events(limit: 100).count == 25)
    #expect(try await ledger.accept(payment("new")).number == 10)
    let clip = try #require(try await ledger.entry(1)?.clip)
    #expect(try await ledger.isClipOfOthers(clip, than: "kiosk"))
    #expect(try await !ledger.isClipOfOthers(clip, than: "shop"))
  }

  @Test(
    "the migration finds defaults of every form at the start of a payload, and nowhere else",
    arguments: [
      (#"{"crier:defaults":{"pack":"a \"b\" \\ } 张三"},"text":"x"}"#, #"{"text":"x"}"#, #"a "b" \ } 张三"#),
      ("\n\t{\"crier:defaults\":{\"pack\":\"\\u0041\"}, \"text\":\"x\"}\n", "\n\t{ \"text\":\"x\"}\n", "A"),
      (#"{"text":"x","unknown":{"crier:defaults":{"pack":"p"},"a":1}}"#, nil, nil),
      (#"{"text":"\"crier:defaults\":{\"pack\":\"p\"},"}"#, nil, nil),
      (#"{"crier:defaults":{"pack":"p""#, nil, nil), (#"{"crier:defaults":{"pack":7},"text":"x"}"#, nil, nil),
      (#"{"crier:defaults":"#, nil, nil), (#"{"crier:defaults":{"pack":"p"}"#, nil, nil), ("", nil, nil),
    ])
  func forms(stored: String, sent: String?, pack: String?) async throws {
    let database = try DatabaseQueue(waitingFor: place.file)
    try await database.write {
      try $0.execute(sql: "UPDATE announcements SET payload = ? WHERE number = 3", arguments: [Data(stored.utf8)])
    }
    try database.close()
    let entry = try #require(try await place.open().entry(3))
    #expect(String(decoding: entry.payload, as: UTF8.self) == sent ?? stored)
    #expect(entry.defaultPack == pack)
  }

  @Test("the migration changes all payloads, even if they are too many to be read at once")
  func many() async throws {
    let database = try DatabaseQueue(waitingFor: place.file)
    let payload = Data(#"{"crier:defaults":{"locale":"ja-JP"},"text":"x"}"#.utf8)
    try await database.write { database in
      for number in 100..<600 {
        try database.execute(
          sql: """
            INSERT INTO announcements (number, account, id, lane, category, payload, state, accepted_at, changed_at)
            VALUES (?, 'many', ?, 'null', 'information', ?, 'accepted', 1700000000000, 1700000000000)
            """, arguments: [number, "\(number)", payload])
      }
    }
    try database.close()
    let entries = try await place.open().recent(500)
    #expect(entries.count == 500)
    #expect(entries.allSatisfy { $0.defaultLocale == "ja-JP" && $0.payload == Data(#"{"text":"x"}"#.utf8) })
  }
}
