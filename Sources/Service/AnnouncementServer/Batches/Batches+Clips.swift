// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import Logging

/// The clips in the results of batches. Such a clip remains when another account removes an announcement with the same
/// clip. The names are held in memory first, because a disk write for each row would slow down a list whose clips
/// already exist.
extension Batches {
  /// The clips of a result that are not in the ledger yet.
  struct HeldClips: Sendable {
    var account: String
    var names: Set<String> = []
    /// The files of the clips, by name, as far as they are known.
    var files: [String: LibrarySound] = [:]
  }

  /// The number of rows whose clips are written to the ledger at once.
  static let rowsOfWrite = 500

  /// Returns whether the result of another account contains the clip and the ledger does not have this information yet.
  func holds(_ name: String, forOthersThan account: String) -> Bool {
    held.values.contains { $0.account != account && $0.names.contains(name) }
  }

  /// The ids of the unfinished batches, and those of their clips that the ledger may not know yet.
  var unfinished: (ids: [String], clips: Set<String>) {
    let ids = records.values.filter { $0.status.state == .running }.map(\.status.id)
    return (ids, ids.reduce(into: []) { $0.formUnion(held[$1]?.names ?? []) })
  }

  func hold(_ names: Set<String>, files: [LibrarySound] = [], account: String, batch id: String) {
    held[id, default: HeldClips(account: account)].names.formUnion(names)
    for file in files { held[id]?.files[file.name] = file }
  }

  /// Returns the app group in whose folder the clips of a batch are.
  nonisolated func group(of record: Record) -> String {
    record.options.group ?? record.options.defaultGroup ?? settings.group
  }

  /// Writes the held clips of a batch to the ledger. Clips that cannot be written remain held.
  ///
  /// - Returns: Whether the ledger has all clips of the batch.
  func writeClips(of id: String) async -> Bool {
    guard let clips = held[id] else { return true }
    var names = clips.names.sorted()[...]
    while !names.isEmpty {
      let some = names.prefix(Self.rowsOfWrite)
      do {
        try await ledger.note(
          clips: Array(some), ofBatch: id, account: clips.account, files: some.compactMap { clips.files[$0] })
      } catch {
        logger.warning(
          "The clips of a batch could not be recorded. The service tries again.",
          metadata: ["batch": "\(id)", "error": "\(error)"])
        return false
      }
      held[id]?.names.subtract(some)
      for name in some { held[id]?.files[name] = nil }
      names.removeFirst(some.count)
      libraryChanged()
    }
    if held[id]?.names.isEmpty == true { held[id] = nil }
    return held[id] == nil
  }

  /// Writes the held clips of a finished batch to the ledger. On success, notes in the batch's record that the ledger
  /// has them.
  func settleClips(of id: String) async {
    guard await writeClips(of: id), var record = records[id], record.status.state != .running else { return }
    record.areClipsNoted = true
    records[id] = record
    // If the record cannot be saved, the service reads the clips again at its next start.
    try? await files.save(record)
  }

  /// Reads the results whose clips are not in the ledger: results of earlier versions, and results of a service that
  /// ended before it wrote the clips to the ledger.
  func noteEarlierClips() async {
    let earlier = records.values.filter { $0.areClipsNoted != true }
    for record in earlier {
      let clips = await files.clips(inResultOf: record.status.id, group: group(of: record))
      hold(clips.names, files: clips.files, account: record.account, batch: record.status.id)
      await settleClips(of: record.status.id)
    }
  }
}
