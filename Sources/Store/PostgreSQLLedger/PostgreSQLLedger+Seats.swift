// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
public import Ledger
import PostgreSQL

// A lane is a loudspeaker of one machine. Its seat is a locked file, which keeps two processes of the machine apart, and a
// lease, which keeps machines apart. The lease stays with the machine's home folder when its time is over, until a person
// moves the lane.
extension PostgreSQLLedger {
  /// The name of a lane's lease.
  static func lease(ofLane lane: String) -> String { "lane:\(lane)" }

  public func lane(ofOutput output: String) -> String { Self.lane(ofOutput: output, on: options.node) }

  /// Returns the name of the lane of a node's output.
  public static func lane(ofOutput output: String, on node: Ledger.Node.Description) -> String {
    "\(output)@\(node.host)"
  }

  public func takeSeat(lane: String) async throws(LedgerError) -> PlayerSeat {
    let lock = try seats.lockSeat(lane: lane)
    let reports = Locked<PlayerReport?>(nil)
    var terms = options.lease
    // Watchers on other machines see the player's report at each renewal.
    terms.renewal = min(terms.renewal, .seconds(1))
    let lease = try await takeLease(
      Self.lease(ofLane: lane), terms: terms, ofHome: node.home, lockedAt: node.place, isLostByTime: false,
      reports: reports)
    guard let lease else {
      throw LedgerError(.laneTaken, while: .playing, on: server, machine: try await otherMachine(of: lane))
    }
    return try seats.takeSeat(lane: lane, lock: lock, lease: lease, reports: reports)
  }

  public func ledger(under seat: PlayerSeat) -> any Ledger.Store {
    guard let lease = seat.lease else { return self }
    return PostgreSQLLedger(self, under: Fence(name: Self.lease(ofLane: seat.lane), lease: lease))
  }

  /// Returns the name of the machine that a lane belongs to; nil if the lane belongs to this machine.
  private func otherMachine(of lane: String) async throws(LedgerError) -> String? {
    try await read { [node] session in
      try session.value(Self.otherMachine, [.string(Self.lease(ofLane: lane)), .string(node.home)])
    }
  }

  static let otherMachine = """
    SELECT host AS value FROM leases JOIN nodes ON id = node WHERE name = $1 AND home <> $2
    """

  // MARK: - Watching

  public func player(lane: String) async throws(LedgerError) -> PlayerStatus {
    // The file of a player of this machine has the latest report.
    let own = try seats.player(lane: lane)
    if own.isRunning { return own }
    let rows = try await read { [leaseLength, node] session in
      try session.all(
        "\(Self.players) WHERE name = $3", [leaseLength, .string(node.place), .string(Self.lease(ofLane: lane))],
        PlayerStatus.init(row:))
    }
    return rows.first.map { Self.later($0, own) } ?? own
  }

  /// Returns the status of a lane in the database, with the report in the file of this machine's last player if that one
  /// is later. A player that ends soon after a report has not stored it in the database.
  private static func later(_ stored: PlayerStatus, _ own: PlayerStatus?) -> PlayerStatus {
    guard !stored.isRunning, let report = own?.report, report.reportedAt > stored.report?.reportedAt ?? .distantPast
    else { return stored }
    return PlayerStatus(lane: stored.lane, isRunning: false, report: report)
  }

  public func players() async throws(LedgerError) -> [PlayerStatus] {
    let rows = try await read { [leaseLength, node] session in
      try session.all(
        "\(Self.players) WHERE starts_with(name, 'lane:')", [leaseLength, .string(node.place)],
        PlayerStatus.init(row:))
    }
    let own = Dictionary(uniqueKeysWithValues: try seats.players().map { ($0.lane, $0) })
    let running = own.values.filter(\.isRunning)
    let others = rows.filter { own[$0.lane]?.isRunning != true }.map { Self.later($0, own[$0.lane]) }
    return (others + running).sorted { $0.lane.utf8.lexicographicallyPrecedes($1.lane.utf8) }
  }

  // A process with the locked files of this one has ended if no file is locked.
  static let players = """
    SELECT substr(name, 6) AS lane, report,
      NOT \(Schema.isFree("$1")) AND NOT EXISTS (SELECT 1 FROM nodes WHERE id = leases.node AND place = $2) AS held
    FROM leases
    """

  // MARK: - Lanes that no process plays

  /// Locks the lease of a lane, so that no player can begin until the transaction ends.
  ///
  /// - Throws: ``LedgerError`` with `laneTaken` if a process plays the lane.
  func lockUnplayed(
    _ lane: String, while action: LedgerError.Action, in session: borrowing PostgreSQLSession
  ) throws {
    let name = Self.lease(ofLane: lane)
    try session.lock(.leases, name)
    if try session.value(Self.isHeld, [.string(name), leaseLength], as: Bool.self) == true {
      throw error(.laneTaken, while: action)
    }
  }

  public func lanesToTakeOver() async throws(LedgerError) -> [String] {
    try await read { [node] session in
      try session.all(Self.ownLanes, [.string(node.home)]) { try $0.read("lane", as: String.self) }
    }
  }

  static let ownLanes = """
    SELECT DISTINCT lane FROM announcements
    WHERE finished_at IS NULL AND EXISTS (
      SELECT 1 FROM leases JOIN nodes ON id = node WHERE name = 'lane:' || lane AND home = $1)
    ORDER BY lane
    """

  public func moveHere(lane: String) async throws(LedgerError) -> Int {
    try checkLane(lane, while: .changing)
    return try await write(while: .changing) { [self] session in
      try lockUnplayed(lane, while: .changing, in: session)
      try noteNode(in: session)
      try session.execute(Self.assigning, [.string(Self.lease(ofLane: lane)), .string(node.id)])
      return try session.first(Self.waitingRequests, [.string(lane)]) { try $0.value("count") as Int } ?? 0
    }
  }

  // The new epoch keeps a former player from writing.
  static let assigning = """
    INSERT INTO leases (name, node, epoch, until) VALUES ($1, $2, 1, clock_timestamp())
    ON CONFLICT (name) DO UPDATE
      SET node = excluded.node, epoch = leases.epoch + 1, until = excluded.until, report = NULL
    """
  static let waitingRequests = "SELECT count(*) AS count FROM announcements WHERE lane = $1 AND \(unfinishedRequests)"
}

extension PlayerStatus {
  fileprivate init(row: PostgreSQLRow) throws {
    let report: Data? = try row.read("report")
    self.init(
      lane: try row.read("lane"), isRunning: try row.read("held"),
      report: report.flatMap { PlayerReport(bytes: Array($0)) })
  }
}
