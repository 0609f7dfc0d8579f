// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import SoundHeaders
import SoundLibrary

/// Finds out how long tones last. A tone may have any format that iOS plays; the header of its file states the length,
/// so only a few pages of the file are read.
final class ToneDurations: Sendable {
  private struct Known {
    var byteCount: Int
    var changedAt: Date
    var duration: Int64?
  }

  private let folders: [URL]
  private let known = Locked<[URL: Known]>([:])

  /// - Parameter folders: The folders in which iOS looks for sounds, in its order.
  init(folders: [URL?]) { self.folders = folders.compactMap(\.self) }

  /// Returns the duration in ms of a tone; nil if iOS plays the system's default sound for this name. iOS plays the
  /// default sound for the name `default`, and if no folder has a sound of this name that is shorter than 30 s.
  func duration(of name: String) -> Int64? {
    guard SoundLibrary.isClipName(name) else { return nil }
    return known.withLock { known in
      for folder in folders {
        let file = folder.appending(path: name, directoryHint: .notDirectory)
        let attributes = try? FileManager.default.attributesOfItem(atPath: file.path(percentEncoded: false))
        guard attributes?[.type] as? FileAttributeType == .typeRegular, let size = attributes?[.size] as? Int,
          let changedAt = attributes?[.modificationDate] as? Date
        else { continue }
        if let before = known[file], before.byteCount == size, before.changedAt == changedAt { return before.duration }
        let duration = Self.read(file)
        known[file] = Known(byteCount: size, changedAt: changedAt, duration: duration)
        return duration
      }
      return nil
    }
  }

  private static func read(_ file: URL) -> Int64? {
    guard let header = SoundHeader(ofFileAt: file), let milliseconds = header.durationMilliseconds else { return nil }
    // One ms is added, because the header's duration is rounded down.
    let duration = Int64(milliseconds).plus(1)
    return duration < AnnouncementSounds.limitMilliseconds ? duration : nil
  }
}
