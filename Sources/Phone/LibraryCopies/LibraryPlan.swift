// SPDX-License-Identifier: Apache-2.0

public import DeviceClient
import SoundLibrary
import VoicePacks

/// Decides what a phone fetches, keeps and removes after changes of the library. It uses neither files nor a
/// connection.
///
/// All voice packs and tones are wanted. The newest clips are wanted, as many as fit into a budget of bytes.
public struct LibraryPlan: Sendable, Hashable {
  /// The default maximum size of all clips in bytes: 200 MB.
  public static let standardBudget = 200_000_000

  /// A clip, a tone or a voice pack to fetch.
  public typealias Item = LibraryListing.Item

  /// The voice packs to fetch, in the order of their ids.
  public private(set) var packs: [Item] = []
  /// The clips to fetch, the newest first.
  public private(set) var clips: [Item] = []
  /// The tones to fetch, in the order of their names.
  public private(set) var tones: [Item] = []
  /// The voice packs to remove, in the order of their ids.
  public private(set) var removedPacks: [String] = []
  /// The clips to remove, in the order of their names.
  public private(set) var removedClips: [String] = []
  /// The tones to remove, in the order of their names, each with the digest and size of the file that the phone
  /// fetched.
  public private(set) var removedTones: [Item] = []
  /// The number of names that were left out because they break the rule for names, or because their files are too
  /// large.
  public private(set) var refused = 0
  /// The contents of the copy after the plan was carried out.
  public private(set) var manifest: LibraryManifest

  private let current: LibraryManifest
  private let budget: Int
  private var order: Int

  /// Begins a plan.
  ///
  /// - Parameters:
  ///   - current: The present contents of the copy.
  ///   - isWholeList: Whether the changes list the whole library, so that everything that they do not name is removed.
  ///   - budget: The maximum size of all clips in bytes.
  public init(from current: LibraryManifest, isWholeList: Bool, budget: Int = LibraryPlan.standardBudget) {
    self.current = current
    self.budget = budget
    order = current.nextOrder
    manifest = isWholeList ? LibraryManifest() : current
  }

  /// Adds the next page of changes: those after the anchor of the current manifest, or a page of the whole library.
  ///
  /// The list of a large library is far longer than the copy, so this method drops the oldest clips while pages are
  /// added.
  public mutating func add(_ changes: [LibraryChange]) {
    for change in changes { add(change) }
    // Later changes may remove newer clips. Four times the budget is therefore kept until the end.
    let limit = budget.multipliedReportingOverflow(by: 4)
    if !limit.overflow { keepWithin(limit.partialValue) }
  }

  private mutating func add(_ change: LibraryChange) {
    switch (change.kind, change.change) {
    case (.clip, .present(let file)):
      manifest.clips[change.name] = nil
      guard Self.isClip(change.name), (1...SoundLibrary.maximumClipBytes).contains(file.byteCount) else {
        refused += 1
        return
      }
      manifest.clips[change.name] = LibraryManifest.Clip(file: file, order: order)
      order += 1
    case (.pack, .present(let file)):
      guard PackManifest.isID(change.name), (1...PackManifest.maximumBytes).contains(file.byteCount) else {
        refused += 1
        return
      }
      manifest.packs[change.name] = file
    case (.tone, .present(let file)):
      guard Self.isTone(change.name), (1...SoundLibrary.maximumClipBytes).contains(file.byteCount) else {
        refused += 1
        return
      }
      manifest.tones[change.name] = file
    case (.clip, .removed): manifest.clips[change.name] = nil
    case (.pack, .removed): manifest.packs[change.name] = nil
    case (.tone, .removed): manifest.tones[change.name] = nil
    case (.other, _), (_, .other): return
    }
  }

  /// Completes the plan after the last page.
  ///
  /// - Parameter anchor: The anchor at the end of the changes.
  public mutating func end(at anchor: String) {
    manifest.anchor = anchor
    keepWithin(budget)
    packs = Self.items(manifest.packs.filter { current.packs[$0.key] != $0.value })
    clips = manifest.clips.filter { current.clips[$0.key]?.file != $0.value.file }
      .sorted { $0.value.order > $1.value.order }.map { Item(name: $0.key, file: $0.value.file) }
    tones = Self.items(manifest.tones.filter { current.tones[$0.key] != $0.value })
    removedTones = Self.items(current.tones.filter { manifest.tones[$0.key] == nil })
    removedPacks = current.packs.keys.filter { manifest.packs[$0] == nil }.sorted()
    removedClips = current.clips.keys.filter { manifest.clips[$0] == nil }.sorted()
  }

  private static func items(_ files: [String: LibraryChange.File]) -> [Item] {
    files.map { Item(name: $0.key, file: $0.value) }.sorted { $0.name < $1.name }
  }

  /// Drops the oldest clips beyond a number of bytes. A clip that is larger than the whole budget does not displace
  /// other clips.
  private mutating func keepWithin(_ limit: Int) {
    for (name, clip) in manifest.clips where clip.file.byteCount > budget { manifest.clips[name] = nil }
    guard manifest.clips.values.reduce(0, { $0 + $1.file.byteCount }) > limit else { return }
    var rest = limit
    for (name, clip) in manifest.clips.sorted(by: { $0.value.order > $1.value.order }) {
      rest -= clip.file.byteCount
      // The newest clip that does not fit is dropped, and so are all older clips, even smaller ones.
      if rest < 0 { manifest.clips[name] = nil }
    }
  }

  /// Returns whether a clip of the library may have this name. The service names a clip after the digest of its recipe.
  /// Any other name could belong to a tone, which the clip would replace.
  static func isClip(_ name: String) -> Bool { SoundLibrary.isRenderedClip(name) }

  /// Returns whether a tone of the library may have this name: the name of a sound file, but not of a clip.
  static func isTone(_ name: String) -> Bool { SoundLibrary.isClipName(name) && !isClip(name) }
}
