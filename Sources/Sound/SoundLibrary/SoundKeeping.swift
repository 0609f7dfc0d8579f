// SPDX-License-Identifier: Apache-2.0

import FileSystem
public import Foundation

/// One use of a clip, for example by a request for it. The file's modification time records the last use.
///
/// A use is recorded at most once in ``interval`` for each clip, so that frequent requests for one clip cause few
/// writes.
public struct SoundUse: Sendable, Hashable {
  /// The largest error of a recorded last use, in seconds.
  public static let interval: TimeInterval = 3600

  /// The time of the use, in whole seconds since 1970.
  let time: Int

  public init(at time: Date) { self.time = Int(time.timeIntervalSince1970) }

  /// Whether the recorded last use is so old that this use must be recorded. A last use in the future comes from a
  /// wrong clock, so it must be corrected, too.
  func isNews(_ status: FileStatus) -> Bool { isNews(lastUsedAt: status.modifiedAt) }

  package func isNews(lastUsedAt last: Int) -> Bool {
    // Nothing is subtracted from `last`, because another program may have set any time, and the subtraction could
    // overflow.
    last < time - Int(Self.interval) || last > time + Int(Self.interval)
  }
}

/// A file in `Library/Sounds`.
public struct StoredSound: Sendable, Hashable {
  public var name: String
  /// The size of the file in bytes.
  public var byteCount: Int
  /// The recorded last use. The real last use may be up to ``SoundUse/interval`` later.
  public var lastUsed: Date

  public init(name: String, byteCount: Int, lastUsed: Date) {
    self.name = name
    self.byteCount = byteCount
    self.lastUsed = lastUsed
  }

  /// Whether the name is that of a rendered clip: the digest of its recipe and an extension. Such a clip can be made
  /// again. Files with other names, such as tones, are never removed to keep a budget.
  public var isRenderedClip: Bool { SoundLibrary.isRenderedClip(name) }
}

/// The rule that decides which clips of a folder are removed. The clip that was unused for the longest time is removed
/// first.
public struct SoundKeeping: Sendable, Hashable {
  /// The maximum size of all files in bytes; nil for no limit.
  public var mostBytes: Int?
  /// The maximum number of files; nil for no limit.
  public var mostFiles: Int?
  /// The time after which an unused clip is removed, in seconds; nil for no limit.
  public var longestUnused: TimeInterval?
  /// The time in seconds for which a clip is kept after its last use, even beyond the limits. It is at least
  /// ``shortestKept``.
  public private(set) var keptAfterUse: TimeInterval

  /// The shortest time in seconds for which a clip is kept after its last use: an hour. A phone fetches a new clip
  /// within this time.
  public static let shortestKept: TimeInterval = 3600

  /// - Parameter keptAfterUse: The time in seconds for which links to clips are valid. A clip stays as long as a link
  ///   to it may be valid.
  public init(
    mostBytes: Int? = nil, mostFiles: Int? = nil, longestUnused: TimeInterval? = nil, keptAfterUse: TimeInterval = 0
  ) {
    self.init(
      mostBytes, mostFiles, longestUnused,
      keptAfterRecordedUse: max(keptAfterUse, Self.shortestKept) + SoundUse.interval)
  }

  /// Creates a rule with a time shorter than ``shortestKept``. Only tests need it.
  package init(
    _ mostBytes: Int?, _ mostFiles: Int?, _ longestUnused: TimeInterval?, keptAfterRecordedUse: TimeInterval
  ) {
    self.mostBytes = mostBytes
    self.mostFiles = mostFiles
    self.longestUnused = longestUnused
    keptAfterUse = keptAfterRecordedUse
  }

  /// The reason why a clip is removed.
  public enum Reason: String, Sendable, Hashable {
    /// The clip was unused for longer than ``SoundKeeping/longestUnused``.
    case unused
    /// There are too many files, or they are too large together.
    case budget
  }

  /// The reason why a file is not removed, even beyond the limits.
  public enum KeepReason: String, Sendable, Hashable {
    /// The file is a tone or another file that cannot be made again.
    case notAClip = "not_a_clip"
    /// An unfinished announcement, batch or push needs the file.
    case needed
    /// The file was used recently, or a link to it is still valid.
    case recentlyUsed = "recently_used"
  }

  /// Returns the reasons why a file is not removed; an empty array if only the limits decide.
  public func reasonsToKeep(_ sound: StoredSound, needed: Set<String>, at now: Date) -> [KeepReason] {
    var reasons: [KeepReason] = []
    if !sound.isRenderedClip { reasons.append(.notAClip) }
    if needed.contains(sound.name) { reasons.append(.needed) }
    if now.timeIntervalSince(sound.lastUsed) <= keptAfterUse { reasons.append(.recentlyUsed) }
    return reasons
  }

  public struct Removal: Sendable, Hashable {
    public var sound: StoredSound
    public var reason: Reason
  }

  /// Returns the clips to remove, in the order of their last use.
  ///
  /// - Parameters:
  ///   - sounds: All files of the folder.
  ///   - needed: The names of clips that must stay, such as those of waiting announcements.
  public func removals(from sounds: [StoredSound], needed: Set<String>, at now: Date) -> [Removal] {
    var bytes = sounds.reduce(0) { $0 + $1.byteCount }
    var files = sounds.count
    var removals: [Removal] = []
    let candidates = sounds.filter { reasonsToKeep($0, needed: needed, at: now).isEmpty }
    for sound in candidates.sorted(by: { ($0.lastUsed, $0.name) < ($1.lastUsed, $1.name) }) {
      let isUnused = longestUnused.map { now.timeIntervalSince(sound.lastUsed) > $0 } ?? false
      let isOverBudget = mostBytes.map { bytes > $0 } ?? false || mostFiles.map { files > $0 } ?? false
      // The remaining clips were used later, so they stay as well.
      guard isUnused || isOverBudget else { break }
      removals.append(Removal(sound: sound, reason: isUnused ? .unused : .budget))
      bytes -= sound.byteCount
      files -= 1
    }
    return removals
  }
  /// The maximum number of clips in each group of ``groups(of:)``. The removal of so many files takes some
  /// milliseconds.
  public static let groupSize = 256

  /// Divides clips into small groups, in the given order. Before each group, the caller can check which clips have
  /// become needed; see ``SoundLibrary/remove(_:unless:failed:)``.
  public static func groups(of removals: [Removal]) -> [ArraySlice<Removal>] {
    stride(from: 0, to: removals.count, by: groupSize).map { removals[$0..<min($0 + groupSize, removals.count)] }
  }
}
