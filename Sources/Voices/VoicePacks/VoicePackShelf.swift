// SPDX-License-Identifier: Apache-2.0

private import ConcurrencySupport
public import Foundation

/// The voice packs of a machine, from several `Voices` folders. If several packs have the same id, the pack in the
/// first of these folders is used.
///
/// The shelf can be used from any thread. A call may read files, and other calls then wait for it. Results are cached,
/// including the error of a broken pack. At most once in each interval, a call looks for new, removed and changed packs
/// first. A pack is changed when a file in its folder was added, removed, replaced or written. Packs that did not
/// change are not read again. A pack that was returned earlier keeps its clips.
///
/// A read that the system refused is repeated and not cached.
public final class VoicePackShelf: Sendable {
  /// The number of attempts to read a pack whose files are missing. The pack may be in the process of being replaced,
  /// and is then complete at the next attempt.
  private static let attempts = 3

  /// A pack on the shelf, with the results that were read from it.
  private struct Entry {
    let id: String
    let directory: URL
    /// The state of the pack's files before the first of the results below was read.
    var stamp: PackFolder.Stamp?
    var manifest: Result<PackManifest, VoicePackError>?
    var pack: Result<VoicePack, VoicePackError>?
  }

  private struct State {
    let folders: [URL]
    let choicesFile: URL?
    var entries: [Entry]?
    var choices = ChosenPacks()
    var choicesFault: VoicePackError?
    var lookedAt: Duration = .zero
    /// The number of calls of ``look()`` that found a change.
    var generation = 0

    /// Lists the folders again, and discards the cached results of packs that have changed since.
    mutating func look() {
      let (chosen, earlier) = (choices, entries?.map(\.directory))
      readChoices()
      var isChanged = choices != chosen
      var known: [String: Entry] = [:]
      for entry in entries ?? [] { known[entry.id] = entry }
      entries = listing().map { id, directory in
        if let entry = known[id], entry.directory == directory, entry.stamp != nil,
          entry.stamp == PackFolder.stamp(of: directory)
        {
          return entry
        }
        // If nothing was read from a pack, the pack has had no effect yet, so this is not a change.
        if known[id]?.stamp != nil { isChanged = true }
        return Entry(id: id, directory: directory)
      }
      // The first listing is not a change, because no result was made from an earlier listing.
      guard let earlier else { return }
      if isChanged || entries?.map(\.directory) != earlier { generation += 1 }
    }

    /// Reads the file of choices. If it cannot be read, the earlier choices stay.
    private mutating func readChoices() {
      guard let choicesFile else { return }
      do throws(VoicePackError) {
        (choices, choicesFault) = (try ChosenPacks(file: choicesFile), nil)
      } catch {
        choicesFault = error
      }
    }

    private func listing() -> [(id: String, directory: URL)] {
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
      return listing
    }
  }

  private let state: Locked<State>
  private let storage: VoicePack.Storage
  private let settled: ChosenPacks
  private let interval: Duration
  private let time: @Sendable () -> Duration

  /// Creates a shelf.
  ///
  /// - Parameters:
  ///   - folders: `Voices` folders in order of precedence. A folder that does not exist counts as empty.
  ///   - storage: where the clips of loaded packs are held. A process that outlives a change of its packs needs
  ///     `.copied`.
  ///   - choices: the file with the packs that the user chose; see ``ChosenPacks``. A missing file counts as empty.
  ///   - settled: choices that take precedence over the file.
  ///   - interval: the shortest time between two searches for changed packs.
  ///   - time: the time since a fixed moment, which never decreases; by default the system's clock.
  public init(
    folders: [URL], storage: VoicePack.Storage = .mapped, choices: URL? = nil, settled: ChosenPacks = ChosenPacks(),
    interval: Duration = .seconds(1), time: (@Sendable () -> Duration)? = nil
  ) {
    state = Locked(State(folders: folders, choicesFile: choices))
    self.storage = storage
    self.settled = settled
    self.interval = interval
    let origin = ContinuousClock.now
    self.time = time ?? { ContinuousClock.now - origin }
  }

  /// Looks for changed packs now, even if the interval since the last search is not over. Call this function after
  /// changing a pack.
  public func look() {
    let now = time()
    state.withLock { state in
      state.look()
      state.lookedAt = now
    }
  }

  /// The ids of all packs, including broken packs. Every folder that has a valid pack name and contains a manifest
  /// counts as a pack. The ids are in the order of the `Voices` folders, and in alphabetical order within each of them.
  public var ids: [String] { withEntries { $0.map(\.id) } }

