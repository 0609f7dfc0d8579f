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
    /// The account has ``Ledger/Limits/mostDevices`` devices, or the group of devices has
    /// ``Ledger/Limits/mostDevicesInGroup``.
    case tooManyDevices = "too_many_devices"
    /// The device has ``Ledger/Limits/mostEnumerators`` enumerators, or the account has
    /// ``Ledger/Limits/mostEnumeratorsOfAccount``.
    case tooManyEnumerators = "too_many_enumerators"
    /// A device and a group of devices would have the same name.
    case deviceNameTaken = "device_name_taken"
    /// The account has ``Ledger/mostWebhookEndpoints`` webhook endpoints.
    case tooManyWebhookEndpoints = "too_many_webhook_endpoints"
    /// The account has another webhook endpoint with the URL.
    case webhookEndpointExists = "webhook_endpoint_exists"
    /// The key is revoked, has expired, or was rotated before.
    case keyNotInForce = "key_not_in_force"
    /// The lane already has a player, in another process or in this one.
    case laneTaken = "lane_taken"
    /// Another node has taken over the deliveries or the lane, or the seat was given back. Nothing was changed.
    case leaseLost = "lease_lost"
    /// The disk is full, the user's disk quota is used up, or the ledger's own size limit is reached.
    case diskFull = "disk_full"
    /// The file or its file system is read-only.
    case readOnly = "read_only"
    /// The user does not have the necessary permission.
    case notPermitted = "not_permitted"
    /// Another process locked the ledger for longer than the ledger waits.
    case busy
    /// Another process uses the ledger, and the call needs it alone; see ``LedgerError/process``.
    case inUse = "in_use"
    /// There is no ledger to be read.
    case noLedger = "no_ledger"
    /// A ledger is to be made where one exists.
    case notEmpty = "not_empty"
    /// The other kind of ledger cannot store a value; see ``LedgerError/field``.
    case valueUnstorable = "value_unstorable"
    /// A batch has not ended, and the other kind of ledger does not store batches.
    case unfinishedBatches = "unfinished_batches"
    /// A row of the new ledger differs from the row that was copied; see ``LedgerError/field``.
    case copyDiffers = "copy_differs"
    /// The ledger's server cannot be reached. Nothing was changed.
    case unreachable
    /// The connection to the ledger's server broke while it stored the changes, so they may be stored or not. A caller
    /// that repeats the call finds out.
    case outcomeUnknown = "outcome_unknown"
    /// The file is not a database or is damaged.
    case damaged
    /// One of the ledger's files was removed, replaced, cut or overwritten while the ledger was open; see
    /// ``LedgerError/change``.
    case fileChanged = "file_changed"
    /// The file is another program's database.
    case notALedger = "not_a_ledger"
    /// The file was written by a newer version of this program.
    case newerVersion = "newer_version"
    /// The file must be brought up to date first, because an older version of this program wrote it or its creation was
    /// interrupted. It was opened for reading only.
    case olderVersion = "older_version"
    /// A folder is in the place of the file, or a file is in the place of a folder.
    case wrongKindOfFile = "wrong_kind_of_file"
    /// Any other error that SQLite or the system reported.
    case systemFailure = "system_failure"
  }

  /// The operation that failed.
  public enum Action: String, Sendable, Hashable {
    case opening
    case checking
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
    case registering
    case pushing
    case changingLibrary
    case changingWebhooks
    case changingBatches
    case taking
    case moving
  }

  public let code: Code
  public let action: Action

  /// The ledger's file; nil if the ledger is a database of a server.
  public let file: URL?

  /// The hosts and ports of the ledger's servers; nil if the ledger is a file.
  public let server: String?

  /// SQLite's extended result code; nil when the error did not come from SQLite.
  public let resultCode: Int32?

  /// The SQLSTATE that the ledger's server reported; nil when the error did not come from a server.
  public let sqlState: String?

  /// The system's `errno`; nil when the error did not come from a system call.
  public let systemError: Int32?

  /// The process that plays the lane, when ``code-swift.property`` is `laneTaken`, or that uses the file, when it is
  /// `inUse`; nil if it is not known.
  public let process: Int32?

  /// The name of the machine that the lane belongs to, when ``code-swift.property`` is `laneTaken`; nil if the lane
  /// belongs to this machine.
  public let machine: String?

  /// The refused value and its rule, when ``code-swift.property`` is `invalidValue`; an unknown change of the tables,
  /// when it is `newerVersion`; the table, the row and the column, when it is `valueUnstorable` or `copyDiffers`.
  public let field: String?

  /// The announcement's current state, when ``code-swift.property`` is `illegalTransition`.
  public let from: Ledger.State?
  /// The requested state, when ``code-swift.property`` is `illegalTransition`.
  public let to: Ledger.State?

  /// The file and what happened to it, when ``code-swift.property`` is `fileChanged`.
  public let change: FileChange?

  package init(
    _ code: Code, while action: Action, in file: URL, resultCode: Int32? = nil, systemError: Int32? = nil,
    process: Int32? = nil, field: String? = nil, from: Ledger.State? = nil, to: Ledger.State? = nil,
    change: FileChange? = nil
  ) {
    self.code = code
    self.action = action
    self.file = file
    (server, sqlState, machine) = (nil, nil, nil)
    self.resultCode = resultCode
    self.systemError = systemError
    self.process = process
    self.field = field
    self.from = from
    self.to = to
    self.change = change
  }

  /// - Parameter server: The hosts and ports of the ledger's servers, without user, database and options.
  package init(
    _ code: Code, while action: Action, on server: String, sqlState: String? = nil, field: String? = nil,
    from: Ledger.State? = nil, to: Ledger.State? = nil, machine: String? = nil
  ) {
    self.code = code
    self.action = action
    self.server = server
    self.sqlState = sqlState
    self.field = field
    self.from = from
    self.to = to
    self.machine = machine
    (file, resultCode, systemError, process, change) = (nil, nil, nil, nil, nil)
  }

  /// The operation, the file or the server, the cause and the next step. The text never contains a payload, an
  /// announcement's id or an SQL statement.
  public var description: String {
    let reported =
      resultCode.map { " (SQLite code \($0))" } ?? systemError.map { " (error number \($0))" }
      ?? sqlState.map { " (SQLSTATE \($0))" } ?? ""
    let place = file?.path(percentEncoded: false) ?? server.map { "on the PostgreSQL server \($0)" } ?? ""
    let (cause, remedy) = server == nil ? (cause, remedy) : (causeOnServer ?? cause, remedyOnServer ?? remedy)
    return "\(attempt) \(place) failed: \(cause)\(reported). \(remedy)"
  }

  private var attempt: String {
    switch action {
    case .opening: "Opening the ledger"
    case .checking: "Checking the ledger"
    case .accepting: "Accepting an announcement in the ledger"
    case .changing: "Changing an announcement in the ledger"
    case .reading: "Reading the ledger"
    case .commanding: "Sending a command through the ledger"
    case .playing: "Reserving a lane of the ledger"
    case .pruning: "Pruning the ledger"
    case .removing: "Removing an announcement from the ledger"
    case .changingKeys: "Changing the keys in the ledger"
    case .recording: "Recording an administrative action in the ledger"
    case .notingClips: "Recording the clips of a batch in the ledger"
    case .answering: "Storing an answer in the ledger"
    case .admitting: "Recording a signed request in the ledger"
    case .registering: "Changing the devices in the ledger"
    case .pushing: "Changing the pushes in the ledger"
    case .changingLibrary: "Recording a change of the sound library in the ledger"
    case .changingWebhooks: "Changing the webhooks in the ledger"
    case .changingBatches: "Changing the batches in the ledger"
    case .taking: "Reserving deliveries of the ledger"
    case .moving: "Moving the ledger"
    }
  }

  private var cause: String {
    switch code {
    case .invalidValue: "a value is invalid: \(field ?? "it breaks a rule")"
    case .notFound: "no announcement has this number"
    case .illegalTransition:
      "an announcement cannot change from \(from?.rawValue ?? "summarised") to \(to?.rawValue ?? "this state")"
    case .illegalSummary:
      "an announcement for the summary has ended, is playing, is already summarised, or is in another lane"
    case .keyExists: "another key has this id or digest"
    case .waitingListFull: "too many announcements are waiting to be written"
    case .tooManyCommands: "too many commands are waiting for the lane's player"
    case .tooManyReplays: "too many replays of the lane or of the account are waiting"
    case .tooManyDevices: "the account or the group of devices has reached the limit of its devices"
    case .tooManyEnumerators: "the device or the account has reached the limit of its enumerators"
    case .deviceNameTaken: "a device and a group of devices would have the same name"
    case .tooManyWebhookEndpoints: "the account has reached the limit of its webhook endpoints"
    case .webhookEndpointExists: "the account has another webhook endpoint with this URL"
    case .keyNotInForce: "the key is revoked, has expired, or was already rotated"
    case .laneTaken where machine != nil: "the lane belongs to the machine \(machine ?? "")"
    case .laneTaken: process.map { "process \($0) already plays on the lane" } ?? "another player is using the lane"
    case .leaseLost: "another node has taken over this work"
    case .diskFull: "the disk is full, or the ledger has reached its size limit"
    case .readOnly: "the file is read-only"
    case .notPermitted: "this user does not have permission"
    case .busy: "another process kept the file locked for too long"
    case .inUse: "\(process.map { "process \($0)" } ?? "another process") has it open"
    case .noLedger: "there is no ledger"
    case .notEmpty: "there is a ledger already"
    case .valueUnstorable: "PostgreSQL cannot store a text with a NUL or with invalid UTF-8 (\(field ?? "unknown row"))"
    case .unfinishedBatches: "a batch has not ended"
    case .copyDiffers: "a row was not copied as it is (\(field ?? "unknown row"))"
    case .unreachable: "no server accepted the connection"
    case .outcomeUnknown: "the connection broke before the changes were confirmed"
    case .damaged: "the file is damaged, or is not a database"
    case .fileChanged: change?.description ?? "the file was changed while the ledger was open"
    case .notALedger: "the file is a database of another program"
    case .newerVersion:
      "the file was written by a newer version of this program"
        + (field.map { ", which made the change “\($0)”" } ?? "")
    case .olderVersion: "the file must first be brought up to date"
    case .wrongKindOfFile: "there is a folder in place of the file, or a file in place of a folder"
    case .systemFailure: "the system reported an error"
    }
  }

  private var remedy: String {
    switch code {
    case .invalidValue: "Nothing was changed. Correct the value."
    case .notFound: "It may have been pruned. List the announcements to see their numbers."
    case .illegalTransition: "Nothing was changed. Read the announcement's current state."
    case .illegalSummary: "Nothing was accepted. Choose only announcements that are waiting on the lane."
    case .keyExists: "Nothing was changed. Create another key."
    case .waitingListFull: "Nothing was accepted. Try again in a moment."
    case .tooManyCommands: "Start the lane's player, or try again when it has caught up."
    case .tooManyReplays: "Nothing was accepted. Cancel a replay, or try again when one has been played."
    case .tooManyDevices: "Nothing was changed. Remove devices that are no longer used."
    case .tooManyEnumerators: "Nothing was changed. Remove enumerators that were invalidated."
    case .deviceNameTaken: "Nothing was changed. Choose another id or another name for the group."
    case .tooManyWebhookEndpoints: "Nothing was changed. Remove endpoints that are no longer used."
    case .webhookEndpointExists: "Nothing was changed. Remove the other endpoint first."
    case .keyNotInForce: "Nothing was changed. Create another key, or rotate the key that replaced it."
    case .laneTaken where machine != nil:
      "The lane waits for that machine. If the machine does not come back, move the lane with crier queue move."
    case .laneTaken: "Stop the other player, or use another lane."
    case .leaseLost: "Nothing was changed. Take the work over again, if the other node has stopped."
    case .diskFull: "Free some space and try again."
    case .readOnly: "Make the file and its file system writable, or choose another file."
    case .notPermitted: "Give this user access to the file, or choose another file."
    case .busy: "Find the process that uses the file, and try again."
    case .inUse: "Nothing was changed. Stop the service and every other program that uses the ledger, and try again."
    case .noLedger: "Nothing was changed. Name another home folder."
    case .notEmpty: "Nothing was changed. Move the file and the files beside it away, or name another home folder."
    case .valueUnstorable: "Nothing was changed. Correct the text in a copy of the file, with the program sqlite3."
    case .unfinishedBatches:
      "Nothing was changed. Start the service, wait until all batches have ended or cancel them, and try again."
    case .copyDiffers: "Nothing was kept. Check the disks and the memory of both machines, and try again."
    case .unreachable: "Nothing was changed. Check that the server runs and can be reached from this machine."
    case .outcomeUnknown: "The changes may have been stored. Make the same call again: it finds out whether they were."
    case .damaged: "\(damageLimit)Keep a copy of the file and of the files beside it, and restore a backup."
    case .fileChanged:
      "Nothing more is accepted. Stop every program that uses the ledger, keep a copy of the file and of the files "
        + "beside it, and put the former file back or restore a backup."
    case .notALedger: "The file was not changed. Choose another file."
    case .newerVersion:
      "The file was not changed. Install the newer version again, or restore the backup from before the upgrade."
    case .olderVersion:
      "The file was not changed. Start the service once, or run a command that writes to the file."
    case .wrongKindOfFile: "Choose another path."
    case .systemFailure: "Check the disk, and try again."
    }
  }

  /// The facts about the content of a damaged file that are certain.
  private var damageLimit: String {
    switch action {
    case .opening: "The file was not changed. "
    case .checking: "Nothing more is written to the file. "
    default: ""
    }
  }
}
