// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension Ledger {
  /// A batch to be stored in a ledger that several nodes use.
  public struct NewBatch: Sendable, Hashable {
    /// The id: 1 to 255 bytes of UTF-8 without a zero byte.
    public var id: String
    public var account: String
    /// The options of the batch, as the service writes them: at most 64 KiB.
    public var request: Data
    /// The status before the first row, as the service writes it; see ``StoredBatch/status``.
    public var status: Data

    public init(id: String, account: String, request: Data, status: Data) {
      (self.id, self.account, self.request, self.status) = (id, account, request, status)
    }

    /// The rule that a value breaks; nil if it breaks none.
    package var brokenRule: String? {
      guard isText(id, 1...255), isText(account, 0...255) else { return "batch (an id of 1 to 255 bytes without NUL)" }
      return request.count <= Self.mostBytes ? Self.brokenRule(ofStatus: status) : "request (at most 64 KiB)"
    }

    /// Returns the rule that a status breaks; nil if it breaks none.
    package static func brokenRule(ofStatus status: Data) -> String? {
      status.count <= mostBytes ? nil : "status (at most 64 KiB)"
    }

    private static let mostBytes = 64 << 10
  }

  /// A batch of a ledger that several nodes use.
  public struct StoredBatch: Sendable, Hashable {
    public enum State: String, Sendable, Hashable {
      /// The batch waits or is worked on.
      case running
      case done, failed, cancelled
    }

    public let id: String
    public let account: String
    /// The value of ``NewBatch/request``.
    public let request: Data
    /// The counts and the first faults of the rows whose results are stored, as the service writes them.
    public let status: Data
    public let state: State
    /// The number of times that the batch was begun since it was accepted, or since a service stopped it in order; see
    /// ``InterruptedWork``.
    public let starts: Int
    public let createdAt: Date
    /// The end of the batch; nil while it runs.
    public let finishedAt: Date?
    /// Whether somebody has cancelled the batch. Its holder then begins no further row.
    public let isCancelled: Bool
    /// Whether a node works on the batch.
    public let isHeld: Bool
  }

  /// Lines of a batch's result.
  public struct BatchPiece: Sendable, Hashable {
    /// The place of the piece in the result, counted from 0.
    public var number: Int
    /// Whole lines of the result.
    public var lines: Data
    /// The numbers of the rows that the lines belong to, counted from 0 in the order of the list.
    public var rows: [Int64]

    public init(number: Int, lines: Data, rows: [Int64]) {
      (self.number, self.lines, self.rows) = (number, lines, rows)
    }
  }

  /// How many batches may run or wait at once.
  public struct BatchLimits: Sendable, Hashable {
    /// The limit of an account.
    public var ofAccount: Int
    /// The limit of all accounts together.
    public var ofAll: Int

    public init(ofAccount: Int, ofAll: Int) { (self.ofAccount, self.ofAll) = (ofAccount, ofAll) }

    /// Returns whether another batch may be added.
    ///
    /// - Parameters:
    ///   - own: The number of unfinished batches of the account.
    ///   - all: The number of all unfinished batches.
    public func admission(own: Int, all: Int) -> BatchAdmission {
      if own >= ofAccount { return .accountBusy }
      return all >= ofAll ? .busy : .accepted
    }
  }

  /// Whether a batch was accepted, or would be.
  public enum BatchAdmission: Sendable, Hashable {
    case accepted
    /// The account has too many unfinished batches.
    case accountBusy
    /// All accounts together have too many unfinished batches.
    case busy
  }

  /// The result of cancelling a batch.
  public enum BatchCancellation: Sendable, Hashable {
    /// The account has no batch with this id.
    case unknown
    /// The batch has ended, or was cancelled before.
    case alreadyEnded
    /// Nobody worked on the batch, so it has ended.
    case ended(StoredBatch)
    /// A node works on the batch. It ends the batch soon, and if it fails before that, another node does.
    case stopping(StoredBatch)
  }
}

extension Ledger.StoredBatch {
  package init(row: some StoredRow, isHeld: Bool) throws {
    self.init(
      id: try row.value("id"), account: try row.value("account"), request: try row.value("request"),
      status: try row.value("status"), state: try row.name("state"), starts: try row.value("starts"),
      createdAt: try row.value("created_at"), finishedAt: try row.optional("finished_at"),
      isCancelled: try row.int64("cancelled_at") != nil, isHeld: isHeld)
  }
}

/// The exclusive right to work on a batch, which is a lease. It is renewed as long as the seat exists, and can be lost
/// while the process runs; see ``Ledger/Lease``.
public final class BatchSeat: Sendable {
  /// The batch as it was when the seat was taken. This start is counted.
  public let batch: Ledger.StoredBatch
  /// The number of the next piece of the result.
  public let nextPiece: Int
  package let lease: HeldLease

  package init(_ batch: Ledger.StoredBatch, nextPiece: Int, lease: HeldLease) {
    (self.batch, self.nextPiece, self.lease) = (batch, nextPiece, lease)
  }

  /// Whether the batch may be worked on at this moment.
  public var isUsable: Bool { lease.isUsable }

  /// Gives the seat back. When the call returns, another node can take it, unless the database could not be reached.
  public func giveBack() async { await lease.giveBack() }
}