  /// Returns the ids of the packs for a locale (BCP 47, in any letter case): first the chosen pack, and then the others
  /// in the order of ``ids``. The call reads manifests but not clips. A pack with a broken manifest has no locale.
  public func ids(for locale: String) -> [String] {
    let spoken = locale.lowercased()
    let ids = ids.filter { (try? manifest(id: $0))?.locale.lowercased() == spoken }
    return ids.chosenFirst(chosen(for: locale))
  }

  /// Returns the id of the pack that was chosen to speak a locale (BCP 47, in any letter case); `nil` if none was
  /// chosen. The pack may be broken or missing.
  public func chosen(for locale: String) -> String? { settled[locale] ?? withState { $0.choices[locale] } }

  /// Returns whether the pack for a locale (BCP 47, in any letter case) was chosen by the choices that take precedence
  /// over the file.
  public func isSettled(_ locale: String) -> Bool { settled[locale] != nil }

  /// The choices that apply. Their packs may be broken or missing.
  public var choices: [ChosenPacks.Choice] {
    var all = withState { $0.choices }
    for choice in settled.all { all[choice.locale] = choice.id }
    return all.all
  }

  /// The reason why the file of choices cannot be read; `nil` if it can. The last choices that were read apply.
  public var choicesFault: VoicePackError? { withState { $0.choicesFault } }

  /// Returns the folder of a pack, even of a broken pack; `nil` when the shelf has no pack with this id.
  public func directory(id: String) -> URL? {
    withEntries { $0.first { $0.id == id }?.directory }
  }

  /// Returns a pack's manifest, without reading its clips.
  ///
  /// - Throws: `VoicePackError`.
  public func manifest(id: String) throws(VoicePackError) -> PackManifest {
    try remembered(id, in: \.manifest) { directory throws(VoicePackError) in
      try PackManifest(readingFrom: PackFolder(directory))
    }
  }

  /// Returns a pack. It is loaded at the first call, and again after it has changed. Until then, each call returns the
  /// same object.
  ///
  /// - Throws: `VoicePackError`; `.notFound` for an id that is not on the shelf.
  public func pack(id: String) throws(VoicePackError) -> VoicePack {
    try remembered(id, in: \.pack) { directory throws(VoicePackError) in
      try VoicePack(directory: directory, storage: storage)
    }
  }

  /// A number that increases when a search finds that packs or choices have changed. A result that was made from packs
  /// of an earlier generation may differ from a new result. Reading the number starts no search and reads no file.
  public var generation: Int { state.withLock { $0.generation } }

  /// Calls a closure with the shelf's state. If the last search for changes is older than the interval, the function
  /// searches first.
  private func withState<Value>(_ body: (inout State) -> Value) -> Value {
    let now = time()
    return state.withLock { state in
      if state.entries == nil || now - state.lookedAt >= interval {
        state.look()
        state.lookedAt = now
      }
      return body(&state)
    }
  }

  /// Calls a closure with the packs on the shelf.
  private func withEntries<Value>(_ body: (inout [Entry]) -> Value) -> Value {
    withState { state in
      var entries = state.entries ?? []
      defer { state.entries = entries }
      return body(&entries)
    }
  }

  private func remembered<Value>(
    _ id: String, in memory: WritableKeyPath<Entry, Result<Value, VoicePackError>?>,
    _ read: (URL) throws(VoicePackError) -> Value
  ) throws(VoicePackError) -> Value {
    guard PackManifest.isID(id) else { throw .idInvalid(id) }
    let result: Result<Value, VoicePackError> = withEntries { entries in
      guard let index = entries.firstIndex(where: { $0.id == id }) else { return .failure(.notFound(id)) }
      if let known = entries[index][keyPath: memory] { return known }
      let directory = entries[index].directory
      // The state is taken before the files are read, so that a change during the read is noticed by the next search.
      entries[index].stamp = entries[index].stamp ?? PackFolder.stamp(of: directory)
      var result = Result { () throws(VoicePackError) in try read(directory) }
      for _ in 1..<Self.attempts {
        guard case .failure(let error) = result, error.isPassing else { break }
        result = Result { () throws(VoicePackError) in try read(directory) }
      }
      if case .failure(let error) = result, error.isPassing { return result }
      entries[index][keyPath: memory] = result
      return result
    }
    return try result.get()
  }
}

extension [String] {
  /// The ids, with the chosen id first if they contain it.
  package func chosenFirst(_ chosen: String?) -> [String] {
    guard let chosen, contains(chosen) else { return self }
    return [chosen] + filter { $0 != chosen }
  }
}
