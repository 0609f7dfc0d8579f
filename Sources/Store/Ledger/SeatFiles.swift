// SPDX-License-Identifier: Apache-2.0

package import ConcurrencySupport
package import FileSystem
package import Foundation
import TextFormats

/// The seats of a ledger, which are locked files of this machine. They are in the folder of a given file, and their
/// names begin with the name of this file.
package struct SeatFiles: Sendable {
  /// The file that errors name. The files of the seats are beside it.
  private let file: URL
  private let now: @Sendable () -> Date

  /// - Parameter now: Returns the current time, for the first report of a player.
  package init(beside file: URL, now: @escaping @Sendable () -> Date) {
    (self.file, self.now) = (file, now)
  }

  package func takeSeat(lane: String) throws(LedgerError) -> PlayerSeat {
    let seat = PlayerSeat(lane: lane, ledger: file, lock: try lockSeat(lane: lane))
    let moment = now()
    try seat.report(PlayerReport(startedAt: moment, reportedAt: moment))
    return seat
  }

  /// Takes the seat of a lane that other machines see too.
  ///
  /// - Parameters:
  ///   - lock: The lock of ``lockSeat(lane:)``.
  ///   - lease: The lease of the lane.
  ///   - reports: Receives the player's reports, for the watchers on other machines.
  package func takeSeat(
    lane: String, lock: LockedFile, lease: HeldLease, reports: Locked<PlayerReport?>
  ) throws(LedgerError) -> PlayerSeat {
    let seat = PlayerSeat(lane: lane, ledger: file, lock: lock, lease: lease, reports: reports)
    let moment = now()
    try seat.report(PlayerReport(startedAt: moment, reportedAt: moment))
    return seat
  }

  /// Locks the file of a lane's seat.
  ///
  /// - Throws: ``LedgerError`` with `laneTaken` when a process of this machine has the seat.
  package func lockSeat(lane: String) throws(LedgerError) -> LockedFile {
    try check(lane, while: .playing)
    do {
      guard let lock = try LockedFile(seatFile(lane: lane), patience: 0.1) else {
        throw LedgerError(.laneTaken, while: .playing, in: file, process: try? player(lane: lane).report?.processID)
      }
      return lock
    } catch {
      throw LedgerError(cause: error, while: .playing, in: file)
    }
  }

  package func player(lane: String) throws(LedgerError) -> PlayerStatus {
    try check(lane, while: .reading)
    do {
      let seat = seatFile(lane: lane)
      var isLocked = false
      // A report that was being written during the read is complete a moment later, so the read is repeated.
      for _ in 0..<5 {
        guard let look = try LockedFile.look(at: seat, count: PlayerReport.byteCount) else { break }
        isLocked = look.isLocked
        if let report = PlayerReport(bytes: look.bytes) {
          return PlayerStatus(lane: lane, isRunning: isLocked, report: report)
        }
      }
      return PlayerStatus(lane: lane, isRunning: isLocked, report: nil)
    } catch {
      throw LedgerError(cause: error, while: .reading, in: file)
    }
  }

  package func players() throws(LedgerError) -> [PlayerStatus] {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(
        atPath: file.deletingLastPathComponent().path(percentEncoded: false))
    } catch {
      throw LedgerError(cause: error, while: .reading, in: file)
    }
    var players: [PlayerStatus] = []
    for lane in names.compactMap(lane(ofSeatFile:)).sorted() { players.append(try player(lane: lane)) }
    return players
  }

  private var seatPrefix: String { file.lastPathComponent + ".lane-" }

  /// Returns the lane's seat file, which is named in hexadecimal: a lane's name may contain any character, and the file
  /// system may treat two different names as one.
  private func seatFile(lane: String) -> URL {
    file.deletingLastPathComponent().appending(path: seatPrefix + lane.utf8.hexadecimal)
  }

  private func lane(ofSeatFile name: String) -> String? {
    guard name.hasPrefix(seatPrefix) else { return nil }
    guard let bytes = [UInt8](hexadecimal: name.dropFirst(seatPrefix.count)), !bytes.isEmpty else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }

  /// Takes the right to make deliveries; see ``Ledger/SeatStore/takeSeat(of:)``.
  package func takeSeat(of kind: DeliverySeat.Kind) throws(LedgerError) -> DeliverySeat? {
    let place = file.deletingLastPathComponent().appending(path: "\(file.lastPathComponent).\(kind.rawValue)")
    do {
      return try LockedFile(place, patience: 0).map { DeliverySeat(kind, lock: $0) }
    } catch {
      throw LedgerError(cause: error, while: .taking, in: file)
    }
  }

  private func check(_ lane: String, while action: LedgerError.Action) throws(LedgerError) {
    if let rule = Ledger.brokenRule(ofLane: lane) {
      throw LedgerError(.invalidValue, while: action, in: file, field: rule)
    }
  }
}
