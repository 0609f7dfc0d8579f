// SPDX-License-Identifier: Apache-2.0

import Announcer
import ConcurrencySupport
import FileSystem
import Foundation
import SoundLibrary
import Synchronization

extension Clips {
  /// Whether a clip in memory was requested since its use was last recorded. Setting this mark writes nothing to the
  /// disk.
  final class Use: Sendable {
    private let isUsed = Atomic(false)

    func mark() {
      // Most clips are marked already. Unlike a write, a read does not slow down the processor's other cores.
      if !isUsed.load(ordering: .relaxed) { isUsed.store(true, ordering: .relaxed) }
    }

    var isMarked: Bool { isUsed.load(ordering: .relaxed) }

    func take() -> Bool { isUsed.exchange(false, ordering: .relaxed) }
  }

  /// Returns whether the file of a clip still exists, and records that it is used. The file may have been removed from
  /// the folder in which a phone looks for the clip.
  static func isThere(_ report: ClipReport) -> Bool {
    guard let status = try? FileStatus.status(at: report.clip.path, followsLink: false), status.isRegularFile,
      status.byteCount > 0
    else { return false }
    guard SoundUse(at: Date()).isNews(lastUsedAt: status.modifiedAt) else { return true }
    let file = URL(filePath: report.clip.path)
    // The clip is in `Library/Sounds` of its container.
    let container = file.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let library = SoundLibrary(container: GroupContainer(directory: container))
    return (try? library.use(file.lastPathComponent)) ?? true
  }

  /// Records the uses of clips in memory since the last call, so that another process does not remove these clips. A
  /// clip's file is touched at most once an hour; see `SoundUse`.
  func recordUses() async { await recordUses(in: await allLibraries()) }

  private func recordUses(in libraries: [SoundLibrary]) async {
    let used = usesToRecord()
    guard !used.isEmpty else { return }
    await onWaitingThread {
      for library in libraries { for name in used { _ = try? library.use(name) } }
    }
    haveRecorded(used)
  }

  /// Removes from the folders of all app groups, and from memory, the clips that a rule does not keep.
  ///
  /// - Parameters:
  ///   - needed: Returns the names of the clips that must stay. It is called first with nil, which means
  ///     all clips, and then with the names of each small group before that group is removed.
  ///   - failed: Called with each error. The other clips and folders are still pruned.
  /// - Returns: The removed clips.
  /// - Throws: The error of the first call of `needed`. Nothing was removed then.
  func prune(
    _ keeping: SoundKeeping, needed: @Sendable (_ names: [String]?) async throws -> Set<String>,
    failed: @escaping @Sendable (any Error) -> Void
  ) async throws -> [SoundKeeping.Removal] {
    let libraries = await allLibraries()
    // The uses are recorded before the folders are read, so that these uses count.
    await recordUses(in: libraries)
    let neededBefore = try await needed(nil)
    var removals: [SoundKeeping.Removal] = []
    for library in libraries {
      do {
        let excess = try await onWaitingThread { try library.excess(keeping, needed: neededBefore, tidies: true) }
        for group in SoundKeeping.groups(of: excess) {
          // A replay, for example, needs a clip that nobody has used for days.
          let neededNow = try await needed(group.map(\.sound.name))
          let removed = try await onWaitingThread { [self] in
            try library.remove(group, unless: { neededNow.contains($0) || !release($0) }, failed: failed)
          }
          forget(Set(removed.map(\.sound.name)))
          removals += removed
        }
      } catch {
        failed(error)
      }
    }
    return removals
  }
}
