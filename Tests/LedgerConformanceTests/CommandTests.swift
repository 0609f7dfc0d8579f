// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import Testing

@Suite("Commands for the player", .removesLedgers)
struct CommandTests {
  @Test("the player of a lane receives each command once, in order", arguments: LedgerUnderTest.all)
  func inOrder(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let (player, watcher) = (try await place.open(), try await place.open())
    #expect(try await player.takeCommands(lane: "counter").isEmpty)
    let all: [Ledger.Command] = [
      .pause, .resume, .skip(nil), .skip(4), .cancel(7), .replay(nil), .replay(9), .volume(0), .volume(100),
    ]
    for command in all { try await watcher.send(command, lane: "counter") }
    try await watcher.send(.skip(nil), lane: "door")
    let taken = try await player.takeCommands(lane: "counter")
    #expect(taken.map(\.command) == all)
    #expect(taken.allSatisfy { $0.sentAt == place.clock.now })
    #expect(taken.map(\.number) == taken.map(\.number).sorted())
    #expect(try await player.takeCommands(lane: "counter").isEmpty)
    #expect(try await player.takeCommands(lane: "door").map(\.command) == [.skip(nil)])
  }

  @Test(
    "a player command is taken once, even if two players take commands while further commands are sent",
    arguments: LedgerUnderTest.all)
  func raced(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let (player, watcher) = (try await place.open(), try await place.open())
    let other = try await place.open()
    let taken = try await withThrowingTaskGroup(of: [Ledger.SentCommand].self) { group in
      for taker in [player, other] {
        group.addTask {
          var taken: [Ledger.SentCommand] = []
          for _ in 0..<100 { taken += try await taker.takeCommands(lane: "counter") }
          #expect(taken.map(\.number) == taken.map(\.number).sorted())
          return taken
        }
      }
      group.addTask {
        for percent in 0...100 { try await watcher.send(.volume(percent), lane: "counter") }
        return []
      }
      return try await group.reduce(into: []) { $0 += $1 } + player.takeCommands(lane: "counter")
    }
    let volumes = taken.map { if case .volume(let percent) = $0.command { percent } else { -1 } }
    #expect(volumes.sorted() == Array(0...100))
  }

  @Test(
    "a volume command outside 0 to 100 percent, and a command for a lane without a name, are refused",
    arguments: LedgerUnderTest.all)
  func refused(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let (player, watcher) = (try await place.open(), try await place.open())
    for percent in [-1, 101, .max] {
      let error = try await #require(throws: LedgerError.self) {
        try await watcher.send(.volume(percent), lane: "counter")
      }
      #expect(error.code == .invalidValue)
    }
    await #expect(throws: LedgerError.self) { try await watcher.send(.pause, lane: "") }
    #expect(try await player.takeCommands(lane: "counter").isEmpty)
  }

  @Test(
    "a lane without a player stores a thousand commands, and refuses more until a player takes them",
    arguments: LedgerUnderTest.all)
  func bounded(kind: LedgerUnderTest) async throws {
    let place = try await kind.makePlace()
    let (player, watcher) = (try await place.open(), try await place.open())
    await withTaskGroup { group in
      for _ in 0..<Ledger.maximumCommands { group.addTask { _ = try? await watcher.send(.skip(nil), lane: "counter") } }
    }
    let error = try await #require(throws: LedgerError.self) { try await watcher.send(.skip(nil), lane: "counter") }
    #expect(error.code == .tooManyCommands)
    #expect(try await watcher.send(.skip(nil), lane: "door") > 0)
    #expect(try await player.takeCommands(lane: "counter").count == Ledger.maximumCommands)
    #expect(try await watcher.send(.skip(nil), lane: "counter") > 0)
  }
}
