// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The names of sounds that do not identify one file. For such a name, a phone, or the Simulator on a Mac, may play a
/// file other than the intended one.
public struct NameCollisions: Sendable, Hashable {
  /// The way in which names collide.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// More than one place has a file with this name, and the first place wins.
    case severalPlaces = "several_places"
    /// One place has files with this name in several Unicode normal forms. A phone's folder can have only one of them.
    case normalForms = "normal_forms"
    /// Another name differs only in letter case. A phone distinguishes these names, but the Simulator usually does not.
    case letterCase = "letter_case"
  }

  /// A name that collides.
  public struct Collision: Sendable, Hashable {
    /// The name, spelled like the file that is heard; if no such file is heard, like the first file.
    public var name: String
    public var kinds: [Kind]
    /// The sound that a phone plays for the name.
    public var heard: SoundResolution
    /// The other files with this name, and the files whose names differ only in letter case, in the order of the
    /// search.
    public var others: [URL]
  }

  /// The collisions, in the order of the names' bytes. Names that collide with one another have one entry each.
  public let collisions: [Collision]

  /// Finds the names that collide in listed folders.
  ///
  /// Files and symbolic links are compared, since Apple does not document whether iOS follows links. Folders are not
  /// compared, and neither are hidden entries, whose names begin with `.`.
  ///
  /// - Parameter listings: All entries of the folders, in the order of the search.
  public init(_ listings: [SoundListing]) {
    let found = listings.enumerated().flatMap { index, listing in
      listing.entries.map { Found(listing: listing, index: index, entry: $0) }
    }
    let similar = Dictionary(grouping: found) { $0.entry.name.withoutCase }
    let fallback = similar[SoundLookup.fallbackName] ?? []
    var collisions: [Collision] = []
    for (key, entries) in similar {
      let files = entries.filter(\.isCompared)
      guard files.count > 1 else { continue }
      // The search needs only these entries. With all entries, its time would grow with the square of their number.
      let searched = key == SoundLookup.fallbackName ? entries : entries + fallback
      let lookup = SoundLookup(
        listings.enumerated().map { index, listing in
          SoundListing(
            place: listing.place, folder: listing.folder,
            entries: searched.filter { $0.index == index }.map(\.entry))
        })
      // Swift's `==` treats the normal forms of a name as equal, so each name is grouped with its normal forms.
      for same in Dictionary(grouping: files, by: \.entry.name).values {
        collisions.append(Self.collision(of: same, among: files, lookup))
      }
    }
    self.collisions = collisions.sorted { $0.name.precedesInBytes($1.name) }
  }

  /// An entry and its place. Arrays of this type are in the order of the search.
  private struct Found {
    var listing: SoundListing
    /// The place's position in the search.
    var index: Int
    var entry: SoundListing.Entry

    var url: URL { listing.url(of: entry) }
    var isCompared: Bool { entry.kind != .folder && entry.name.utf8.first != UInt8(ascii: ".") }
  }

  /// - Parameters:
  ///   - same: The files with one name, in all its normal forms.
  ///   - similar: The files whose names equal this name or differ from it only in letter case.
  private static func collision(of same: [Found], among similar: [Found], _ lookup: SoundLookup) -> Collision {
    let indices = same.map(\.index)
    var kinds: [Kind] = []
    if Set(indices).count > 1 { kinds.append(.severalPlaces) }
    if Set(indices).count < indices.count { kinds.append(.normalForms) }
    if same.count < similar.count { kinds.append(.letterCase) }
    let heard = lookup.resolve(same[0].entry.name)
    return Collision(
      name: same.first { $0.url == heard.url }?.entry.name ?? same[0].entry.name, kinds: kinds, heard: heard,
      others: similar.map(\.url).filter { $0 != heard.url })
  }
}
