// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import FileSystem
import Foundation

/// Publishes clips in groups, so that the folder's entries are synchronized to the disk once for a group and not once
/// for each clip.
///
/// ``prepare(_:as:)`` writes a clip under a hidden name, and ``publish(_:)`` puts the clips of a group in place:
/// 1. It synchronizes the bytes of each clip.
/// 2. It renames each clip whose bytes are on the disk.
/// 3. It synchronizes the folder.
///
/// A clip therefore exists completely or not at all, as with ``SoundLibrary/publish(_:as:)``. When ``publish(_:)``
/// returns, the clips survive a power cut. A prepared clip has only a hidden name in the folder. If its process ends
/// before the clip is published, the file is removed by the next publisher that needs the hidden name, or by
/// ``SoundLibrary/excess(_:needed:tidies:)``.
///
/// Any number of threads can use one `GroupedPublishing`. Its calls block the thread.
public final class GroupedPublishing: Sendable {
  private struct State {
    /// The open folder in which the next clip is written; nil if it must be opened.
    var folder: SharedFolder?
    /// The number of the hidden name that is tried first for the next clip. Names that were free before are rarely
    /// taken now.
    var nextName = Int.random(in: 0..<SoundsFolder.temporaryNameCount)
    /// The unpublished clips by name, with the tasks that wait for them. Each name with a prepared clip has an entry.
    var unpublished: [String: Unpublished] = [:]
  }

  private struct Unpublished {
    var clips = 0
    var waiting: [AwaitedAnswer<Void>] = []
  }

  private let library: SoundLibrary
  private let state = Locked(State())

  public init(library: SoundLibrary) { self.library = library }

  /// Writes a clip under a hidden name in `Library/Sounds`, and asks the system to begin writing it to the disk.
  ///
  /// The clip occupies a file descriptor until it is published or its last reference is gone.
  ///
  /// - Parameters:
  ///   - bytes: See ``SoundLibrary/publish(_:as:)``.
  ///   - name: See ``SoundLibrary/publish(_:as:)``.
  /// - Throws: ``SoundLibraryError``. No part of the clip is left then.
  public func prepare(_ bytes: [UInt8], as name: String) throws(SoundLibraryError) -> PreparedClip {
    try library.check(bytes, name)
    do throws(SystemError) {
      let (folder, first) = try openFolder()
      let temporary = try folder.folder.write(bytes, startingAt: first, use: SoundUse(at: library.now()))
      // An error is ignored here, because it occurs again when the bytes are synchronized.
      try? folder.folder.calls.startWriting(temporary.file.number)
      state.withLock { $0.unpublished[name, default: Unpublished()].clips += 1 }
      return PreparedClip(name: name, temporary: temporary, folder: folder, library: library) { self.forget(name) }
    } catch {
      throw SoundLibraryError(error, while: .publishing, in: library.soundsDirectory)
    }
  }

  /// Puts prepared clips in place and returns when they survive a power cut.
  ///
  /// - Parameter clips: Clips that this object has prepared and that were not published yet. If several have the same
  ///   name, the last one wins.
  /// - Returns: For each clip its error, or nil if it was published. If one clip fails, no part of it is left, and the
  ///   others are still published. The last step synchronizes the folder. If this step fails, all clips have its error,
  ///   although they may already be in place.
  public func publish(_ clips: [PreparedClip]) -> [SoundLibraryError?] {
    // If the folder was deleted in the meantime, it is created again for the next clips.
    state.withLock { $0.folder = nil }
    var errors = [SystemError?](repeating: nil, count: clips.count)
    for (index, clip) in clips.enumerated() {
      errors[index] = Self.error { () throws(SystemError) in try clip.synchronize() }
    }
    for (index, clip) in clips.enumerated() where errors[index] == nil {
      errors[index] = Self.error { () throws(SystemError) in try clip.rename() }
    }
    // All clips of a group are usually in one folder. They can be in two folders if another thread began a publication.
    var folders: [(folder: SharedFolder, error: SystemError?)] = []
    for (index, clip) in clips.enumerated() where errors[index] == nil {
      if let known = folders.first(where: { $0.folder === clip.folder }) {
        errors[index] = known.error
      } else {
        errors[index] = Self.error { () throws(SystemError) in try clip.folder.folder.synchronize() }
        folders.append((clip.folder, errors[index]))
      }
    }
    for clip in clips { clip.end() }
    return errors.map { error in
      error.map { SoundLibraryError($0, while: .publishing, in: library.soundsDirectory) }
    }
  }

