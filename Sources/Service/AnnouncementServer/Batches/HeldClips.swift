// SPDX-License-Identifier: Apache-2.0

import Ledger
import Logging

/// The clips in the results of batches that are not in the ledger yet. Such a clip remains when another account removes
/// an announcement with the same clip. The names are held in memory first, because a disk write for each row would slow
/// down a list whose clips already exist.
actor HeldClips {
  private struct Clips: Sendable {
    var account: String
    var names: Set<String> = []
    /// The known files of the clips, by the names of the clips.
    var files: [String: LibrarySound] = [:]
  }

  /// The number of rows whose clips are written to the ledger at once.
  static let rowsOfWrite = 500

  private let ledger: any Ledger.BatchStore
  private let logger: Logger
  private let libraryChanged: @Sendable () -> Void
  private var held: [String: Clips] = [:]

  /// - Parameter libraryChanged: Called when clips were added to the library. It must return at once.
  init(_ ledger: any Ledger.BatchStore, logger: Logger, libraryChanged: @escaping @Sendable () -> Void) {
    (self.ledger, self.logger, self.libraryChanged) = (ledger, logger, libraryChanged)
  }

  /// The ids of the batches whose clips are held.
  var batches: [String] { Array(held.keys) }

  /// Returns whether a result of another account contains the clip, and the ledger does not know this yet.
  func holds(_ name: String, forOthersThan account: String) -> Bool {
    held.values.contains { $0.account != account && $0.names.contains(name) }
  }

  /// Returns the clips of batches that the ledger may not know yet.
  func names(ofBatches ids: [String]) -> Set<String> { ids.reduce(into: []) { $0.formUnion(held[$1]?.names ?? []) } }

  func hold(_ names: Set<String>, files: [LibrarySound] = [], account: String, batch id: String) {
    held[id, default: Clips(account: account)].names.formUnion(names)
    for file in files { held[id]?.files[file.name] = file }
  }

  /// Forgets the clips of a batch that is removed, or that another node works on.
  func forget(batch id: String) { held[id] = nil }

  /// Writes the held clips of a batch to the ledger. Clips that cannot be written remain held.
  ///
  /// - Returns: Whether the ledger has all clips of the batch.
  @discardableResult
  func write(of id: String) async -> Bool {
    guard let clips = held[id] else { return true }
    var names = clips.names.sorted()[...]
    while !names.isEmpty {
      let some = names.prefix(Self.rowsOfWrite)
      do {
        try await ledger.note(
          clips: Array(some), ofBatch: id, account: clips.account, files: some.compactMap { clips.files[$0] })
      } catch {
        logger.warning(
          "The clips of a batch could not be entered in the ledger. The service tries again.",
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
}
