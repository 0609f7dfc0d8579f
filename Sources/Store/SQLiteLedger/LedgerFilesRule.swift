// SPDX-License-Identifier: Apache-2.0

import FileSystem
import Ledger

/// The rule that decides whether the three files of an open ledger are still the ones that were opened, and whole. The
/// rule itself reads no file.
///
/// Each ``Look`` at the files is compared with the one before. SQLite itself makes files shorter in a few cases, and
/// the rule allows exactly these:
/// - A checkpoint may cut the file to the size of the database. It never cuts the file further. The database gets
///   smaller only when pruning returns pages, and each look contains its size.
/// - A write that starts the log afresh writes a new header, and may then cut the log to ``SQLiteLedger/logBytes``.
/// - Another process may do all of this between two looks. SQLite's data version shows that another process has
///   written. The comparison alone then cannot explain a shorter file, so the caller checks every page.
struct LedgerFilesRule {
  struct Look: Sendable, Equatable {
    /// The files that have the names now; nil when no file has the name.
    var file: FileStatus?
    var log: FileStatus?
    var index: FileStatus?
    /// The header of the log that was opened; empty for a log without one.
    var logHeader: [UInt8] = []
    /// The size of the database in bytes, including pages that are only in the log. It is read after the files.
    var databaseBytes: Int
    /// SQLite's `data_version`, which changes when another connection has written. It is read after the rest.
    var dataVersion: Int
  }

  enum Verdict: Sendable, Equatable {
    case whole
    /// Another process has written too, so only a check of every page can decide whether the files are whole.
    case unexplained(LedgerError.FileChange)
    case changed(LedgerError.FileChange)
  }

  private(set) var last: Look
  /// Whether this ledger may have written since the last look.
  var hasWritten = false

  init(_ first: Look) { last = first }

  /// Judges a look. If the files are whole, the next look is compared with this one.
  mutating func judge(_ look: Look) -> Verdict {
    let verdict = verdict(look)
    if verdict == .whole { accept(look) }
    return verdict
  }

  /// Records a look whose files are whole, so that the next look is compared with it. For example, a check of every
  /// page has found them whole.
  mutating func accept(_ look: Look) {
    last = look
    hasWritten = false
  }

  private func verdict(_ look: Look) -> Verdict {
    for (part, then, now) in [
      (LedgerError.FileChange.Part.file, last.file, look.file), (.log, last.log, look.log),
      (.index, last.index, look.index),
    ] {
      guard let then else { continue }
      guard let now else { return .changed(.init(part, .removed)) }
      guard now.isSameFile(as: then) else { return .changed(.init(part, .replaced)) }
    }
    let othersWrote = look.dataVersion != last.dataVersion
    func cut(_ part: LedgerError.FileChange.Part) -> Verdict {
      othersWrote ? .unexplained(.init(part, .cut)) : .changed(.init(part, .cut))
    }
    let needed = min(last.file?.byteCount ?? 0, last.databaseBytes, look.databaseBytes)
    if look.file?.byteCount ?? 0 < needed { return cut(.file) }

    if look.logHeader != last.logHeader {
      guard look.logHeader.count == LogFile.headerBytes else { return cut(.log) }
      // A log without frames gets its header before SQLite's data version changes.
      let mayBegin = hasWritten || othersWrote || last.logHeader.isEmpty
      guard mayBegin, LogFile.isHeader(look.logHeader) else { return .changed(.init(.log, .overwritten)) }
    } else {
      let logBytes = last.log?.byteCount ?? 0
      if look.log?.byteCount ?? 0 < (hasWritten ? min(logBytes, Int(SQLiteLedger.logBytes)) : logBytes) {
        return cut(.log)
      }
    }
    return .whole
  }
}
