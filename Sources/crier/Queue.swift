// SPDX-License-Identifier: Apache-2.0

import Announcements
import ArgumentParser
import Foundation
import Ledger
import Playback

struct Queue: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows what plays and what waits; pauses, resumes, skips, replays.",
    discussion: """
      On a terminal it is drawn again until q is pressed: p pauses and resumes, s skips what plays, r plays the last one again.

      EXAMPLES
        crier queue
        crier queue --json
        crier queue pause
        crier queue replay 41
      """,
    subcommands: [
      Show.self, Pause.self, Resume.self, Skip.self, Cancel.self, Replay.self, SetVolume.self,
    ],
    defaultSubcommand: Show.self)

  struct Pause: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Holds what plays at its place; nothing begins.")
    @OptionGroup var lane: LaneOptions
    func run() async throws { try await Failures.reported { try await lane.command(.pause) } }
  }

  struct Resume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Goes on where it was paused.")
    @OptionGroup var lane: LaneOptions
    func run() async throws { try await Failures.reported { try await lane.command(.resume) } }
  }

  struct Skip: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Ends what plays; it is not played again by itself.")
    @OptionGroup var lane: LaneOptions
    func run() async throws { try await Failures.reported { try await lane.skip() } }
  }

  struct Cancel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Takes back an announcement that waits or plays.")
    @Argument(help: "Its number, as crier queue shows it.") var number: Int64
    @OptionGroup var lane: LaneOptions
    func run() async throws { try await Failures.reported { try await lane.command(.cancel(number), about: number) } }
  }

  struct Replay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Plays an announcement that has ended once more.")
    @Argument(help: "Its number; without one, the last that was played.") var number: Int64?
    @OptionGroup var lane: LaneOptions
    func run() async throws { try await Failures.reported { try await lane.command(.replay(number), about: number) } }
  }

  struct SetVolume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "volume", abstract: "How loud the lane is, from the next announcement on, until its player ends.")
    @Argument(help: "0 to 100, in per cent.") var percent: Int
    @OptionGroup var lane: LaneOptions

    func validate() throws {
      guard (0...100).contains(percent) else { throw ValidationError("PERCENT \(percent) is out of range: 0 to 100.") }
    }

    func run() async throws { try await Failures.reported { try await lane.command(.volume(percent)) } }
  }
}

/// Nobody plays the lane, so nobody would obey.
struct NoPlayer: Error, CustomStringConvertible {
  var lane: String
  var description: String { "no player runs on \(Terminal.printable(lane)); start one, or name another --output." }
}

/// There is nothing to skip.
struct NothingPlays: Error, CustomStringConvertible {
  var lane: String
  var description: String { "nothing plays on \(Terminal.printable(lane)); see crier queue." }
}

/// The lane has no such announcement, or it is too late or too early for it.
struct NothingToCommand: Error, CustomStringConvertible {
  var number: Int64
  var problem: String
  var description: String { "NUMBER \(number): \(problem)." }
}

/// As many replays wait as may.
struct TooManyReplays: Error, CustomStringConvertible {
  var lane: String
  var description: String {
    "\(Ledger.maximumReplays) replays wait on \(Terminal.printable(lane)), and no more may; see crier queue, and take one "
      + "back with crier queue cancel."
  }
}

extension LaneOptions {
  /// What plays at this moment, and not what will when the player hears of it.
  func skip() async throws {
    let lane = try lane()
    let status = try ledger().player(lane: lane)
    guard status.isRunning else { throw NoPlayer(lane: lane) }
    guard let number = status.report?.number else { throw NothingPlays(lane: lane) }
    try await command(.skip(number), about: number)
  }

  /// - Parameter number: the announcement that it is about.
  func command(_ command: Ledger.Command, about number: Int64? = nil) async throws {
    let (lane, ledger) = (try lane(), try ledger())
    guard try ledger.player(lane: lane).isRunning else { throw NoPlayer(lane: lane) }
    if let number {
      guard let entry = try await ledger.entry(number), entry.lane == lane else {
        let problem = "is none of \(Terminal.printable(lane)); see crier queue, or name another --output"
        throw NothingToCommand(number: number, problem: problem)
      }
      if case .cancel = command, entry.state.isFinal {
        throw NothingToCommand(
          number: number, problem: "has ended (\(entry.state.rawValue)); there is nothing to take back")
      }
      if case .replay = command, !entry.state.isFinal {
        throw NothingToCommand(number: number, problem: "has not ended yet; it will be heard in its turn")
      }
    }
    if case .replay = command, try await ledger.unfinishedReplays(lane: lane).count >= Ledger.maximumReplays {
      throw TooManyReplays(lane: lane)
    }
    try await ledger.send(command, lane: lane)
  }
}
