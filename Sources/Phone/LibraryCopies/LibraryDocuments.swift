// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import SoundLibrary

/// The files that another app opens through the file provider: copies of clips and tones, each in a folder with its
/// name. The originals are in `Library/Sounds`, which only the app and its extensions can read.
public struct LibraryDocuments: Sendable {
  private let container: GroupContainer
  private let storage: URL

  /// - Parameters:
  ///   - container: The container of the app group.
  ///   - storage: The folder of the copies, such as `NSFileProviderManager.default.documentStorageURL`.
  public init(container: GroupContainer, storage: URL) {
    self.container = container
    self.storage = storage.standardizedFileURL
  }

  /// Returns the URL of a copy, whether or not it exists; nil if no clip or tone can have this name.
  public func url(of name: String) -> URL? {
    guard SoundLibrary.isClipName(name) else { return nil }
    return storage.appending(path: name, directoryHint: .isDirectory)
      .appending(path: name, directoryHint: .notDirectory)
  }

  /// Returns the name of the clip or tone whose copy has this URL; nil for any other URL.
  public func name(at url: URL) -> String? {
    let name = url.lastPathComponent
    guard let place = self.url(of: name), place.path == url.standardizedFileURL.path else { return nil }
    return name
  }

  /// Copies a clip or a tone to the URL of its copy. The copy is read-only.
  ///
  /// - Returns: False if the URL is not one that ``url(of:)`` gives, or if the phone does not have the clip or tone.
  /// - Throws: `SoundLibraryError` if the original cannot be read, or Foundation's error if the copy cannot be written.
  public func provide(at url: URL) throws -> Bool {
    guard let name = name(at: url),
      LibraryListing(container: container).item(named: name) != nil,
      let bytes = try SoundLibrary(container: container).contents(of: name)
    else { return false }
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: url, options: .atomic)
    try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: url.path(percentEncoded: false))
    return true
  }

  /// Removes a copy, which can be made again. If ``url(of:)`` does not give this URL, the file stays as it is.
  public func remove(at url: URL) {
    if name(at: url) != nil { try? FileManager.default.removeItem(at: url) }
  }
}
