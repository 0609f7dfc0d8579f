// SPDX-License-Identifier: Apache-2.0

import Foundation
import InstallationDiagnosis
import Ledger
import Testing

@testable import AnnouncementServer

@Suite("The state of the shop")
struct ShopStateTests {
  private static let since = Date(timeIntervalSince1970: 1_800_000_000)
  private static let gibibyte: Int64 = 1 << 30

  private func state(
    for viewer: ShopState.Viewer = .init(account: "shop", isAdmin: false), _ change: (inout ShopFacts) -> Void
  ) -> ShopState {
    var facts = ShopFacts()
    change(&facts)
    return ShopState(of: facts, for: viewer)
  }

  private func codes(_ change: (inout ShopFacts) -> Void) -> [ShopProblem.Code] { state(change).problems.map(\.code) }

  @Test("the state of a shop in which everything works is good, even with waiting announcements")
  func good() {
    let state = state { $0.waiting = 3 }
    #expect(state.state == .good && state.problems.isEmpty && state.waiting == 3)
  }

  /// Each problem alone, with the change of the facts that causes it.
  private static let alone: [(ShopProblem.Code, @Sendable (inout ShopFacts) -> Void)] = [
    (.deviceLost, { $0.deviceLoss = .init(since: since, cause: "device_missing") }),
    (.playerUnavailable, { $0.isPlayerMissing = true }),
    (.engineUnavailable, { $0.engineFault = "speaker_died" }),
    (.engineUnavailable, { $0.blockage = .init(since: since, cause: "engine_unavailable") }),
    (.ledgerUnavailable, { $0.ledgerFault = "busy" }),
    (.ledgerUnavailable, { $0.blockage = .init(since: since, cause: "read_only") }),
    (.diskFull, { $0.freeBytes = 1 }),
    (.diskFull, { $0.freeBytes = nil }),
    (.diskFull, { $0.blockage = .init(since: since, cause: "disk_full") }),
    (.diskLow, { $0.freeBytes = InstallationDiagnosis.lowFree - 1 }),
    (.notPlayed, { $0.unplayed = 2 }),
    (.pushUnreachable, { $0.pushOutage = .init(since: since, cause: "timed_out", count: 4) }),
    (.pushRefused, { $0.pushStop = .init(since: since, cause: "InvalidProviderToken", count: 4) }),
    (.providersInvalid, { $0.areProvidersInvalid = true }),
    (.paused, { $0.pause = .init(since: since, by: "till", account: "shop") }),
    (.queueLong, { $0.alarms = [.queueLong: since] }),
    (.shopSilent, { $0.alarms = [.shopSilent: since] }),
    (.webhookUnreachable, { $0.endpoints = ["shop": .init(unreachable: .init(since: since, count: 1))] }),
    (.webhookDisabled, { $0.endpoints = ["shop": .init(disabled: 2, disabledSince: since)] }),
    (.speechServerFailing, { $0.speechServerOutage = .init(since: since, cause: "timed_out", count: 1) }),
    (.setAside, { $0.setAside = 1 }),
  ]

  @Test("each single fault is reported as exactly one problem, whose level decides the state of the shop")
  func alone() {
    for (code, change) in Self.alone {
      let state = state(change)
      #expect(state.problems.map(\.code) == [code])
      #expect(state.state == (code.level == .bad ? .bad : .attention), "\(code)")
    }
    #expect(Set(Self.alone.map(\.0)) == Set(ShopProblem.Code.allCases))
  }

  @Test("every problem of a shop has a remedy in words, and the words contain no code")
  func remedies() throws {
    let commands = RemedyCommands(home: "/srv/my shop")
    for (code, change) in Self.alone {
      let report = try JSONSerialization.jsonObject(with: JSONEncoder().encode(state(change).report(commands)))
      let problem = try #require(((report as? [String: Any])?["problems"] as? [[String: Any]])?.first)
      let remedy = try #require(problem["remedy"] as? [String: Any])
      let text = try #require(remedy["text"] as? String)
      #expect(text.count > 10 && !text.contains(code.rawValue) && !text.contains("_lost"), "\(text)")
      #expect(text.hasSuffix(remedy["command"] is String ? ":" : "."), "\(text)")
      if let command = remedy["command"] as? String, command.hasPrefix("crier") {
        #expect(command.hasSuffix("--home '/srv/my shop'"))
      }
      #expect(Set(problem.keys) == ["code", "level", "since", "by", "count", "remedy", "cause"])
    }
  }

  @Test("a lost device and full disks have the remedies that crier doctor gives")
  func sameWords() {
    let commands = RemedyCommands(home: "/srv")
    #expect(commands.deviceLost.text.hasPrefix("Connect the device or start its sound server"))
    #expect(commands.deviceLost.command == "crier queue --home /srv")
    #expect(commands.diskRoom.command == "du -xh --max-depth=1 /srv")
    #expect(RemedyCommands.pushServer("api.push.apple.com:443").command?.hasPrefix("curl") == true)
  }

