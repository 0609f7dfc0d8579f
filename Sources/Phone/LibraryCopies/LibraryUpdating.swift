// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import DeviceClient
import FileSystem
import Foundation
import SoundDownloads
import SoundLibrary
import VoicePacks

/// One update of a copy, in its ``LibraryTurn``.
///
/// The process may end after any step. An update fetches the voice packs and switches to them. It then fetches and
/// publishes the tones, and then the clips. It removes what is no longer wanted, and writes the manifest with the new
/// anchor. Before the end, it also writes the manifest with the old anchor from time to time, so that the next update
/// need not compare the files again.
struct LibraryUpdating {
  /// The number of clips after which the manifest is written again.
  static let clipsPerManifest = 32

  let client: DeviceClient
  let library: SoundLibrary
  let turn: LibraryTurn
  let largeFiles: (any LargeFileFetching)?

  /// The contents of the copy, with the anchor from before the update.
  var current: LibraryManifest

  private(set) var fetchedFiles = 0
  /// The digests of the files that were requested in the background.
  private(set) var awaited: Set<String> = []

  private var places: LibraryPlaces { turn.places }
  private var asked: AskedFiles { AskedFiles(places: places) }

  /// Carries out a plan.
  ///
  /// If a file is not the listed one, or has not arrived yet, the other files are still fetched. The anchor then stays,
  /// so that the next update tries again.
  mutating func carryOut(
    _ plan: LibraryPlan, isWholeList: Bool
  ) async throws(LibraryCopyError) -> LibraryUpdate {
    var update = LibraryUpdate(anchor: plan.manifest.anchor ?? "")
    update.refused = plan.refused
    var manifest = plan.manifest
    var setbacks = Setbacks()
    for item in plan.packs {
      do throws(LibraryCopyError) {
        if try await place(pack: item) { update.changedPacks.append(item.name) }
        current.packs[item.name] = item.file
        try await save(current)
      } catch {
        if try setbacks.add(error) { manifest.packs[item.name] = current.packs[item.name] }
      }
    }
    for item in plan.tones {
      do throws(LibraryCopyError) {
        switch try await place(tone: item) {
        case .placed: update.changedTones.append(item.name)
        case .wasThere: break
        case .isAwaited: manifest.tones[item.name] = current.tones[item.name]
        case .isTaken:
          update.refused += 1
          manifest.tones[item.name] = nil
        }
        current.tones[item.name] = manifest.tones[item.name]
        try await save(current)
      } catch {
        if try setbacks.add(error) { manifest.tones[item.name] = current.tones[item.name] }
      }
    }
    for (index, item) in plan.clips.enumerated() {
      do throws(LibraryCopyError) {
        switch try await place(clip: item) {
        case .placed: update.changedClips.append(item.name)
        case .isAwaited: continue
        case .wasThere, .isTaken: break
        }
        current.clips[item.name] = plan.manifest.clips[item.name]
        if index % Self.clipsPerManifest == Self.clipsPerManifest - 1 { try await save(current) }
      } catch {
        if try setbacks.add(error) { manifest.clips[item.name] = current.clips[item.name] }
      }
    }
    update.missing = setbacks.missing
    update.removedPacks = try await remove(packs: plan.removedPacks, keeping: isWholeList ? manifest.packs : nil)
    update.removedClips = try await remove(clips: plan.removedClips)
    update.removedTones = try await remove(tones: plan.removedTones)
    update.awaited = awaited.count
    update.fetchedFiles = fetchedFiles
    if setbacks.damage != nil || !awaited.isEmpty {
      for name in plan.removedPacks { current.packs[name] = nil }
      for name in plan.removedClips { current.clips[name] = nil }
      for tone in plan.removedTones { current.tones[tone.name] = nil }
      try await save(current)
      if let damage = setbacks.damage { throw damage }
      update.anchor = current.anchor ?? ""
    } else {
      try await save(manifest)
    }
    try await tidy()
    return update
  }

  /// The failures of single files. The update continues despite these failures.
  private struct Setbacks {
    /// The number of files that the service no longer has.
    var missing = 0
    /// The error of the first file whose digest differs from the listed one.
    var damage: LibraryCopyError?

