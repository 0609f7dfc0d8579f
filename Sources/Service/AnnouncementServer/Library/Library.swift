// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import Announcer
import ConcurrencySupport
import Crypto
import FileSystem
import Foundation
import Ledger
import Logging
import NIOCore
import SoundLibrary
import TextFormats
import VoicePacks

/// The library of sounds of which phones keep a copy: the clips of each account and app group, the tones of each app
/// group, and the voice packs. The ledger has its changes.
final class Library: Sendable {
  /// The number of clips whose removal is recorded at a time.
  private static let removalsAtOnce = 64

  /// A file of a voice pack.
  private struct PackFile: Sendable {
    var pack: String
    /// The file name of the clip; nil for the manifest.
    var clip: String?
  }

  let ledger: any Ledger.LibraryStore
  let clips: Clips
  private let shelf: VoicePackShelf
  let logger: Logger
  private let changed: @Sendable () -> Void
  /// The states of the packs that the ledger knows.
  private let recorded = Locked<[PackState]?>(nil)
  /// Whether the last attempt to record the packs failed, and was logged.
  private let hasFailed = Locked(false)
  /// The tones that the last look found; nil before the first one.
  let foundTones = Locked<[LibrarySound]?>(nil)
  /// The files of the packs by their digests.
  private let packFiles = Locked<[String: PackFile]>([:])

  /// - Parameter changed: Called when the library may have changed. It must return at once.
  init(
    ledger: any Ledger.LibraryStore, clips: Clips, shelf: VoicePackShelf, logger: Logger,
    changed: @escaping @Sendable () -> Void
  ) {
    self.ledger = ledger
    self.clips = clips
    self.shelf = shelf
    self.logger = logger
    self.changed = changed
  }

  /// Informs the sender of library pushes that the library may have changed.
  func tellChange() { changed() }

  // MARK: Packs

  /// Records which voice packs are installed. The call does nothing if the packs have not changed since the previous
  /// call.
  func setPacks(_ states: [PackState]) async {
    guard recorded.withLock({ $0 != states }) else { return }
    let (packs, files) = await onWaitingThread { [self] in read(states.filter { $0.fault == nil }.map(\.id)) }
    let broken = Set(states.map(\.id)).subtracting(packs.map(\.id))
    packFiles.withLock { $0 = files }
    do throws(LedgerError) {
      if try await ledger.setLibraryPacks(packs, broken: broken) { changed() }
      recorded.withLock { $0 = states }
      hasFailed.withLock { $0 = false }
    } catch {
      let isKnown = hasFailed.withLock { hasFailed in
        defer { hasFailed = true }
        return hasFailed
      }
      if isKnown { return }
      logger.warning(
        "The list of voice packs for phones could not be stored. The service tries again.",
        metadata: ["error": "\(error)"])
    }
  }

  private func read(_ ids: [String]) -> (packs: [LibraryPack], files: [String: PackFile]) {
    var packs: [LibraryPack] = []
    var files: [String: PackFile] = [:]
    for id in ids {
      guard let manifest = try? shelf.manifest(id: id), let json = try? manifest.json else { continue }
      let digest = SHA256.hash(data: json).hexadecimal
      packs.append(LibraryPack(id: id, sha256: digest, bytes: json.count))
      files[digest] = PackFile(pack: id)
      for (file, clip) in manifest.clips { files[clip.sha256] = PackFile(pack: id, clip: file) }
    }
    return (packs, files)
  }

  // MARK: Files

  /// Returns a file of the library of an account and an app group.
  ///
  /// - Parameters:
  ///   - digest: The SHA-256 digest of the file.
  ///   - remade: The clips that are made again if their files are not here; nil to make none.
  /// - Returns: nil if the library has no such file.
  func file(
    _ digest: String, account: String, group: String, remade: RemadeClips? = nil
  ) async throws -> Clips.File? {
    let etag = "\"\(digest)\""
    if let name = try await ledger.libraryClip(sha256: digest, account: account, group: group) {
      if let file = try await clips.file(named: name), file.etag == etag { return file }
      if let file = try await remade?.file(named: name), file.etag == etag { return file }
    }
    if let tone = try await tone(digest, group: group) { return tone }
    guard let place = packFiles.withLock({ $0[digest] }) else { return nil }
    return await onWaitingThread { [shelf] in
      let bytes: Data? =
        if let clip = place.clip {
          (try? shelf.pack(id: place.pack))?.bytes(ofClip: clip)
        } else {
          try? shelf.manifest(id: place.pack).json
        }
      // The pack may have been replaced a moment ago.
      guard let bytes, SHA256.hash(data: bytes).hexadecimal == digest else { return nil }
      return Clips.File(
        bytes: ByteBuffer(bytes: bytes), digest: digest,
        mediaType: place.clip == nil ? "application/json" : "audio/wav")
    }
  }

  // MARK: Removals

  /// Compares the library with the folders of the app groups, and records which clips are gone.
  func settle() async {
    var folders: [String: Set<String>] = [:]
    var position: Int64 = 0
    do {
      while case let page = try await ledger.libraryClips(after: position, limit: 5_000), let last = page.last {
        var missing: [PublishedClip] = []
        for (_, clip) in page {
          guard let group = clip.group else { continue }
          if folders[group] == nil { folders[group] = try await clips.names(in: group) }
          if folders[group]?.contains(clip.name) == false { missing.append(clip) }
        }
        try await removeMissing(missing)
        position = last.position
      }
    } catch {
      logger.warning(
        "The library could not be compared with the folders of clips. The service tries again.",
        metadata: ["error": "\(Problem.loggable(error))"])
    }
  }

  /// Records that clips are gone, unless they were made again meanwhile.
  private func removeMissing(_ missing: [PublishedClip]) async throws {
    var rest = missing[...]
    while !rest.isEmpty {
      // The ledger writes simultaneous records in one transaction.
      let isRemoved = try await withThrowingTaskGroup(of: Bool.self) { group in
        for clip in rest.prefix(Self.removalsAtOnce) {
          group.addTask { [self] in
            // While an announcement of the clip is being accepted, this waits. A later announcement finds that the clip
            // is gone.
            try await clips.turns.take([clip.name]) {
              guard let group = clip.group, !clips.has(clip.name, in: group) else { return false }
              return try await ledger.removeFromLibrary(clip: clip.name, group: group)
            }
          }
        }
        return try await group.reduce(false) { $0 || $1 }
      }
      if isRemoved { changed() }
      rest = rest.dropFirst(Self.removalsAtOnce)
    }
  }

  /// Records that a clip was removed from the folder of an app group. Call it while holding the clip's lock
  /// exclusively.
  func remove(_ name: String, from group: String) async throws(LedgerError) {
    if try await ledger.removeFromLibrary(clip: name, group: group) { changed() }
  }
}

extension Clips {
  /// Returns the names of the clips in the folder of an app group.
  func names(in group: String) async throws -> Set<String> {
    let library = try library(group)
    return try await onWaitingThread { Set(try library.names()) }
  }

  /// Returns whether the folder of an app group has a clip.
  func has(_ name: String, in group: String) -> Bool {
    guard let url = try? library(group).url(for: name),
      let status = try? FileStatus.status(at: url.path(percentEncoded: false), followsLink: false)
    else { return false }
    return status.isRegularFile && status.byteCount > 0
  }
}