  @Test("the worst problem decides the state of the shop and comes first, and problems of one level have a fixed order")
  func order() {
    let all = state { facts in for (_, change) in Self.alone { change(&facts) } }
    #expect(all.state == .bad)
    let codes = all.problems.map(\.code)
    #expect(codes.first == .deviceLost)
    #expect(codes == codes.filter { $0.level == .bad } + codes.filter { $0.level == .attention })
    #expect(
      self.codes {
        $0.setAside = 1
        $0.pause = .init(since: Self.since)
        $0.freeBytes = 1
        $0.isPlayerMissing = true
      } == [.playerUnavailable, .diskFull, .paused, .setAside])
  }

  @Test("the problem of a paused shop has the author of the pause, its time and the number of waiting announcements")
  func pause() throws {
    let pause = Ledger.Pause(since: Self.since, by: "till", account: "shop")
    let problem = try #require(
      state {
        $0.pause = pause
        $0.waiting = 24
      }.problems.first)
    #expect(problem.by == "till" && problem.since == Self.since && problem.count == 24 && problem.cause == nil)
  }

  @Test("the key that paused is shown only to its account and administrators, and a pausing command is shown to all")
  func whoPaused() {
    func by(_ viewer: ShopState.Viewer, _ account: String?) -> String? {
      state(for: viewer) { $0.pause = .init(since: Self.since, by: "name", account: account) }.problems.first?.by
    }
    #expect(by(.init(account: "shop", isAdmin: false), "shop") == "name")
    #expect(by(.init(account: "kiosk", isAdmin: false), "shop") == nil)
    #expect(by(.init(account: "kiosk", isAdmin: true), "shop") == "name")
    #expect(by(.init(account: "kiosk", isAdmin: false), nil) == "name")
  }

  @Test("an account sees only problems of its own endpoints, and an administrator sees problems of all endpoints")
  func endpoints() {
    let change: (inout ShopFacts) -> Void = {
      $0.endpoints = [
        "shop": .init(unreachable: .init(since: Self.since, cause: "timed_out", count: 2)),
        "kiosk": .init(
          unreachable: .init(since: Self.since.addingTimeInterval(-60), cause: "unreachable", count: 1), disabled: 3,
          disabledSince: Self.since),
      ]
    }
    let shop = state(for: .init(account: "shop", isAdmin: false), change).problems
    #expect(shop.map(\.code) == [.webhookUnreachable] && shop[0].count == 2 && shop[0].cause == "timed_out")
    #expect(state(for: .init(account: "other", isAdmin: false), change).state == .good)
    let admin = state(for: .all, change).problems
    #expect(admin.map(\.code) == [.webhookUnreachable, .webhookDisabled] && admin.map(\.count) == [3, 3])
    #expect(admin[0].since == Self.since.addingTimeInterval(-60) && admin[0].cause == "unreachable")
  }

  @Test("an account whose endpoints all work has no problem")
  func workingEndpoints() { #expect(state { $0.endpoints = ["shop": .init()] }.state == .good) }

  @Test("the disk is low below one gibibyte, and full below eight mebibytes")
  func disk() {
    #expect(codes { $0.freeBytes = Self.gibibyte } == [])
    #expect(codes { $0.freeBytes = Self.gibibyte - 1 } == [.diskLow])
    #expect(codes { $0.freeBytes = 8 << 20 } == [.diskLow])
    #expect(codes { $0.freeBytes = (8 << 20) - 1 } == [.diskFull])
    #expect(codes { $0.freeBytes = 0 } == [.diskFull])
  }

  @Test("a problem that has no time of its own gets the time at which it was first seen")
  func firstSeen() {
    let first = state {
      $0.areProvidersInvalid = true
      $0.firstSeen = [.providersInvalid: Self.since, .paused: .distantPast]
    }
    #expect(first.problems.map(\.since) == [Self.since])
    let own = state {
      $0.deviceLoss = .init(since: Self.since)
      $0.firstSeen = [.deviceLost: .distantPast]
    }
    #expect(own.problems.map(\.since) == [Self.since])
  }

  @Test("alarms for a pause, a lost device or unreachable pushes add no problems of their own to the shop's state")
  func alarms() {
    #expect(codes { $0.alarms = [.paused: Self.since, .deviceLost: Self.since, .pushUnreachable: Self.since] } == [])
  }

  @Test("a problem that blocks announcements has the start of the blockage and the number of waiting announcements")
  func blocked() {
    let state = state {
      $0.freeBytes = 0
      $0.waiting = 5
      $0.blockage = .init(since: Self.since, cause: "disk_full")
    }
    #expect(state.problems.map(\.code) == [.diskFull])
    #expect(state.problems[0].since == Self.since && state.problems[0].count == 5)
  }
}
