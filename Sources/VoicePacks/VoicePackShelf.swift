// SPDX-License-Identifier: Apache-2.0

private import ConcurrencySupport
public import Foundation

/// The voice packs of a machine, from several `Voices` folders. If several packs have the same id, the pack in the
/// first of these folders is used.
///
/// The shelf can be used from any thread. A call may read files, and other calls then wait for it. Results are cached,
/// including the error of a broken pack, so that a shelf gives the same answer each time. If a pack is added, replaced
/// (by a rename) or repaired later, only a new shelf sees the change, for example in a new process. A read that the
/// system refused is repeated and not cached.
public final class VoicePackShelf: Sendable {
  /// The number of attempts to read a pack whose files are missing. The pack may be in the process of being replaced,
  /// and is then complete at the next attempt.
  private static let attempts = 3

  private struct State {
    let folders: [URL]
    private var found: [(id: String, directory: URL)]?
    var manifests: [String: Result<PackManifest, VoicePackError>] = [:]
    var packs: [String: Result<VoicePack, VoicePackError>] = [:]

    init(folders: [URL]) { self.folders = folders }

    /// Returns the packs on the shelf. The folders are listed only at the first call.
    mutating func listing() -> [(id: String, directory: URL)] {
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

  private let state: Locked<State>

  /// Creates a shelf.
  ///
  /// - Parameter folders: `Voices` folders in order of precedence. A folder that does not exist counts as empty.
  public init(folders: [URL]) { state = Locked(State(folders: folders)) }

  /// The ids of all packs, including broken packs. Every folder that has a valid pack name and contains a manifest
  /// counts as a pack. The ids are in the order of the `Voices` folders, and in alphabetical order within each of them.
  public var ids: [String] { state.withLock { $0.listing().map(\.id) } }

  /// Returns the ids of the packs for a locale (BCP 47, in any letter case), in the order of ``ids``. The call reads
  /// manifests but not clips. A pack with a broken manifest has no locale.
  public func ids(for locale: String) -> [String] {
    let locale = locale.lowercased()
    return ids.filter { (try? manifest(id: $0))?.locale.lowercased() == locale }
  }

  /// Returns the folder of a pack, even of a broken pack; `nil` when the shelf has no pack with this id.
  public func directory(id: String) -> URL? {
    state.withLock { state in state.listing().first { $0.id == id }?.directory }
  }

  /// Returns a pack's manifest, without reading its clips.
  ///
  /// - Throws: `VoicePackError`.
  public func manifest(id: String) throws(VoicePackError) -> PackManifest {
    try remembered(id, in: \.manifests) { directory throws(VoicePackError) in
      try PackManifest(readingFrom: PackFolder(directory))
    }
  }

  /// Returns a pack. It is loaded at the first call.
  ///
  /// - Throws: `VoicePackError`; `.notFound` for an id that is not on the shelf.
  public func pack(id: String) throws(VoicePackError) -> VoicePack {
    try remembered(id, in: \.packs) { directory throws(VoicePackError) in try VoicePack(directory: directory) }
  }

  /// Returns the packs for a locale in the order of ``ids(for:)``. Each is either loaded or represented by its error.
  public func packs(for locale: String) -> [Result<VoicePack, VoicePackError>] {
    ids(for: locale).map { id in Result { () throws(VoicePackError) in try pack(id: id) } }
  }

  private func remembered<Value>(
    _ id: String, in memory: WritableKeyPath<State, [String: Result<Value, VoicePackError>]>,
    _ read: (URL) throws(VoicePackError) -> Value
  ) throws(VoicePackError) -> Value {
    guard PackManifest.isID(id) else { throw .idInvalid(id) }
    let result: Result<Value, VoicePackError> = state.withLock { state in
      if let known = state[keyPath: memory][id] { return known }
      guard let directory = state.listing().first(where: { $0.id == id })?.directory else {
        return .failure(.notFound(id))
      }
      var result = Result { () throws(VoicePackError) in try read(directory) }
      for _ in 1..<Self.attempts {
        guard case .failure(let error) = result, error.isPassing else { break }
        result = Result { () throws(VoicePackError) in try read(directory) }
      }
      if case .failure(let error) = result, error.isPassing { return result }
      state[keyPath: memory][id] = result
      return result
    }
    return try result.get()
  }
}
