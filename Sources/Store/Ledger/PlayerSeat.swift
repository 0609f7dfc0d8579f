// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import FileSystem
public import Foundation
import TextFormats

/// The exclusive right to play a lane of a ledger. Its holder is the lane's player until the seat is given back or the
/// process ends, even by a crash.
///
/// If several machines use the ledger, the seat is a lease too, which the holder loses only when a person moves the lane
/// to another machine, or when a copy of the home folder plays the lane. Until then, the lane waits for its machine,
/// because it is a loudspeaker of that machine.
///
/// The player reports its status in the locked file itself and not in the database. The report is useless after a crash
/// and changes several times a second. In the file, each report costs one write to a page in memory: no acceptance
/// waits for a database lock, the log does not grow, and a full disk does no harm. The report is never synchronized to
/// the disk. A report that is torn by a loss of power fails its checksum. The lock shows whether a player is running;
/// the age of a time stamp does not.
public final class PlayerSeat: Sendable {
  public let lane: String
  private let ledger: URL
  private let lock: Locked<LockedFile?>
  /// The lease of the lane; nil if only one machine uses the ledger.
  package let lease: HeldLease?
  private let reports: Locked<PlayerReport?>?

  init(
    lane: String, ledger: URL, lock: LockedFile, lease: HeldLease? = nil, reports: Locked<PlayerReport?>? = nil
  ) {
    self.lane = lane
    self.ledger = ledger
    self.lock = Locked(lock)
    (self.lease, self.reports) = (lease, reports)
  }

  deinit { lease?.letGo() }

  /// Publishes the player's status for watchers. The call does not wait for the disk, nor for a database.
  public func report(_ report: PlayerReport) throws(LedgerError) {
    reports?.withLock { $0 = report }
    do {
      let bytes = try report.bytes
      try lock.withLock { try $0?.write(bytes) }
    } catch {
      throw LedgerError(cause: error, while: .playing, in: ledger)
    }
  }

  /// Calls a closure once if the seat is lost. The closure is called after ``giveBack()`` too.
  public func onLoss(_ notify: @escaping @Sendable () async -> Void) {
    guard let lease else { return }
    Task {
      await lease.loss()
      await notify()
    }
  }

  /// Gives the seat back. When the call returns, another player can take it.
  public func giveBack() async {
    await lease?.giveBack()
    lock.withLock { $0 = nil }
  }
}

/// The status that a player reports.
public struct PlayerReport: Sendable, Hashable, Codable {
  public var processID: Int32
  public var startedAt: Date
  /// The time of the report. A player that hangs still holds its seat but makes no new reports.
  public var reportedAt: Date
  public var isPaused = false
  /// The volume, 0 to 100 per cent.
  public var volume = 100
  /// Whether the player is waiting for its audio device.
  public var isDeviceLost = false
  /// The time since which the player is waiting for its audio device.
  public var deviceLostSince: Date?
  /// The code of the output's error while the player is waiting for its audio device.
  public var deviceCode: String?
  /// The time since which the next announcement cannot begin because of an error, such as a full disk.
  public var blockedSince: Date?
  /// The code of that error.
  public var blockedCode: String?
  /// The number of the announcement that is playing; nil when none is.
  public var number: Int64?
  /// The playback position of that announcement, in milliseconds.
  public var positionMilliseconds: Int?
  /// The length of that announcement, in milliseconds.
  public var lengthMilliseconds: Int?

  private enum CodingKeys: String, CodingKey {
    case processID, startedAt, isPaused, volume, isDeviceLost, deviceLostSince, deviceCode, blockedSince,
      blockedCode, number, positionMilliseconds, lengthMilliseconds
    /// The name that other versions of the program read and write.
    case reportedAt = "toldAt"
  }

  public init(processID: Int32 = ProcessInfo.processInfo.processIdentifier, startedAt: Date, reportedAt: Date) {
    self.processID = processID
    self.startedAt = startedAt
    self.reportedAt = reportedAt
  }

  static let byteCount = 512

  /// The report as a checksum, JSON, and spaces up to ``byteCount``. The fixed length and the checksum keep a mix of an
  /// old and a new report from being read as valid.
  package var bytes: [UInt8] {
    get throws {
      let encoder = JSONEncoder()
      encoder.dateEncodingStrategy = .millisecondsSince1970
      var json = [UInt8](try encoder.encode(self))
      json += repeatElement(UInt8(ascii: " "), count: max(0, Self.byteCount - 16 - json.count))
      return Array(json.checksum.utf8) + json
    }
  }

  package init?(bytes: [UInt8]) {
    guard bytes.count == Self.byteCount, bytes[16...].checksum.utf8.elementsEqual(bytes[..<16]) else { return nil }
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .millisecondsSince1970
    guard let report = try? decoder.decode(Self.self, from: Data(bytes[16...])) else { return nil }
    self = report
  }
}

extension Sequence<UInt8> {
  /// The 64-bit FNV-1a hash as 16 hexadecimal digits.
  var checksum: String {
    reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }.hexadecimal
  }
}

/// The status of a lane, as watchers see it.
public struct PlayerStatus: Sendable, Hashable {
  public let lane: String
  /// Whether a process holds the lane's seat at this moment.
  public let isRunning: Bool
  /// The latest report. When no player is running, it is the last player's report. Nil when no player ever ran, or when
  /// the report was lost in a power failure.
  public let report: PlayerReport?

  package init(lane: String, isRunning: Bool, report: PlayerReport?) {
    self.lane = lane
    self.isRunning = isRunning
    self.report = report
  }
}