    /// Records the failure of a single file. Any other error is thrown.
    ///
    /// - Returns: Whether the service no longer has the file.
    mutating func add(_ error: LibraryCopyError) throws(LibraryCopyError) -> Bool {
      if error.service?.code == .notFound {
        missing += 1
        return true
      }
      guard error.code == .fileDamaged else { throw error }
      damage = damage ?? error
      return false
    }
  }

  // MARK: - Clips and tones

  private enum Placing {
    case placed
    case wasThere
    /// The file was requested in the background.
    case isAwaited
    /// The app or its user has another sound with this name.
    case isTaken
  }

  /// Publishes a clip.
  private mutating func place(clip item: LibraryPlan.Item) async throws(LibraryCopyError) -> Placing {
    if await digest(of: item.name) == item.file.sha256 { return .wasThere }
    return try await publish(item)
  }

  /// Publishes a tone, unless its name belongs to a sound that no update published.
  private mutating func place(tone item: LibraryPlan.Item) async throws(LibraryCopyError) -> Placing {
    let known = await digest(of: item.name)
    if known == item.file.sha256 { return .wasThere }
    if known == nil ? library.hasSound(item.name) : known != current.tones[item.name]?.sha256 { return .isTaken }
    return try await publish(item)
  }

  /// Returns the digest of a file in `Library/Sounds`; nil if it does not exist or cannot be read.
  private func digest(of name: String) async -> String? {
    let library = library
    return await onWaitingThread {
      (try? library.contents(of: name)).map { IncrementalSHA256.hexadecimalDigest(of: $0) }
    }
  }

  /// Fetches a sound and publishes it in `Library/Sounds`, or requests it in the background.
  private mutating func publish(_ item: LibraryPlan.Item) async throws(LibraryCopyError) -> Placing {
    let (library, asked, sha256) = (library, asked, item.file.sha256)
    let file = places.fetched(sha256)
    if try await isAwaited(item.file) {
      awaited.insert(sha256)
      return .isAwaited
    }
    try await fetch(sha256, item.file.byteCount)
    try await turn.change { () throws(LibraryCopyError) in
      guard let bytes = LibraryPlaces.contents(of: file, atMost: SoundLibrary.maximumClipBytes) else {
        throw LibraryCopyError(.diskFailure)
      }
      do throws(SoundLibraryError) { _ = try library.publish([UInt8](bytes), as: item.name) } catch {
        throw LibraryCopyError(error)
      }
      try? FileManager.default.removeItem(at: file)
      asked.forget(sha256)
    }
    return .placed
  }

  /// Requests a large file in the background.
  ///
  /// - Returns: False if the file was already fetched, or must be fetched during the update.
  private func isAwaited(_ file: LibraryChange.File) async throws(LibraryCopyError) -> Bool {
    guard let largeFiles, file.byteCount >= AskedFiles.smallestBytes, !isFetched(file.sha256) else { return false }
    let request: LargeFileRequest
    do throws(DeviceClientError) {
      let (url, fields) = try client.request(forFile: file.sha256)
      request = LargeFileRequest(sha256: file.sha256, byteCount: file.byteCount, url: url, fields: fields)
    } catch {
      throw LibraryCopyError(error)
    }
    let (asked, now) = (asked, turn.now())
    let way = try await turn.change { asked.way(of: file.sha256, file.byteCount, at: now) }
    if way == .asking { largeFiles.begin(request) }
    return way != .atOnce
  }

  /// Removes tones. If a file is no longer the one that was fetched, it belongs to the app or its user, and stays.
  private func remove(tones: [LibraryPlan.Item]) async throws(LibraryCopyError) -> [String] {
    var removed: [String] = []
    for tone in tones where LibraryPlan.isTone(tone.name) {
      guard await digest(of: tone.name) == tone.file.sha256 else { continue }
      let library = library
      try await turn.change { () throws(LibraryCopyError) in
        do throws(SoundLibraryError) { try library.remove(tone.name) } catch { throw LibraryCopyError(error) }
      }
      removed.append(tone.name)
    }
    return removed
  }

