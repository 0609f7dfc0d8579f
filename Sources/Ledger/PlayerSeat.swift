// SPDX-License-Identifier: Apache-2.0

import FileSystem
public import Foundation

/// The one place from which a lane of a ledger is played. Whoever holds it is the lane's player, until it is let go of or
/// the process ends, however it ends.
///
/// What the player is doing is told in the locked file itself, not in the database. It is worth nothing after a crash,
/// it changes several times a second, and there it costs one write of a page that is in memory: no lock that an
/// acceptance would wait for, no growth of the log, no room on a full disk. It is never forced to disk; half of it
/// after a loss of power fails its checksum. And that there *is* a player is told by the lock, not by how old a time
/// stamp is.
public final class PlayerSeat: Sendable {
  public let lane: String
  private let ledger: URL
  private let lock: LockedFile

  init(lane: String, ledger: URL, lock: LockedFile) {
    self.lane = lane
    self.ledger = ledger
    self.lock = lock
  }

  /// Tells watchers what the player is doing. It does not block for the disk.
  public func report(_ report: PlayerReport) throws(LedgerError) {
    do {
      try lock.write(try report.bytes)
    } catch {
      throw LedgerError(error, while: .playing, in: ledger)
    }
  }
}

/// What a player tells of itself.
public struct PlayerReport: Sendable, Hashable, Codable {
  public var processID: Int32
  public var startedAt: Date
  /// When this was told: a player that hangs is one that runs and tells nothing new.
  public var toldAt: Date
  public var isPaused = false
  /// 0 to 100 per cent.
  public var volume = 100
  /// Whether it waits for its device.
  public var isDeviceLost = false
  /// The number of the announcement that is being heard.
  public var number: Int64?
  /// How far it is, and how long it is.
  public var positionMilliseconds: Int?
  public var lengthMilliseconds: Int?

  public init(processID: Int32 = ProcessInfo.processInfo.processIdentifier, startedAt: Date, toldAt: Date) {
    self.processID = processID
    self.startedAt = startedAt
    self.toldAt = toldAt
  }

  static let byteCount = 512

  /// A checksum, JSON, and spaces up to ``byteCount``: half of an old one never passes for the end of a new one.
  var bytes: [UInt8] {
    get throws {
      let encoder = JSONEncoder()
      encoder.dateEncodingStrategy = .millisecondsSince1970
      var json = [UInt8](try encoder.encode(self))
      json += repeatElement(UInt8(ascii: " "), count: max(0, Self.byteCount - 16 - json.count))
      return Self.checksum(json) + json
    }
  }

  init?(bytes: [UInt8]) {
    guard bytes.count == Self.byteCount, Self.checksum(bytes[16...]) == Array(bytes[..<16]) else { return nil }
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .millisecondsSince1970
    guard let report = try? decoder.decode(Self.self, from: Data(bytes[16...])) else { return nil }
    self = report
  }

  /// FNV-1a, 64 bits, in 16 hexadecimal digits.
  private static func checksum(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    let hash = bytes.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    let digits = String(hash, radix: 16)
    return Array((String(repeating: "0", count: 16 - digits.count) + digits).utf8)
  }
}

/// What a watcher sees of a lane.
public struct PlayerStatus: Sendable, Hashable {
  public let lane: String
  /// Whether some process holds the lane's seat, this moment.
  public let isRunning: Bool
  /// What it told last; of the last player when none runs. Nil when none ever did, or it was lost with the power.
  public let report: PlayerReport?
}

extension Ledger {
  /// Takes the lane's seat.
  ///
  /// - Throws: ``LedgerError`` with `laneTaken` when somebody has it, on this ledger, in this process or another; it tries
  ///   for 0.1 s, since a watcher's look is in the way for a moment.
  public func takeSeat(lane: String) throws(LedgerError) -> PlayerSeat {
    try checkLane(lane, while: .playing)
    do {
      guard let lock = try LockedFile(seatFile(lane: lane), patience: 0.1) else {
        throw LedgerError(.laneTaken, while: .playing, in: file)
      }
      let seat = PlayerSeat(lane: lane, ledger: file, lock: lock)
      let moment = now()
      try seat.report(PlayerReport(startedAt: moment, toldAt: moment))
      return seat
    } catch {
      throw LedgerError(error, while: .playing, in: file)
    }
  }

  /// Whether the lane is played, and what its player does.
  public func player(lane: String) throws(LedgerError) -> PlayerStatus {
    try checkLane(lane, while: .reading)
    do {
      let seat = seatFile(lane: lane)
      var isLocked = false
      // Caught in the middle of being written, it is whole a moment later.
      for _ in 0..<5 {
        guard let look = try LockedFile.look(at: seat, count: PlayerReport.byteCount) else { break }
        isLocked = look.isLocked
        if let report = PlayerReport(bytes: look.bytes) {
          return PlayerStatus(lane: lane, isRunning: isLocked, report: report)
        }
      }
      return PlayerStatus(lane: lane, isRunning: isLocked, report: nil)
    } catch {
      throw LedgerError(error, while: .reading, in: file)
    }
  }

  /// Every lane that was ever played, by name.
  public func players() throws(LedgerError) -> [PlayerStatus] {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(
        atPath: file.deletingLastPathComponent().path(percentEncoded: false))
    } catch {
      throw LedgerError(error, while: .reading, in: file)
    }
    var players: [PlayerStatus] = []
    for lane in names.compactMap(lane(ofSeatFile:)).sorted() { players.append(try player(lane: lane)) }
    return players
  }

  private var seatPrefix: String { file.lastPathComponent + ".lane-" }

  /// The lane's name in hexadecimal: it may have any character, and the file system may take two names for one.
  private func seatFile(lane: String) -> URL {
    let digits = lane.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    return file.deletingLastPathComponent().appending(path: seatPrefix + digits)
  }

  private func lane(ofSeatFile name: String) -> String? {
    guard name.hasPrefix(seatPrefix) else { return nil }
    let digits = Array(name.dropFirst(seatPrefix.count))
    guard digits.count.isMultiple(of: 2), !digits.isEmpty else { return nil }
    let bytes = stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
    guard bytes.count * 2 == digits.count else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }
}
