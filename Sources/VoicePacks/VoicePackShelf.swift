// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The voice packs of a machine: those of several `Voices` folders, the first of which wins where two have one id.
///
/// Safe to use from any thread; calls may read files, and wait for each other while they do. What was read is
/// remembered, a pack that is broken too, so that a shelf gives the same answer each time: a pack that is put in place,
/// replaced (by a rename) or mended later is seen by a new shelf, as in a new process. Only what the system refused is
/// tried again.
public final class VoicePackShelf: @unchecked Sendable {  // Everything that changes is used under the lock.
  /// How often a pack is read whose files are missing: one that is replaced at that very moment is whole at the next.
  private static let attempts = 3

  private let folders: [URL]
  private let lock = NSLock()
  private var found: [(id: String, directory: URL)]?
  private var manifests: [String: Result<PackManifest, VoicePackError>] = [:]
  private var packs: [String: Result<VoicePack, VoicePackError>] = [:]

  /// - Parameter folders: `Voices` folders, by precedence. One that does not exist has no packs.
  public init(folders: [URL]) { self.folders = folders }

  /// What stands on the shelf, broken or not: every folder with a pack's name that has a manifest. In the order of the
  /// folders, and in each by name.
  public var ids: [String] { lock.withLock { listing.map(\.id) } }

  /// The packs of a locale (BCP 47, in upper or lower case) in the same order. Manifests are read, clips are not; a
  /// pack whose manifest is broken has no locale.
  public func ids(for locale: String) -> [String] {
    let locale = locale.lowercased()
    return ids.filter { (try? manifest(id: $0))?.locale.lowercased() == locale }
  }

  /// The folder of a pack, broken or not; `nil` when no such pack is on the shelf.
  public func directory(id: String) -> URL? { lock.withLock { listing.first { $0.id == id }?.directory } }

  /// What a pack says about itself; its clips are not looked at.
  ///
  /// - Throws: `VoicePackError`.
  public func manifest(id: String) throws(VoicePackError) -> PackManifest {
    try remembered(id, in: \.manifests) { directory throws(VoicePackError) in
      try PackManifest(readingFrom: PackFolder(directory))
    }
  }

  /// A pack, loaded at the first call.
  ///
  /// - Throws: `VoicePackError`; `.notFound` for an id that is not on the shelf.
  public func pack(id: String) throws(VoicePackError) -> VoicePack {
    try remembered(id, in: \.packs) { directory throws(VoicePackError) in try VoicePack(directory: directory) }
  }

  /// The packs of a locale, as ``ids(for:)`` gives them; each is loaded or has an error of its own.
  public func packs(for locale: String) -> [Result<VoicePack, VoicePackError>] {
    ids(for: locale).map { id in Result { () throws(VoicePackError) in try pack(id: id) } }
  }

  private func remembered<Value>(
    _ id: String, in memory: ReferenceWritableKeyPath<VoicePackShelf, [String: Result<Value, VoicePackError>]>,
    _ read: (URL) throws(VoicePackError) -> Value
  ) throws(VoicePackError) -> Value {
    guard PackManifest.isID(id) else { throw .idInvalid(id) }
    let result: Result<Value, VoicePackError> = lock.withLock {
      if let known = self[keyPath: memory][id] { return known }
      guard let directory = listing.first(where: { $0.id == id })?.directory else { return .failure(.notFound(id)) }
      var result = Result { () throws(VoicePackError) in try read(directory) }
      for _ in 1..<Self.attempts {
        guard case .failure(let error) = result, error.isPassing else { break }
        result = Result { () throws(VoicePackError) in try read(directory) }
      }
      if case .failure(let error) = result, error.isPassing { return result }
      self[keyPath: memory][id] = result
      return result
    }
    return try result.get()
  }

  /// Found at the first call. Under the lock only.
  private var listing: [(id: String, directory: URL)] {
    if let found { return found }
    var known: Set<String> = []
    var listing: [(id: String, directory: URL)] = []
    for folder in folders {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []
      for name in names.sorted() where PackManifest.isID(name) && !known.contains(name) {
        let directory = folder.appending(path: name, directoryHint: .isDirectory)
        let manifest = directory.appending(path: PackManifest.fileName).path(percentEncoded: false)
        guard FileManager.default.fileExists(atPath: manifest) else { continue }
        known.insert(name)
        listing.append((name, directory))
      }
    }
    found = listing
    return listing
  }
}
