// SPDX-License-Identifier: Apache-2.0

public import DeviceClient
import FileSystem
public import Foundation
public import SoundLibrary

/// The clips and tones of the copy that are on the phone, as a file provider shows them.
public struct LibraryListing: Sendable, Hashable {
  /// A clip or a tone in `Library/Sounds`. In a ``LibraryPlan``, it may also be a voice pack.
  public struct Item: Sendable, Hashable {
    /// The file name of the clip or tone, or the voice pack's id.
    public var name: String
    /// The digest and the size of the file. For a voice pack, they are those of its manifest.
    public var file: LibraryChange.File
  }

  /// The clips and tones in the order of their names.
  public let items: [Item]

  /// Reads the list of clips and tones on the phone. The call blocks the thread for a moment, and takes no lock.
  ///
  /// - Parameter container: The container of the app group.
  public init(container: GroupContainer) {
    self.init(LibraryPlaces(container).currentManifest, SoundLibrary(container: container).hasSound)
  }

  init(_ manifest: LibraryManifest, _ isThere: (_ name: String) -> Bool) {
    let files = manifest.tones.merging(manifest.clips.mapValues(\.file)) { tone, _ in tone }
    // Another program may have removed some of the files.
    items = files.filter { isThere($0.key) }.map { Item(name: $0.key, file: $0.value) }.sorted { $0.name < $1.name }
  }

  /// Returns the clip or tone with a name; nil if the phone has none.
  public func item(named name: String) -> Item? { items.first { $0.name == name } }

  /// The prefix of the data that identifies a page. Any other data, such as iOS' own initial pages, means the first
  /// page.
  private static let pageMark = "crier after "

  /// Returns a page of the list.
  ///
  /// - Parameters:
  ///   - page: The data that identifies the page: the bytes of `NSFileProviderPage`.
  ///   - count: The maximum number of items.
  /// - Returns: The items, and the data that identifies the next page; nil after the last page.
  public func page(_ page: Data, count: Int = 200) -> (items: [Item], next: Data?) {
    let text = String(decoding: page, as: UTF8.self)
    let last = text.hasPrefix(Self.pageMark) ? String(text.dropFirst(Self.pageMark.count)) : ""
    let rest = items.drop { $0.name <= last }
    let found = Array(rest.prefix(count))
    return (found, rest.count <= count ? nil : found.last.map { Data((Self.pageMark + $0.name).utf8) })
  }

  /// A text of 64 characters that changes whenever the list changes, for `NSFileProviderSyncAnchor`.
  public var anchor: String {
    IncrementalSHA256.hexadecimalDigest(of: items.map { "\($0.name) \($0.file.sha256)\n" }.joined().utf8)
  }
}
