// SPDX-License-Identifier: Apache-2.0

// A player that tests kill: `play-log LEDGER LOG MS ID…`.
//
// It accepts a payment for each id that was not accepted before, and plays all unfinished payments to a file output, as
// tones of MS milliseconds (0 means that they end at once). It ends when all payments have been played, with status 0
// if the ledger confirms that. Before it plays, it adds a line to the log for each payment that was being rendered or
// played when two processes in a row ended.
//
// Its clock runs 10,000 times as fast as the machine's, so that payments that are set aside are played within seconds.

import Foundation
import Ledger
import Playback
import PlaybackOrder
import SoundOutputs
import SQLiteLedger
import Waveforms

struct Tones: Rendering {
  var milliseconds: Int

  func render(_ announcement: StoredAnnouncement) async throws -> RenderedSound {
    let samples = (0..<milliseconds * 8).map { Int16($0 % 16 < 8 ? 8_000 : -8_000) }
    return RenderedSound(waveform: Waveform(samples: samples, sampleRate: 8_000))
  }

  func again(before replay: StoredAnnouncement) async throws -> Waveform { try await render(replay).waveform }
}

struct FastClock: PlayerClock {
  private static let speed: Int64 = 10_000
  private let clock = SystemPlayerClock()
  private let start: Int64

  init() { start = clock.now() }

  func now() -> Int64 { start + (clock.now() - start) * Self.speed }
  func date() -> Date { clock.date() }
  func sleep(until moment: Int64) async { await clock.sleep(until: start + (moment - start) / Self.speed + 1) }
}

let arguments = CommandLine.arguments
guard arguments.count > 4, let milliseconds = Int(arguments[3]), milliseconds >= 0 else {
  FileHandle.standardError.write(Data("usage: play-log LEDGER LOG MS ID…\n".utf8))
  exit(64)
}
let ledger = try SQLiteLedger(at: URL(filePath: arguments[1]))
let output = FileOutput(path: arguments[2], pace: milliseconds == 0 ? .immediate : .realTime)
var settings = Player.Settings()
settings.gap = 0
let log = try FileHandle(forUpdating: URL(filePath: arguments[2]))
try log.seekToEnd()
for entry in try await ledger.unfinished(lane: "log", limit: 1_000) where entry.starts >= InterruptedWork.patience {
  try log.write(contentsOf: Data("{\"event\":\"aside\",\"label\":\"\(entry.number)\"}\n".utf8))
}
try log.close()
let player = Player(
  lane: "log", ledger: ledger, output: output, render: Tones(milliseconds: max(1, milliseconds)), settings: settings,
  clock: FastClock())
try await player.start()
for id in arguments[4...] {
  _ = try await player.accept(StoredAnnouncement(id: id, category: .payment, payload: Data("{}".utf8)))
}
let events = player.events(after: 0)
if try await !ledger.unfinished(lane: "log", limit: 1).isEmpty {
  for try await event in events where event.kind == .played {
    if try await ledger.unfinished(lane: "log", limit: 1).isEmpty { break }
  }
}
await player.stop()
let counts = try await ledger.counts(lane: "log")
guard counts[.played] == arguments.count - 4, counts.values.reduce(0, +) == arguments.count - 4 else { exit(70) }