  private func remove(clips names: [String]) async throws(LibraryCopyError) -> [String] {
    let library = library
    return try await turn.change { () throws(LibraryCopyError) in
      var removed: [String] = []
      for name in names where LibraryPlan.isClip(name) {
        do throws(SoundLibraryError) { try library.remove(name) } catch { throw LibraryCopyError(error) }
        removed.append(name)
      }
      return removed
    }
  }

  // MARK: - Voice packs

  /// Puts a voice pack into place.
  ///
  /// - Returns: True if the pack is new; false if it was already in place.
  private mutating func place(pack item: LibraryPlan.Item) async throws(LibraryCopyError) -> Bool {
    let places = places
    let (place, digest) = (places.pack(item.name), item.file.sha256)
    // An earlier update may have ended just after it had put this pack into place.
    if await onWaitingThread({ PackFiles.manifestDigest(in: place) == digest }) { return false }
    try await fetch(digest, item.file.byteCount)
    let manifest = try await onWaitingThread { () throws(LibraryCopyError) in
      try PackFiles.manifest(places.fetched(digest), id: item.name)
    }
    let wanted = Set(manifest.clips.values.map(\.sha256))
    let here = await onWaitingThread { PackFiles.clips(wanted, places) }
    for sha256 in wanted.sorted() where here[sha256] == nil {
      try await fetch(sha256, nil)
    }
    try await turn.change { () throws(LibraryCopyError) in
      try PackFiles.assemble(manifest, digest, here: here, places)
    }
    return true
  }

  /// Removes voice packs. A reader that has a pack open can still read it.
  ///
  /// - Parameter kept: The packs of a list of the whole library. All other packs are removed, even those that no
  ///   manifest names.
  private func remove(
    packs names: [String], keeping kept: [String: LibraryChange.File]?
  ) async throws(LibraryCopyError) -> [String] {
    let places = places
    return try await turn.change { () throws(LibraryCopyError) in
      var removed = names.filter { PackManifest.isID($0) }
      if let kept {
        let others = LibraryPlaces.names(in: places.voices).filter {
          PackManifest.isID($0) && kept[$0] == nil && !removed.contains($0)
        }
        removed = (removed + others).sorted()
      }
      for id in removed { try PackFiles.remove(id, places) }
      return removed
    }
  }

  // MARK: - Files

  /// Fetches a file into the folder of fetched files, unless it is already there.
  private mutating func fetch(_ sha256: String, _ byteCount: Int?) async throws(LibraryCopyError) {
    if isFetched(sha256) { return }
    try await turn.renew()
    let file = places.fetched(sha256)
    do throws(DeviceClientError) {
      try await client.download(sha256: sha256, byteCount: byteCount, to: file)
    } catch {
      // Another update may have taken over the turn and removed the unfinished file.
      try await turn.renew()
      throw LibraryCopyError(error)
    }
    fetchedFiles += 1
  }

  /// Whether a file was fetched completely and is not in place yet. A file gets this name only when it is complete.
  private func isFetched(_ sha256: String) -> Bool {
    FileManager.default.fileExists(atPath: places.fetched(sha256).path(percentEncoded: false))
  }

  private func save(_ manifest: LibraryManifest) async throws(LibraryCopyError) {
    let file = places.manifest
    try await turn.change { () throws(LibraryCopyError) in
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      guard let data = try? encoder.encode(manifest) else { throw LibraryCopyError(.diskFailure) }
      do throws(SystemError) { try DurableFile.write(data, to: file) } catch { throw LibraryCopyError(error) }
    }
  }

  /// Removes files that earlier updates have left behind, except files that are awaited and may have arrived. Failures
  /// are ignored, because the next update tries again.
  private func tidy() async throws(LibraryCopyError) {
    let (places, asked, awaited) = (places, asked, awaited)
    try await turn.change {
      asked.forgetAll(but: awaited)
      for name in LibraryPlaces.names(in: places.fetched) where !awaited.contains(name) {
        try? FileManager.default.removeItem(at: places.fetched.appending(path: name))
      }
      for name in LibraryPlaces.names(in: places.voices) where name.hasPrefix(".new-") {
        try? FileManager.default.removeItem(at: places.voices.appending(path: name))
      }
    }
  }
}
