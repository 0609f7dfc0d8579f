// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The decision which sound is heard for the name in a notification, made from lists of the folders.
///
/// The first two rules come from Apple's documentation of `UNNotificationSound`. The third comes from Crier's
/// notification service extension, which names `default.wav` if the named sound does not exist. (The extension also
/// does so for the name `default`, and for a file that iOS cannot play. In these two cases, the result here is what iOS
/// plays without the extension.)
///
/// 1. The name `default` is the system's default sound.
/// 2. The first place that has a file with the name decides, even if the file is empty or cannot be read. In that
///    case, the system's default sound is heard instead of the file.
/// 3. If no place has the name, the first `default.wav` in the same places is heard. If there is none, the system's
///    default sound is heard.
///
/// A name is only compared with the listed names, so no name can lead out of the listed folders. Folders, symbolic
/// links and devices are skipped. Apple does not document what iOS does with symbolic links. Crier never publishes a
/// link, and the target of a link may be outside the folders that the app may read. A sound must therefore not depend
/// on a link.
public struct SoundLookup: Sendable, Hashable {
  /// The file that the extension names if no place has the named sound.
  public static let fallbackName = "default.wav"

  /// The listed folders, in the order of the search.
  public var listings: [SoundListing]

  public init(_ listings: [SoundListing]) { self.listings = listings }

  /// Returns a function that says whether an entry can matter when some names are resolved. Listings without the other
  /// entries give the same results.
  ///
  /// - Parameter names: The names that are going to be resolved.
  public static func relevance(to names: [String]) -> (_ entry: String) -> Bool {
    let keys = Set(names.map(\.withoutCase) + [fallbackName])
    return { keys.contains($0.withoutCase) || keys.contains($0.withoutExtension.withoutCase) }
  }

  /// Returns which sound is heard for a name.
  public func resolve(_ name: String) -> SoundResolution {
    if name.hasSameBytes(as: SoundChoice.defaultName) {
      return SoundResolution(name: name, rule: .reserved, url: nil, remarks: [])
    }
    guard Self.isFileName(name) else { return missing(name, remarks: [.invalidName]) }
    let search = search(for: name)
    let remarks = remarksOnName(name) + search.remarks
    guard let match = search.match else {
      return missing(name, remarks: remarks + [.notFound(listings.map(\.place))])
    }
    return resolution(of: name, by: .found(match.listing.place), match, remarks)
  }

  /// Returns the sound that is heard if no place has a file with the name.
  private func missing(_ name: String, remarks: [SoundResolution.Remark]) -> SoundResolution {
    let isFallback = name == Self.fallbackName
    let search = isFallback ? (match: nil, remarks: []) : search(for: Self.fallbackName)
    guard let match = search.match else {
      return SoundResolution(name: name, rule: .system, url: nil, remarks: remarks + search.remarks)
    }
    return resolution(of: name, by: .fallback(match.listing.place), match, remarks + search.remarks)
  }

  private func resolution(
    of name: String, by rule: SoundResolution.Rule, _ match: Match, _ remarks: [SoundResolution.Remark]
  ) -> SoundResolution {
    let (entry, place) = (match.entry, match.listing.place)
    switch entry.kind {
    case .emptyFile:
      return SoundResolution(
        name: name, rule: .system, url: nil, remarks: remarks + [.emptyFile(entry.name, place)])
    case .unreadableFile:
      return SoundResolution(
        name: name, rule: .system, url: nil, remarks: remarks + [.unreadableFile(entry.name, place)])
    case .file, .folder, .symbolicLink, .special:
      return SoundResolution(name: name, rule: rule, url: match.listing.url(of: entry), remarks: remarks)
    }
  }

  private static func isFileName(_ name: String) -> Bool {
    (1...255).contains(name.utf8.count) && name != "." && name != ".."
      && !name.unicodeScalars.contains { $0 == "/" || $0.properties.generalCategory == .control }
  }
}

// MARK: - The search

extension SoundLookup {
  private struct Match {
    var listing: SoundListing
    var entry: SoundListing.Entry
  }

  /// Searches the places for the first file with a name.
  private func search(for name: String) -> (match: Match?, remarks: [SoundResolution.Remark]) {
    var remarks: [SoundResolution.Remark] = []
    for (index, listing) in listings.enumerated() {
      let place = listing.place
      for entry in listing.entries(named: name) {
        switch entry.kind {
        case .folder: remarks.append(.folder(entry.name, place))
        case .symbolicLink: remarks.append(.symbolicLink(entry.name, place))
        case .special: remarks.append(.special(entry.name, place))
        case .file, .emptyFile, .unreadableFile:
          if !entry.name.hasSameBytes(as: name) { remarks.append(.otherNormalForm(place)) }
          remarks += remarkOnGroups(with: name, from: index)
          return (Match(listing: listing, entry: entry), remarks)
        }
      }
    }
    return (nil, remarks)
  }

  /// Returns a remark if several of the groups from this index on have the name. The order of the groups then decides
  /// which sound is heard.
  private func remarkOnGroups(with name: String, from index: Int) -> [SoundResolution.Remark] {
    guard case .groupContainer = listings[index].place else { return [] }
    let groups = listings[index...].compactMap { listing -> String? in
      guard case .groupContainer(let group) = listing.place else { return nil }
      return listing.entries(named: name).contains { $0.kind.isRegularFile } ? group : nil
    }
    return groups.count > 1 ? [.severalGroups(name, groups)] : []
  }

  /// Returns the remarks about the name itself and about similar names.
  private func remarksOnName(_ name: String) -> [SoundResolution.Remark] {
    var remarks: [SoundResolution.Remark] = []
    if name.withoutExtension == name {
      let names = listings.flatMap(\.entries).map(\.name).filter { $0 != name && $0.withoutExtension == name }
      remarks.append(.noExtension(similar: Set(names).sorted { $0.precedesInBytes($1) }))
    }
    let folded = name.withoutCase
    for listing in listings {
      for entry in listing.entries where entry.name != name && entry.name.withoutCase == folded {
        remarks.append(.otherCase(entry.name, listing.place))
      }
    }
    return remarks
  }
}

extension SoundListing.Kind {
  /// Whether the search of iOS ends at an entry of this type.
  var isRegularFile: Bool {
    switch self {
    case .file, .emptyFile, .unreadableFile: true
    case .folder, .symbolicLink, .special: false
    }
  }
}

extension String {
  /// The string up to its last dot. A string without a dot, or with its only dot at the start, has no extension and
  /// stays as it is.
  package var withoutExtension: String {
    guard let dot = lastIndex(of: "."), dot != startIndex else { return self }
    return String(self[..<dot])
  }
}
