// SPDX-License-Identifier: Apache-2.0

import FileSystem
import Foundation
import SoundLibrary

/// The facts about a downloaded sound that let the downloader ask the server whether the sound has changed.
struct DownloadRecord: Sendable, Hashable, Codable {
  /// The file name in the library.
  var name: String
  /// The server's entity tag (ETag) for the bytes.
  var entityTag: String
  /// The SHA-256 of the bytes. The record is valid only while the library has these bytes under this name.
  var sha256: String
}

/// The records of a group container, one small file for each URL and given name.
///
/// The records are in `Library/Caches/.sound-downloads`, outside `Library/Sounds`, and iOS may remove them. Failures
/// are ignored: if a record is missing, damaged or outdated, the next download transfers all bytes. The files contain
/// no URL, because a URL can contain secrets.
struct DownloadRecords: Sendable {
  /// The maximum size of a record in bytes, which also limits the length of an entity tag.
  static let mostBytes = 4096

  let library: SoundLibrary

  /// The maximum number of records. The oldest are removed first.
  var most = 256

  var folder: URL {
    library.container.directory.appending(path: "Library/Caches/.sound-downloads", directoryHint: .isDirectory)
  }

  private func file(_ id: DownloadID) -> URL { folder.appending(path: "\(id.digest).json") }

  /// Returns the record of a download if the library still has the recorded bytes.
  func current(_ id: DownloadID) -> DownloadRecord? {
    guard let handle = try? FileHandle(forReadingFrom: file(id)) else { return nil }
    defer { try? handle.close() }
    guard let data = try? handle.read(upToCount: Self.mostBytes + 1), data.count <= Self.mostBytes,
      let record = try? JSONDecoder().decode(DownloadRecord.self, from: data),
      let bytes = try? library.contents(of: record.name),
      IncrementalSHA256.hexadecimalDigest(of: bytes) == record.sha256
    else { return nil }
    return record
  }

  /// Stores the record of a published sound. If the sound has no entity tag, an earlier record is removed.
  func store(_ id: DownloadID, name: String, entityTag: String?, bytes: [UInt8]) {
    let record = entityTag.map {
      DownloadRecord(name: name, entityTag: $0, sha256: IncrementalSHA256.hexadecimalDigest(of: bytes))
    }
    guard let record, let data = try? JSONEncoder().encode(record), data.count <= Self.mostBytes else {
      try? DurableFile.remove(file(id))
      return
    }
    try? DurableFolder.make(folder, .ownerOnly)
    try? DurableFile.write(data, to: file(id))
    removeOldest()
  }

  private func removeOldest() {
    let key = URLResourceKey.contentModificationDateKey
    guard
      let files = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: [key]),
      files.count > most
    else { return }
    let dated = files.map { ($0, (try? $0.resourceValues(forKeys: [key]))?.contentModificationDate ?? .distantPast) }
    for (file, _) in dated.sorted(by: { $0.1 < $1.1 }).prefix(files.count - most) {
      try? FileManager.default.removeItem(at: file)
    }
  }
}

/// The identity of a download: its URL, and the name that the caller gave. Downloads with the same identity share one
/// transfer if they run at the same time.
struct DownloadID: Sendable, Hashable {
  let url: URL
  let name: String?
  let expected: ExpectedSound?

  init(_ url: URL, _ name: String?, _ expected: ExpectedSound? = nil) {
    self.url = url.withoutFragment
    self.name = name
    self.expected = expected
  }

  /// The SHA-256 of the identity.
  var digest: String {
    guard let name else { return Self.digest(of: url) }
    // A URL contains no line break.
    return IncrementalSHA256.hexadecimalDigest(of: "\(url.absoluteString)\n\(name)".utf8)
  }

  static func digest(of url: URL) -> String { IncrementalSHA256.hexadecimalDigest(of: url.absoluteString.utf8) }

  /// Returns the name of the file: the given one, or the digest of the URL with the extension of the format.
  ///
  /// A notification service extension cannot see the app's own container. Only a digest is therefore certain not to
  /// collide with a name there.
  func fileName(_ kind: SoundKind) -> String { name ?? "\(Self.digest(of: url)).\(kind.rawValue)" }
}
