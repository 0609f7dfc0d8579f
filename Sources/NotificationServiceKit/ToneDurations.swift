// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import SoundHeaders
import SoundLibrary

/// Finds out how long tones last. A tone may have any format that iOS plays; the header of its file states the length.
final class ToneDurations: Sendable {
  /// The maximum size in bytes of a file that is read: a sound of 30 s with two channels of 16 bits at 48,000 Hz. It is
  /// held in memory twice, and an extension has 24 MB.
  static let mostBytes = 5_800_000

  private struct Known {
    var byteCount: Int
    var changedAt: Date
    var duration: Int64?
  }

  private let folders: [URL]
  private let known = Locked<[URL: Known]>([:])

  /// - Parameter folders: The folders in which iOS looks for sounds, in its order.
  init(folders: [URL?]) { self.folders = folders.compactMap(\.self) }

  /// Returns the duration in ms of a tone; nil if there is none that iOS plays, so that its default sound is heard, or if
  /// the file is too large.
  func duration(of name: String) -> Int64? {
    guard SoundLibrary.isClipName(name) else { return nil }
    // One file at a time is in memory.
    return known.withLock { known in
      for folder in folders {
        let file = folder.appending(path: name, directoryHint: .notDirectory)
        let attributes = try? FileManager.default.attributesOfItem(atPath: file.path(percentEncoded: false))
        guard attributes?[.type] as? FileAttributeType == .typeRegular, let size = attributes?[.size] as? Int,
          let changedAt = attributes?[.modificationDate] as? Date
        else { continue }
        if let before = known[file], before.byteCount == size, before.changedAt == changedAt { return before.duration }
        let duration = size <= Self.mostBytes ? Self.read(file) : nil
        known[file] = Known(byteCount: size, changedAt: changedAt, duration: duration)
        return duration
      }
      return nil
    }
  }

  private static func read(_ file: URL) -> Int64? {
    guard let data = try? Data(contentsOf: file), let header = SoundHeader(of: [UInt8](data)),
      let milliseconds = header.durationMilliseconds
    else { return nil }
    // The header's duration is rounded down.
    let duration = Int64(milliseconds).plus(1)
    return duration < AnnouncementSounds.limitMilliseconds ? duration : nil
  }
}
