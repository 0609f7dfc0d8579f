// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Why the ledger could not be opened, read or written.
public struct LedgerError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The error codes, for programs.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// A value breaks a rule of ``StoredAnnouncement`` or of the call; see ``LedgerError/field``.
    case invalidValue = "invalid_value"
    /// No announcement has the number.
    case notFound = "not_found"
    /// The announcement's state does not allow the requested change; see ``LedgerError/from`` and ``LedgerError/to``.
    case illegalTransition = "illegal_transition"
    /// An announcement that the summary is to include has ended, is playing, is in another summary, or is in another
    /// lane.
    case illegalSummary = "illegal_summary"
    /// Another key has the same id or digest.
    case keyExists = "key_exists"
    /// The limit of waiting acceptances is reached. Nothing was accepted.
    case waitingListFull = "waiting_list_full"
    /// The limit of commands that wait for the lane's player is reached.
    case tooManyCommands = "too_many_commands"
    /// The limit of replays for the lane or for the account is reached.
    case tooManyReplays = "too_many_replays"
    /// The key is revoked, has expired, or was rotated before.
    case keyNotInForce = "key_not_in_force"
    /// The lane already has a player, in another process or in this one.
    case laneTaken = "lane_taken"
    /// The disk is full, the user's disk quota is used up, or the ledger's own size limit is reached.
    case diskFull = "disk_full"
    /// The file or its file system is read-only.
    case readOnly = "read_only"
    /// The user does not have the necessary permission.
    case notPermitted = "not_permitted"
    /// Another process locked the ledger for longer than ``Ledger/Options/busyTimeout``.
    case busy
    /// The file is not a database or is damaged.
    case damaged
    /// The file is another program's database.
    case notALedger = "not_a_ledger"
    /// The file was written by a newer version of this program.
    case newerVersion = "newer_version"
    /// A folder is in the place of the file, or a file is in the place of a folder.
    case wrongKindOfFile = "wrong_kind_of_file"
    /// Any other error that SQLite or the system reported.
    case systemFailure = "system_failure"
  }

  /// The operation that failed.
  public enum Action: String, Sendable, Hashable {
    case opening
    case accepting
    case changing
    case reading
    case commanding
    case playing
    case pruning
    case removing
    case changingKeys
    case recording
    case notingClips
    case answering
    case admitting
  }

  public let code: Code
  public let action: Action

  /// The ledger's file.
  public let file: URL

  /// SQLite's extended result code; nil when the error did not come from SQLite.
  public let resultCode: Int32?

  /// The system's `errno`; nil when the error did not come from a system call.
  public let systemError: Int32?

  /// The refused value and its rule, when ``code-swift.property`` is `invalidValue`.
  public let field: String?

  /// The announcement's current state, when ``code-swift.property`` is `illegalTransition`.
  public let from: Ledger.State?
  /// The requested state, when ``code-swift.property`` is `illegalTransition`.
  public let to: Ledger.State?

  init(
    _ code: Code, while action: Action, in file: URL, resultCode: Int32? = nil, systemError: Int32? = nil,
    field: String? = nil, from: Ledger.State? = nil, to: Ledger.State? = nil
  ) {
    self.code = code
    self.action = action
    self.file = file
    self.resultCode = resultCode
    self.systemError = systemError
    self.field = field
    self.from = from
    self.to = to
  }

  /// The operation, the file, the cause and the next step. The text never contains a payload, an announcement's id or
  /// an SQL statement.
  public var description: String {
    let reported = resultCode.map { " (SQLite's code \($0))" } ?? systemError.map { " (error number \($0))" } ?? ""
    return "\(attempt) \(file.path(percentEncoded: false)) failed: \(cause)\(reported). \(remedy)"
  }

  private var attempt: String {
    switch action {
    case .opening: "Opening the ledger"
    case .accepting: "Accepting an announcement in the ledger"
    case .changing: "Changing an announcement in the ledger"
    case .reading: "Reading the ledger"
    case .commanding: "Passing on a command through the ledger"
    case .playing: "Taking a lane of the ledger"
    case .pruning: "Pruning the ledger"
    case .removing: "Removing an announcement from the ledger"
    case .changingKeys: "Changing the keys in the ledger"
    case .recording: "Writing to the log of administration in the ledger"
    case .notingClips: "Noting a batch's clips in the ledger"
    case .answering: "Storing an answer in the ledger"
    case .admitting: "Remembering a signed request in the ledger"
    }
  }

  private var cause: String {
    switch code {
    case .invalidValue: "a value cannot be used: \(field ?? "it breaks a rule")"
    case .notFound: "no announcement has that number"
    case .illegalTransition:
      "an announcement that is \(from?.rawValue ?? "summarised") cannot become \(to?.rawValue ?? "that")"
    case .illegalSummary:
      "an announcement that the summary is to stand for has ended, is playing, is summarised already, "
        + "or is in another lane"
    case .keyExists: "another key has that id or that digest"
    case .waitingListFull: "too many acceptances wait to be written"
    case .tooManyCommands: "too many commands wait for the lane's player"
    case .tooManyReplays: "too many replays wait on the lane, or were asked for by the account"
    case .keyNotInForce: "the key is revoked, has expired, or was rotated before"
    case .laneTaken: "another player plays the lane"
    case .diskFull: "the disk is full, or the ledger has reached its size limit"
    case .readOnly: "it can only be read"
    case .notPermitted: "this user is not permitted to"
    case .busy: "another process kept it to itself for too long"
    case .damaged: "the file is damaged, or is no database"
    case .notALedger: "the file is a database of another program"
    case .newerVersion: "the file was written by a newer version of this program"
    case .wrongKindOfFile: "a folder is where the file belongs, or a file where a folder belongs"
    case .systemFailure: "the system reported an error"
    }
  }

  private var remedy: String {
    switch code {
    case .invalidValue: "Correct it; nothing was changed."
    case .notFound: "It may have been pruned; list what there is."
    case .illegalTransition: "Nothing was changed; read its present state."
    case .illegalSummary: "Nothing was accepted; choose again from those that wait."
    case .keyExists: "Nothing was changed; make another key."
    case .waitingListFull: "Nothing was accepted; try again in a moment."
    case .tooManyCommands: "Start the lane's player, or try again when it has caught up."
    case .tooManyReplays: "Nothing was accepted; take one back, or try again when one was heard."
    case .keyNotInForce: "Nothing was changed; make another key, or rotate the one that took its place."
    case .laneTaken: "Stop the other player, or play another lane."
    case .diskFull: "Free some space, or prune the ledger, and try again."
    case .readOnly: "Mount it for writing, or choose another file."
    case .notPermitted: "Give this user the right to it, or choose another file."
    case .busy: "See which process holds it, and try again."
    case .damaged: "It was left as it is: keep a copy of it and of the files beside it, and put a backup in its place."
    case .notALedger: "It was left as it is: choose another file."
    case .newerVersion: "It was left as it is: use the newer version, or another file."
    case .wrongKindOfFile: "Choose another path."
    case .systemFailure: "See to the disk and try again."
    }
  }
}
