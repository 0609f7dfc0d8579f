// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Ledger
import Logging

/// The clips of batches' results, which stay when another account removes an announcement of theirs. They are held in
/// memory first, for a write to the disk for each row would make a list of known clips slow.
extension Batches {
  /// Clips of a result that the ledger does not have yet.
  struct HeldClips: Sendable {
    var account: String
    var names: Set<String> = []
  }

  /// The clips of so many rows are written at once.
  static let rowsOfWrite = 500

  /// Whether a result of another account has the clip, and the ledger does not know of it yet.
  func holds(_ name: String, forOthersThan account: String) -> Bool {
    held.values.contains { $0.account != account && $0.names.contains(name) }
  }

  func hold(_ names: Set<String>, account: String, batch id: String) {
    held[id, default: HeldClips(account: account)].names.formUnion(names)
  }

  /// Writes the clips that are held of a batch into the ledger. Those that cannot be written are held on.
  ///
  /// - Returns: whether the ledger has all of them.
  func writeClips(of id: String) async -> Bool {
    guard let clips = held[id] else { return true }
    var names = clips.names.sorted()[...]
    while !names.isEmpty {
      let some = names.prefix(Self.rowsOfWrite)
      do {
        try await ledger.note(clips: Array(some), ofBatch: id, account: clips.account)
      } catch {
        logger.warning(
          "The clips of a batch could not be written down; it is tried again.",
          metadata: ["batch": "\(id)", "error": "\(error)"])
        return false
      }
      held[id]?.names.subtract(some)
      names.removeFirst(some.count)
    }
    if held[id]?.names.isEmpty == true { held[id] = nil }
    return held[id] == nil
  }

  /// Writes what is held of a batch that has ended, and that the ledger has its clips from then on.
  func settleClips(of id: String) async {
    guard await writeClips(of: id), var record = records[id], record.status.state != .running else { return }
    record.areClipsNoted = true
    records[id] = record
    // Otherwise the next service reads them once more.
    try? save(record)
  }

  /// Reads the results whose clips the ledger does not have: those of earlier versions, and what a service wrote before it
  /// was ended.
  func noteEarlierClips() async {
    let earlier = records.values.filter { $0.areClipsNoted != true }
    for record in earlier {
      let file = result(record.status.id)
      hold(await onWaitingThread { Self.clips(in: file) }, account: record.account, batch: record.status.id)
      await settleClips(of: record.status.id)
    }
  }

  private struct Row: Decodable {
    struct Clip: Decodable { var name: String }
    var clip: Clip
  }

  /// The clips of a result; none when there is none.
  private static func clips(in result: URL) -> Set<String> {
    guard let lines = try? Data(contentsOf: result, options: .alwaysMapped).split(separator: UInt8(ascii: "\n")) else {
      return []
    }
    return Set(lines.compactMap { try? JSONDecoder().decode(Row.self, from: $0).clip.name }.filter(Clips.isName))
  }
}
