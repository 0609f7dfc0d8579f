// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Ledger

extension Schema {
  /// The clips of answers, announcements and batches, indexed so that a removal can look them up. The index leaves out
  /// the player's own entries, because a replay uses its original's clip.
  private static let clipColumns = """
    ALTER TABLE answers ADD COLUMN clip TEXT;
    ALTER TABLE answers ADD COLUMN clip_group TEXT;
    CREATE TABLE batch_clips (
      clip    TEXT NOT NULL,
      account TEXT NOT NULL,
      batch   TEXT NOT NULL,
      PRIMARY KEY (clip, account)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX batch_clips_by_batch ON batch_clips (batch);
    CREATE INDEX announcements_by_clip ON announcements (clip, account)
      WHERE clip IS NOT NULL AND account NOT GLOB 'crier:*';
    """

  private static let clipIndex = "CREATE INDEX answers_by_clip ON answers (clip, account) WHERE clip IS NOT NULL"

  /// The change of migration 24: what the clip of an answer was made from, unless an announcement has the same payload.
  static let sourcesOfClips = """
    ALTER TABLE answers ADD COLUMN source BLOB;
    ALTER TABLE answers ADD COLUMN source_pack TEXT;
    """

  static func addClips(to database: Database) throws {
    try database.execute(sql: clipColumns)
    try fillClips(in: database)
    // The index is created after the rows are filled, so that it is built once and not updated for each row.
    try database.execute(sql: clipIndex)
  }

  /// Fills in the clips of answers that an earlier version stored. The clips are read from the answers' reports.
  private static func fillClips(in database: Database) throws {
    let page = try database.makeStatement(
      sql: "SELECT rowid AS number, report FROM answers WHERE rowid > ? ORDER BY rowid LIMIT 500")
    let update = try database.makeStatement(sql: "UPDATE answers SET clip = ?, clip_group = ? WHERE rowid = ?")
    var last: Int64 = 0
    while true {
      let rows = try Row.fetchAll(page, arguments: [last])
      for row in rows {
        last = try row.value("number")
        guard let clip = PublishedClip(inReport: try row.value("report")) else { continue }
        try update.execute(arguments: [clip.name, clip.group, last])
      }
      if rows.isEmpty { return }
    }
  }
}

extension PublishedClip {
  private struct Report: Decodable {
    struct Clip: Decodable {
      var name: String
      var path: String?
    }
    var clip: Clip
  }

  /// Reads the clip from a report of the service. The clip's path ends in the group's folder, `Library/Sounds` and the
  /// clip's name.
  ///
  /// - Returns: Nil when the report contains no clip that can be stored.
  fileprivate init?(inReport report: Data) {
    guard let clip = try? JSONDecoder().decode(Report.self, from: report).clip else { return nil }
    let path = (clip.path ?? "").split(separator: "/").suffix(4)
    let isInGroup = path.count == 4 && Array(path.dropFirst()) == ["Library", "Sounds", clip.name[...]]
    self.init(name: clip.name, group: isInGroup ? path.first.map(String.init) : nil)
    if brokenRule != nil { return nil }
  }
}
