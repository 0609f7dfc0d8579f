// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension Ledger {
  /// A command that another process sends to the player of a lane.
  public enum Command: Sendable, Hashable {
    case pause
    case resume
    /// Ends the announcement with this number if it is playing; nil ends whatever is playing.
    case skip(Int64?)
    /// Cancels the announcement with this number.
    case cancel(Int64)
    /// Plays the announcement with this number again; nil plays the last played announcement again.
    case replay(Int64?)
    /// Sets the volume, 0 to 100 per cent.
    case volume(Int)

    /// The name and the value that a ledger stores for the command.
    package var stored: (kind: String, value: Int64?) {
      switch self {
      case .pause: ("pause", nil)
      case .resume: ("resume", nil)
      case .skip(let number): ("skip", number)
      case .cancel(let number): ("cancel", number)
      case .replay(let number): ("replay", number)
      case .volume(let percent): ("volume", Int64(percent))
      }
    }

    /// The rule that the command breaks; nil when it can be stored.
    package var brokenRule: String? {
      if case .volume(let percent) = self, !(0...100).contains(percent) { return "volume (0 to 100 per cent)" }
      return nil
    }

    init?(kind: String, value: Int64?) {
      switch (kind, value) {
      case ("pause", nil): self = .pause
      case ("resume", nil): self = .resume
      case ("skip", let number): self = .skip(number)
      case ("cancel", let number?): self = .cancel(number)
      case ("replay", let number): self = .replay(number)
      case ("volume", let percent?): self = .volume(Int(percent))
      default: return nil
      }
    }
  }

  /// A command as the player receives it.
  public struct SentCommand: Sendable, Hashable {
    /// The command's number. Numbers strictly increase and are never reused.
    public let number: Int64
    public let sentAt: Date
    public let command: Command
  }

  /// The maximum number of commands that may wait for one lane's player.
  public static let maximumCommands = 1000
}

extension Ledger.SentCommand {
  package init(row: some StoredRow) throws {
    guard let command = Ledger.Command(kind: try row.value("kind"), value: try row.optional("value")) else {
      throw UnreadableRow()
    }
    self.init(number: try row.value("number"), sentAt: try row.value("at"), command: command)
  }
}
