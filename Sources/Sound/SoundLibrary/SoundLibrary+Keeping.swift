// SPDX-License-Identifier: Apache-2.0

import FileSystem
import Foundation

extension SoundLibrary {
  /// Returns whether a name is that of a rendered clip: 64 lower-case hexadecimal digits and an extension.
  public static func isRenderedClip(_ name: String) -> Bool {
    let parts = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].count == 64 else { return false }
    return parts[0].allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
      && ["wav", "aiff", "caf"].contains(String(Substring(parts[1])))
  }

  /// Returns the files in the folder that have a valid clip name, in the order of their names; an empty array when the
  /// folder does not exist. Folders and symbolic links are left out.
  ///
  /// - Throws: ``SoundLibraryError``.
  public func sounds() throws(SoundLibraryError) -> [StoredSound] { try sounds(named: try names()) }

  private func sounds(named names: [String]) throws(SoundLibraryError) -> [StoredSound] {
    guard !names.isEmpty else { return [] }
    return try inFolder(while: .reading) { folder throws(SystemError) in
      var sounds: [StoredSound] = []
      for name in names {
        // A file that somebody removes at this moment is left out.
        guard let status = try? folder.status(of: name), status.isRegularFile else { continue }
        sounds.append(
          StoredSound(
            name: name, byteCount: status.byteCount,
            lastUsed: Date(timeIntervalSince1970: TimeInterval(status.modifiedAt))))
      }
      return sounds
    } ?? []
  }

  /// Records that a clip is used, so that it is kept.
  ///
  /// - Returns: Whether the clip exists. If it does, ``excess(_:needed:tidies:)`` does not return it within the time for
  ///   which its rule keeps used clips.
  /// - Throws: ``SoundLibraryError``.
  @discardableResult
  public func use(_ name: String) throws(SoundLibraryError) -> Bool {
    _ = try url(for: name)  // this refuses invalid clip names
    return try inFolder(while: .reading) { folder throws(SystemError) in
      try folder.mark(SoundUse(at: now()), name)
    } != nil
  }

  /// Returns the clips that a rule does not keep, in the order of their last use.
  ///
  /// - Parameters:
  ///   - needed: The names of clips that must stay.
  ///   - tidies: Whether this method removes the temporary files of processes that have ended, and corrects last uses
  ///     in the future. If false, it changes nothing.
  /// - Throws: ``SoundLibraryError``.
  public func excess(
    _ keeping: SoundKeeping, needed: Set<String>, tidies: Bool = false
  ) throws(SoundLibraryError) -> [SoundKeeping.Removal] {
    let now = now()
    // A folder can have a million entries, so it is listed once.
    let names = try entryNames()
    let sounds = try sounds(named: names.filter(Self.isClipName).sorted())
    if tidies { try tidy(names, sounds, at: now) }
    return keeping.removals(from: sounds, needed: needed.union(chosenTone), at: now)
  }

  /// Removes clips that ``excess(_:needed:tidies:)`` returned. A clip that was used or published since then stays.
  ///
  /// Other processes can use the folder at the same time. Clips can become needed between ``excess(_:needed:tidies:)``
  /// and this call. Pass the clips in the small groups of ``SoundKeeping/groups(of:)``, and check before each group
  /// which of its clips have become needed.
  ///
  /// - Parameters:
  ///   - isKept: Called with a clip's name just before its removal. If it returns true, the clip stays.
  ///   - failed: Called with each error that prevents the removal of a clip. The other clips are still removed.
  /// - Returns: The removed clips, in the given order.
  /// - Throws: ``SoundLibraryError`` if the folder cannot be opened. Nothing was removed then.
  public func remove(
    _ removals: some Collection<SoundKeeping.Removal>, unless isKept: (String) -> Bool = { _ in false },
    failed: (SoundLibraryError) -> Void = { _ in }
  ) throws(SoundLibraryError) -> [SoundKeeping.Removal] {
    guard !removals.isEmpty, let folder = try openFolder() else { return [] }
    let tone = chosenTone
    var removed: [SoundKeeping.Removal] = []
    for removal in removals where !tone.contains(removal.sound.name) && !isKept(removal.sound.name) {
      let time = Int(removal.sound.lastUsed.timeIntervalSince1970)
      do throws(SystemError) {
        if try folder.remove(removal.sound.name, lastUsedAt: time) { removed.append(removal) }
      } catch {
        failed(SoundLibraryError(error, while: .removing, in: soundsDirectory))
      }
    }
    do throws(SystemError) {
      try folder.synchronize()
    } catch {
      failed(SoundLibraryError(error, while: .removing, in: soundsDirectory))
    }
    return removed
  }

  /// The name of the chosen tone; empty if there is none. The name of a downloaded sound may look like that of a
  /// rendered clip. If this sound is the chosen tone, it stays.
  private var chosenTone: Set<String> {
    Set([try? FileTonePreference(container: container, calls: calls).tone()].compactMap(\.self))
  }

  /// Removes the temporary files of processes that have ended, and corrects last uses in the future.
  private func tidy(_ names: [String], _ sounds: [StoredSound], at now: Date) throws(SoundLibraryError) {
    let temporaries = names.filter { $0.hasPrefix(SoundsFolder.temporaryPrefix) }
    let use = SoundUse(at: now)
    let misdated = sounds.filter { $0.lastUsed > now && use.isNews(lastUsedAt: Int($0.lastUsed.timeIntervalSince1970)) }
    guard !temporaries.isEmpty || !misdated.isEmpty, let folder = try openFolder() else { return }
    for name in temporaries { _ = folder.removeIfAbandoned(name) }
    // A last use in the future comes from a wrong clock. The clip would be kept for too long, by the error of that
    // clock.
    for sound in misdated { try? folder.mark(use, sound.name) }
  }

  /// Opens the folder to remove files from it; returns nil if it does not exist.
  private func openFolder() throws(SoundLibraryError) -> SoundsFolder? {
    do throws(SystemError) {
      return try SoundsFolder(of: container, calls: calls)
    } catch {
      if error.kind == .missing { return nil }
      throw SoundLibraryError(error, while: .removing, in: soundsDirectory)
    }
  }
}
