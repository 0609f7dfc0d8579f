// SPDX-License-Identifier: Apache-2.0

import Announcements
import ArgumentParser
import Foundation
import Ledger
import Playback

struct Queue: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows the queue of announcements, and pauses, resumes, skips, cancels, replays and moves them.",
    discussion: """
      On a terminal, the display updates until q is pressed: p pauses and resumes, s skips the playing announcement, r \
      replays the last one.

      EXAMPLES
        crier queue
        crier queue --json
        crier queue pause
        crier queue replay 41
      """,
    subcommands: [
      Show.self, Pause.self, Resume.self, Skip.self, Cancel.self, Replay.self, SetVolume.self, Move.self,
    ],
    defaultSubcommand: Show.self)

  struct Pause: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Pauses playback. No other announcement starts. A service stays paused after a restart.")
    @OptionGroup var queue: QueueOptions
    func perform() async throws { try await queue.command(.pause) }
  }

  struct Resume: ReportingCommand {
    static let configuration = CommandConfiguration(abstract: "Continues playback where it was paused.")
    @OptionGroup var queue: QueueOptions
    func perform() async throws { try await queue.command(.resume) }
  }

  struct Skip: ReportingCommand {
    static let configuration = CommandConfiguration(abstract: "Ends the playing announcement and starts the next one.")
    @OptionGroup var queue: QueueOptions
    func perform() async throws { try await queue.skip() }
  }

  struct Cancel: ReportingCommand {
    static let configuration = CommandConfiguration(abstract: "Cancels an announcement that is waiting or playing.")
    @Argument(help: "The announcement's number, as crier queue shows it.") var number: Int64
    @OptionGroup var queue: QueueOptions
    func perform() async throws {
      try await queue.command(.cancel(number), about: number)
    }
  }

  struct Replay: ReportingCommand {
    static let configuration = CommandConfiguration(abstract: "Plays a finished announcement again.")
    @Argument(help: "The announcement's number. (default: the last that was played)") var number: Int64?
    @OptionGroup var queue: QueueOptions
    func perform() async throws {
      try await queue.command(.replay(number), about: number)
    }
  }

  struct Move: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Moves the queue of a machine that does not come back to this machine.",
      discussion: """
        An output belongs to the machine that plays on it. If several machines share a ledger and one of them stops, its \
        announcements wait until it is back. This command gives its output's queue to this machine. The service of this \
        machine plays the announcements when it starts next, before newer ones.

        EXAMPLES
          crier queue move default@shop-12
        """)
    @Argument(help: "The queue's name, as crier queue shows it: the output, @ and the name of the machine.")
    var lane: String
    @OptionGroup var queue: QueueOptions

    func perform() async throws {
      let (_, ledger) = try await queue.open()
      do throws(LedgerError) {
        let count = try await ledger.moveHere(lane: lane)
        let waiting = count == 1 ? "1 announcement waits" : "\(count) announcements wait"
        let name = Terminal.printable(lane)
        Terminal.note("crier: \(waiting) on \(name); start the service of this machine again to play this queue.")
      } catch {
        guard error.code == .laneTaken else { throw error }
        throw CommandError(
          69, "LANE \(Terminal.printable(lane)): a player is running on it; stop that player first.")
      }
    }
  }

  struct SetVolume: ReportingCommand {
    static let configuration = CommandConfiguration(
      commandName: "volume",
      abstract:
        "Sets the volume from the next announcement on. A service stores it; any other player forgets it at its end.")
    @Argument(help: "The volume in per cent, 0 to 100.") var percent: Int
    @OptionGroup var queue: QueueOptions

    func validate() throws {
      guard (0...100).contains(percent) else {
        throw ValidationError("PERCENT \(percent) is out of range: give 0 to 100.")
      }
    }

    func perform() async throws {
      try await queue.command(.volume(percent))
    }
  }
}

extension QueueOptions {
  /// The error for a command to a lane that has no running player.
  private static func noPlayer(on lane: String) -> CommandError {
    CommandError(69, "no player is running on \(Terminal.printable(lane)); start one, or give another --output.")
  }

  /// The error for an announcement that is not in the lane, or whose state does not allow the command.
  private static func refusal(_ number: Int64, _ problem: String) -> CommandError {
    CommandError(65, "NUMBER \(number): \(problem).")
  }

  /// Skips the announcement that is playing now. If another one plays when the player receives the command, that one is
  /// not skipped.
  func skip() async throws {
    let (lane, ledger) = try await open()
    let status = try await ledger.player(lane: lane)
    guard status.isRunning else { throw Self.noPlayer(on: lane) }
    guard let number = status.report?.number else {
      throw CommandError(
        65, "nothing is playing on \(Terminal.printable(lane)); crier queue shows what is waiting.")
    }
    try await command(.skip(number), about: number)
  }

  /// - Parameter number: The number of the announcement that the command is about.
  func command(_ command: Ledger.Command, about number: Int64? = nil) async throws {
    let (lane, ledger) = try await open()
    let isPlayed = try await ledger.player(lane: lane).isRunning
    // Without a player, only a cancellation has an effect.
    if !isPlayed {
      guard case .cancel = command else { throw Self.noPlayer(on: lane) }
    }
    if let number {
      guard let entry = try await ledger.entry(number), entry.lane == lane else {
        let problem = "is not in \(Terminal.printable(lane)); see crier queue, or give another --output"
        throw Self.refusal(number, problem)
      }
      if case .cancel = command, entry.state.isFinal {
        throw Self.refusal(number, "has already ended (\(entry.state.rawValue)) and cannot be cancelled")
      }
      if case .replay = command, !entry.state.isFinal {
        throw Self.refusal(number, "has not ended yet; wait until it has played")
      }
    }
    if !isPlayed, let number {
      // If a player has started meanwhile, it receives the command.
      var isCancelled: Bool?
      do throws(LedgerError) {
        isCancelled = try await ledger.cancelUnplayed(number)
      } catch {
        guard error.code == .laneTaken else { throw error }
      }
      if isCancelled == true { return }
      if isCancelled == false {
        throw Self.refusal(number, "has already ended and cannot be cancelled")
      }
    }
    if case .replay = command, try await ledger.unfinishedReplays(lane: lane).count >= Ledger.maximumReplays {
      throw CommandError(
        69,
        "\(Ledger.maximumReplays) replays are already waiting on \(Terminal.printable(lane)), and no more are allowed; "
          + "wait, or cancel one with crier queue cancel.")
    }
    try await ledger.send(command, lane: lane)
  }
}
