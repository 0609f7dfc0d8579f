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
    do throws(SystemError) {
      let folder = try SoundsFolder(existing: container, calls: calls)
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
    } catch {
      if error.kind == .missing { return [] }
      throw SoundLibraryError(error, while: .reading, in: soundsDirectory)
    }
  }

  /// Records that a clip is used, so that it is kept.
  ///
  /// - Returns: Whether the clip exists. If it does, no ``prune(_:needed:)`` removes it for the time that its rule keeps
  ///   used clips.
  /// - Throws: ``SoundLibraryError``.
  @discardableResult
  public func use(_ name: String) throws(SoundLibraryError) -> Bool {
    _ = try url(for: name)  // this refuses invalid clip names
    do throws(SystemError) {
      try SoundsFolder(existing: container, calls: calls).mark(SoundUse(at: now()), name)
      return true
    } catch {
      if error.kind == .missing { return false }
      throw SoundLibraryError(error, while: .reading, in: soundsDirectory)
    }
  }

  /// Removes the clips that a rule does not keep, and the temporary files of processes that have ended.
  ///
  /// Other processes can use the folder meanwhile. A clip that somebody uses or publishes at this moment stays.
  ///
  /// - Parameters:
  ///   - needed: The names of clips that must stay. A clip that is needed only after this list was made must have been
  ///     used or published, which keeps it.
  ///   - removes: Whether the clips are really removed; false to learn what would be removed.
  ///   - failed: Called with each error that kept a clip from being removed. The others are removed.
  /// - Returns: The removed clips, in the order of their last use.
  /// - Throws: ``SoundLibraryError`` if the folder cannot be read. Nothing was removed then.
  @discardableResult
  public func prune(
    _ keeping: SoundKeeping, needed: Set<String>, removes: Bool = true,
    failed: (SoundLibraryError) -> Void = { _ in }
  ) throws(SoundLibraryError) -> [SoundKeeping.Removal] {
    let now = now()
    // A folder can have a million entries, so it is listed once.
    let names = try entryNames()
    let sounds = try sounds(named: names.filter(Self.isClipName).sorted())
    // A downloaded sound may have the form of a clip's name. If it is the chosen tone, it stays.
    let tone = [try? FileTonePreference(container: container, calls: calls).tone()].compactMap(\.self)
    let removals = keeping.removals(from: sounds, needed: needed.union(tone), at: now)
    guard removes else { return removals }
    let temporaries = names.filter { $0.hasPrefix(SoundsFolder.temporaryPrefix) }
    let use = SoundUse(at: now)
    let misdated = sounds.filter { $0.lastUsed > now && use.isNews(lastUsedAt: Int($0.lastUsed.timeIntervalSince1970)) }
    guard !removals.isEmpty || !temporaries.isEmpty || !misdated.isEmpty else { return [] }
    let folder: SoundsFolder
    do throws(SystemError) {
      folder = try SoundsFolder(existing: container, calls: calls)
    } catch {
      if error.kind == .missing { return [] }
      throw SoundLibraryError(error, while: .removing, in: soundsDirectory)
    }
    for name in temporaries { _ = folder.removeIfAbandoned(name) }
    // A last use in the future comes from a wrong clock. It would keep the clip for as long as the clock was wrong.
    for sound in misdated { try? folder.mark(use, sound.name) }
    var removed: [SoundKeeping.Removal] = []
    for removal in removals {
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
}
