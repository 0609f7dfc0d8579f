// SPDX-License-Identifier: Apache-2.0

public import Foundation
private import GRDB

/// Functions that fill a closed ledger, and damage a part of its file. Nothing reads this part before a check of the
/// ledger.
public enum DamagedLedger {
  /// The damaged part.
  public enum Part: String, CaseIterable, Sendable {
    case table, index, freeList

    /// The tree of pages to which the part belongs; nil for the list of free pages.
    fileprivate var tree: String? {
      switch self {
      case .table: "announcements"
      case .index: "announcements_by_state"
      case .freeList: nil
      }
    }
  }

  private static let pageBytes = 4096

  /// Adds played announcements to a closed ledger, and removes their events, so that the pages of the events are free.
  public static func fill(_ file: URL, announcements count: Int) throws {
    let database = try DatabaseQueue(waitingFor: file)
    try database.writeWithoutTransaction { database in
      try database.inTransaction {
        try database.execute(
          sql: """
            WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
            INSERT INTO announcements
              (account, id, lane, category, payload, state, accepted_at, changed_at, finished_at, clip)
            SELECT 'shop', 'p' || n, 'counter', 'payment', CAST('{"amount":"12.50"}' AS BLOB), 'played', n, n,
              strftime('%s', 'now') * 1000, 'clip-' || n || '.wav' FROM numbers;
            """, arguments: [count])
        try database.execute(
          sql: "INSERT INTO events (at, announcement, lane, kind) SELECT 1, number, lane, state FROM announcements")
        try database.execute(sql: "DELETE FROM events")
        return .commit
      }
      try database.checkpoint(.truncate)
    }
    try database.close()
  }

  /// Overwrites a page of a closed ledger.
  public static func damage(_ part: Part, of file: URL) throws {
    var bytes = try Data(contentsOf: file)
    let page: Int
    if let tree = part.tree {
      let database = try DatabaseQueue(waitingFor: file)
      let root = try database.read {
        try Int.fetchOne($0, sql: "SELECT rootpage FROM sqlite_schema WHERE name = ?", arguments: [tree])
      }
      try database.close()
      page = firstLeaf(below: root ?? 1, in: bytes)
    } else {
      page = number(at: 32, in: bytes)  // The first page of the list of free pages.
    }
    let start = (page - 1) * pageBytes
    bytes.replaceSubrange(start..<start + 200, with: Data(repeating: 0xAA, count: 200))
    try bytes.write(to: file)
  }

  /// Returns the page with the first rows of a tree. A page of the kind 2 or 5 has the numbers of the pages below it;
  /// see <https://www.sqlite.org/fileformat2.html#b_tree_pages>.
  private static func firstLeaf(below root: Int, in bytes: Data) -> Int {
    var page = root
    while [2, 5].contains(bytes[(page - 1) * pageBytes]) {
      let start = (page - 1) * pageBytes
      let cell = Int(bytes[start + 12]) << 8 | Int(bytes[start + 13])
      page = number(at: start + cell, in: bytes)
    }
    return page
  }

  private static func number(at position: Int, in bytes: Data) -> Int {
    bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
  }
}
