// SPDX-License-Identifier: Apache-2.0

import FileSystem
import Foundation
import SoundLibrary

/// The files of the copy in a group container, below `Library/Crier`.
struct LibraryPlaces: Sendable {
  let folder: URL

  init(_ container: GroupContainer) {
    folder = container.directory.appending(path: "Library/Crier", directoryHint: .isDirectory)
  }

  var manifest: URL { folder.appending(path: "library.json", directoryHint: .notDirectory) }
  var lock: URL { folder.appending(path: ".library.lock", directoryHint: .notDirectory) }
  /// The file that says which update has its turn; see ``LibraryTurn``.
  var turn: URL { folder.appending(path: ".update.json", directoryHint: .notDirectory) }
  var voices: URL { folder.appending(path: "Voices", directoryHint: .isDirectory) }

  /// The folder of files that were fetched and are not in place yet. Their names are their digests, and each file is
  /// complete.
  var fetched: URL { folder.appending(path: ".fetched", directoryHint: .isDirectory) }

  /// The folder of markers of files that were requested in the background; see ``AskedFiles``.
  var asked: URL { folder.appending(path: ".asked", directoryHint: .isDirectory) }

  func fetched(_ sha256: String) -> URL { fetched.appending(path: sha256, directoryHint: .notDirectory) }

  /// Returns the folder of a voice pack.
  func pack(_ id: String) -> URL { voices.appending(path: id, directoryHint: .isDirectory) }

  /// Returns the folder in which a voice pack is assembled, and to which a pack is moved just before its removal. No
  /// pack's id begins with a period, so readers ignore this folder.
  func unfinishedPack(_ id: String) -> URL { voices.appending(path: ".new-\(id)", directoryHint: .isDirectory) }

  /// The contents of the copy; empty if there is none, or if its file is damaged.
  var currentManifest: LibraryManifest {
    guard let data = try? Data(contentsOf: manifest),
      let manifest = try? JSONDecoder().decode(LibraryManifest.self, from: data)
    else { return LibraryManifest() }
    return manifest
  }

  /// Returns the names of a folder's entries in ascending order; empty if the folder does not exist.
  static func names(in folder: URL) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []).sorted()
  }

  /// Returns the bytes of a regular file; nil if there is no such file, or if it is larger than `limit`.
  static func contents(of file: URL, atMost limit: Int) -> Data? {
    let attributes = try? FileManager.default.attributesOfItem(atPath: file.path(percentEncoded: false))
    guard attributes?[.type] as? FileAttributeType == .typeRegular, let size = attributes?[.size] as? Int, size <= limit
    else { return nil }
    return try? Data(contentsOf: file)
  }
}