  /// Waits while a clip with this name is prepared but neither published nor given up.
  ///
  /// - Returns: False, at once, if there is no such clip.
  public func waitForClips(named name: String) async -> Bool {
    guard state.withLock({ $0.unpublished[name] != nil }) else { return false }
    await waitForAnswer { answer in
      let isWaiting = state.withLock { state in
        guard state.unpublished[name] != nil else { return false }
        state.unpublished[name]?.waiting.append(answer)
        return true
      }
      if !isWaiting { answer.give(()) }
    }
    return true
  }

  private func openFolder() throws(SystemError) -> (SharedFolder, firstName: Int) {
    let (open, first) = state.withLock { state in
      state.nextName = (state.nextName + 1) % SoundsFolder.temporaryNameCount
      return (state.folder, state.nextName)
    }
    if let open { return (open, first) }
    let opened = SharedFolder(try SoundsFolder(of: library.container, making: .readableByAll, calls: library.calls))
    // Another thread may have opened the folder too. Both can be used.
    state.withLock { $0.folder = opened }
    return (opened, first)
  }

  /// Removes the record of a prepared clip that was published or given up, and resumes the waiting tasks.
  private func forget(_ name: String) {
    let waiting = state.withLock { state -> [AwaitedAnswer<Void>] in
      state.unpublished[name]?.clips -= 1
      guard let entry = state.unpublished[name], entry.clips == 0 else { return [] }
      state.unpublished[name] = nil
      return entry.waiting
    }
    for answer in waiting { answer.give(()) }
  }

  private static func error(_ step: () throws(SystemError) -> Void) -> SystemError? {
    do throws(SystemError) {
      try step()
      return nil
    } catch {
      return error
    }
  }
}

/// A clip that was written under a hidden name and is not published yet. Its file is removed with the last reference to
/// it.
public final class PreparedClip: Sendable {
  public let name: String

  let folder: SharedFolder

  private let temporary: SoundsFolder.Temporary
  private let library: SoundLibrary
  private let isRenamed = Locked(false)
  private let hasEnded = Locked(false)
  private let whenEnded: @Sendable () -> Void

  fileprivate init(
    name: String, temporary: consuming SoundsFolder.Temporary, folder: SharedFolder, library: SoundLibrary,
    whenEnded: @escaping @Sendable () -> Void
  ) {
    self.name = name
    self.temporary = temporary
    self.folder = folder
    self.library = library
    self.whenEnded = whenEnded
  }

  deinit { end() }

  fileprivate func synchronize() throws(SystemError) { try temporary.file.synchronize() }

  fileprivate func rename() throws(SystemError) {
    let setAside = try folder.folder.replace(name, by: temporary.name)
    isRenamed.withLock { $0 = true }
    library.report(setAside: setAside)
  }

  /// Removes the file if it was not renamed, and resumes the tasks that wait for the clip.
  fileprivate func end() {
    let isFirst = hasEnded.withLock { hasEnded in
      defer { hasEnded = true }
      return !hasEnded
    }
    guard isFirst else { return }
    // The file is still locked, so its hidden name cannot belong to another publisher's file.
    if !isRenamed.withLock({ $0 }) { try? folder.folder.calls.remove(folder.folder.folder.number, temporary.name) }
    whenEnded()
  }
}

/// An open folder that several clips share.
final class SharedFolder: Sendable {
  let folder: SoundsFolder

  init(_ folder: consuming SoundsFolder) { self.folder = folder }
}
