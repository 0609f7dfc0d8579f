// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger

/// Where the batches of a service are stored: in files of its machine, or in a ledger that several nodes use.
protocol BatchPlace: Sendable {
  /// The time between two looks for batches that other nodes accepted; nil if only this service accepts batches.
  var lookInterval: Duration? { get }
  /// The time between two looks for the progress of a batch.
  var progressInterval: Duration { get }

  /// Prepares the batches that an earlier run of the service left.
  func load() async

  /// Returns whether an account may send another batch.
  func admission(of account: String, _ limits: Ledger.BatchLimits) async throws -> Ledger.BatchAdmission

  /// Stores a batch, unless a limit is reached. When the call returns, the batch is durable.
  func accept(
    _ record: Batches.Record, list: Data, _ limits: Ledger.BatchLimits
  ) async throws -> Ledger.BatchAdmission

  /// Returns the status of a batch; nil if the account has none with this id.
  func status(_ id: String, account: String) async throws -> Batches.Status?

  /// Returns the status of an account's batches, newest first.
  func statuses(account: String, limit: Int) async throws -> [Batches.Status]

  /// Returns the reader of the result of a batch that has ended; nil if the batch has no result.
  func result(_ id: String) async throws -> BatchResultReader?

  /// Returns the unfinished batches, in the order in which they were accepted.
  func unfinished() async throws -> [UnfinishedBatch]

  /// Takes the exclusive right to work on a batch.
  ///
  /// - Returns: nil if the batch has ended, or if another node works on it.
  func begin(_ id: String) async throws -> (any BatchWork)?

  /// Cancels a batch. The cancellation is durable before anything is stopped, so that no restart begins the batch again.
  func cancel(_ id: String, account: String) async throws -> BatchCancellation

  /// Returns the ids of batches that ended before a moment.
  func ended(before moment: Date) async throws -> [String]

  /// Removes a batch that has ended.
  func remove(_ id: String) async throws

  /// Returns the batches whose clips may not be in the ledger because an earlier run of the service ended too early.
  ///
  /// - Parameter group: Returns the app group of the clips of a batch.
  func unnotedClips(group: @Sendable (Batches.Record) -> String) async -> [UnnotedClips]

  /// Notes that the ledger has all clips of a batch that has ended.
  func noteClips(of id: String) async
}

/// Returns the next piece of a result; nil at its end. It throws the error of the disk or of the ledger.
typealias BatchResultReader = @Sendable () async throws -> Data?

/// A batch that waits or is worked on.
struct UnfinishedBatch: Sendable, Hashable {
  var id: String
  var account: String
  /// See ``Batches/Record/starts``.
  var starts: Int
  /// Whether nobody works on the batch.
  var isWaiting: Bool
}

/// The result of cancelling a batch.
enum BatchCancellation: Sendable, Hashable {
  /// The account has no batch with this id.
  case unknown
  /// The batch has ended or was cancelled before. Nothing was cancelled.
  case alreadyEnded
  /// The batch was waiting, and has ended.
  case ended(Batches.Status)
  /// The batch ends as soon as the rows that are being rendered are finished. The status is that of the moment.
  case stopping(Batches.Status)
}

/// The clips in the result of a batch.
struct UnnotedClips: Sendable {
  var id: String
  var account: String
  var names: Set<String>
  /// The known files of the clips.
  var files: [LibrarySound]
}

/// The work on a batch. Only its owner works on the batch.
protocol BatchWork: Sendable {
  /// The batch, with the status up to which results are stored.
  var record: Batches.Record { get }

  /// Whether no further row may be read, because the batch was cancelled or is now another node's.
  var isStopping: Bool { get }
  /// Whether the batch is now another node's. Nothing can be stored any more.
  var isLost: Bool { get }

  /// Opens the list and the result. Call this once, before the calls that follow, on a thread that may block.
  ///
  /// - Parameter noteClips: Writes the clips of the rows that have been added to the ledger.
  func open(noteClips: @escaping @Sendable () async -> Void) async throws

  /// Returns the next piece of the list; an empty piece at its end.
  func piece() async throws -> [UInt8]

  /// Returns whether the result of a row is stored.
  ///
  /// - Parameter row: The number of the row, counted from 0.
  func hasResult(ofRow row: Int) async -> Bool

  /// Adds a line to the result.
  ///
  /// - Parameters:
  ///   - line: The line without its end.
  ///   - status: The status after this row.
  func add(_ line: String, ofRow row: Int, _ status: Batches.Status) async throws

  /// Stores from time to time what was added, until the task is cancelled or the work is lost.
  func keepStoring() async

  /// Makes everything durable that was added.
  func synchronize() async throws

  /// Ends the batch. The state is that of a batch that ran to its end, or `cancelled` if the batch was cancelled.
  ///
  /// - Parameter areClipsNoted: Whether the ledger has all clips of the batch.
  func end(_ outcome: Batches.Status, areClipsNoted: Bool) async

  /// Gives the batch back without ending it: the service stops, or the work is lost.
  func stop() async
}

extension Batches.Status {
  /// The status of a batch that has ended.
  func ended(isCancelled: Bool, at moment: Date) -> Batches.Status {
    var status = self
    status.state = isCancelled ? .cancelled : error == nil ? .done : .failed
    if isCancelled { status.error = nil }
    status.finishedAt = moment
    return status
  }
}
