// SPDX-License-Identifier: Apache-2.0

import FileSystem
import Foundation
import SoundDownloads
import SoundLibrary
import VoicePacks

/// The files of voice packs in a copy of the library.
enum PackFiles {
  /// Returns the digest of a pack's manifest; nil if the folder has none.
  static func manifestDigest(in folder: URL) -> String? {
    LibraryPlaces.contents(of: folder.appending(path: PackManifest.fileName), atMost: PackManifest.maximumBytes)
      .map { IncrementalSHA256.hexadecimalDigest(of: $0) }
  }

  /// Reads a manifest that was fetched.
  ///
  /// - Throws: ``LibraryCopyError`` with the code `fileDamaged` if the file is not the manifest of this pack, or if the
  ///   name or the digest of a clip in it has an invalid form.
  static func manifest(_ file: URL, id: String) throws(LibraryCopyError) -> PackManifest {
    guard let data = LibraryPlaces.contents(of: file, atMost: PackManifest.maximumBytes) else {
      throw LibraryCopyError(.diskFailure)
    }
    // A manifest without a fault names no clip outside the folder of the pack.
    guard let manifest = try? JSONDecoder().decode(PackManifest.self, from: data), manifest.fault == nil,
      manifest.id == id, manifest.clips[PackManifest.fileName] == nil,
      manifest.clips.values.allSatisfy({ IncrementalSHA256.isHexadecimalDigest($0.sha256) })
    else { throw LibraryCopyError(.fileDamaged) }
    return manifest
  }

  /// Returns the wanted clips that the packs on the phone already have, by their digests. Damaged clips are left out.
  static func clips(_ wanted: Set<String>, _ places: LibraryPlaces) -> [String: URL] {
    var found: [String: URL] = [:]
    for id in LibraryPlaces.names(in: places.voices) where PackManifest.isID(id) {
      let folder = places.pack(id)
      guard
        let data = LibraryPlaces.contents(
          of: folder.appending(path: PackManifest.fileName), atMost: PackManifest.maximumBytes),
        let manifest = try? JSONDecoder().decode(PackManifest.self, from: data)
      else { continue }
      for (name, clip) in manifest.clips
      where wanted.contains(clip.sha256) && found[clip.sha256] == nil && PackManifest.isFileName(name) {
        let file = folder.appending(path: name, directoryHint: .notDirectory)
        guard let bytes = LibraryPlaces.contents(of: file, atMost: SoundLibrary.maximumClipBytes),
          IncrementalSHA256.hexadecimalDigest(of: bytes) == clip.sha256
        else { continue }
        found[clip.sha256] = file
      }
    }
    return found
  }

  /// Assembles a pack in a separate folder, exchanges that folder with the one in the pack's place, and removes the
  /// fetched files.
  ///
  /// - Parameters:
  ///   - digest: The digest of the manifest, which was already fetched.
  ///   - here: The clips that packs on the phone already have, by their digests. All other clips were fetched.
  static func assemble(
    _ manifest: PackManifest, _ digest: String, here: [String: URL], _ places: LibraryPlaces
  ) throws(LibraryCopyError) {
    let (folder, place) = (places.unfinishedPack(manifest.id), places.pack(manifest.id))
    do {
      try? FileManager.default.removeItem(at: folder)
      try DurableFolder.make(folder, .readableByAll)
      for (name, clip) in manifest.clips {
        try link(here[clip.sha256] ?? places.fetched(clip.sha256), to: folder.appending(path: name))
      }
      try link(places.fetched(digest), to: folder.appending(path: PackManifest.fileName))
      try DurableFolder.synchronize(folder)
      if try !DurableFolder.rename(folder, to: place) { try DurableFolder.replace(place, with: folder) }
      try DurableFolder.synchronize(places.voices)
    } catch {
      throw LibraryCopyError(error)
    }
    for sha256 in manifest.clips.values.map(\.sha256) + [digest] {
      try? FileManager.default.removeItem(at: places.fetched(sha256))
    }
  }

  /// Removes a pack. It is renamed first, so that no reader finds an incomplete pack.
  static func remove(_ id: String, _ places: LibraryPlaces) throws(LibraryCopyError) {
    let aside = places.unfinishedPack(id)
    do {
      try? FileManager.default.removeItem(at: aside)
      guard FileManager.default.fileExists(atPath: places.pack(id).path(percentEncoded: false)) else { return }
      try FileManager.default.moveItem(at: places.pack(id), to: aside)
      try DurableFolder.synchronize(places.voices)
      try? FileManager.default.removeItem(at: aside)
    } catch {
      throw LibraryCopyError(error)
    }
  }

  /// Gives a file a second name. The files of packs are never changed in place, so several packs can share one.
  private static func link(_ file: URL, to place: URL) throws {
    do {
      try FileManager.default.linkItem(at: file, to: place)
    } catch {
      // Some file systems do not support hard links.
      try FileManager.default.copyItem(at: file, to: place)
    }
  }
}
