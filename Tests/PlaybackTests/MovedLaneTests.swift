// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import LedgerTestSupport
import Playback
import SoundOutputTestSupport
import TestSupport
import Testing

@Suite(
  "A lane that is moved to another machine",
  .enabled(if: LedgerUnderTest.all.contains(.postgresql), "This needs a ledger that several machines use."),
  .timeLimit(.minutes(5)))
struct MovedLaneTests {
  private func player(_ ledger: any Ledger.Store, _ output: SimulatedOutput) -> Player {
    var settings = Player.Settings()
    settings.gap = 0
    return Player(lane: "counter", ledger: ledger, output: output, render: StandInRenderer(), settings: settings)
  }

  @Test("after a lane is moved, its former player stops and stores nothing, and the next player plays the rest")
  func moved() async throws {
    try await LedgerPlaces.removed {
      let place = try await LedgerUnderTest.postgresql.makePlace()
      var options = LedgerUnderTest.Options()
      // The former machine seems to be off soon, because its lease is renewed too late.
      options.lease.length = .milliseconds(200)
      let (first, second) = (try await place.open(options, on: "one"), try await place.open(options, on: "two"))
      let (output, other) = (SimulatedOutput(), SimulatedOutput())
      let former = player(first, output)
      try await former.start()
      let numbers = [
        try await former.accept(announcement("a")).number, try await former.accept(announcement("b")).number,
      ]
      await output.begins(1)
      try await eventually { try await second.entry(numbers[0])?.state == .playing }
      try await eventually("the lane is moved") { (try? await second.moveHere(lane: "counter")) != nil }
      // The sound is stopped, although the test does not let it end.
      await former.ended()
      #expect(output.begun == [numbers[0]] && output.heard.isEmpty)
      #expect(try await second.entry(numbers[0])?.state == .playing)

      other.hearAll()
      let next = player(second, other)
      try await next.start()
      try await eventually { try await second.unfinished(lane: "counter").isEmpty }
      await next.stop()
      #expect(other.heard == numbers)
      let error = await #expect(throws: LedgerError.self) { try await player(first, output).start() }
      #expect(error?.machine == "two")
    }
  }
}
