// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The entries of one of the folders in which iOS looks for sounds.
public struct SoundListing: Sendable, Hashable {
  /// The type of an entry, in as much detail as is needed to decide whether it can be played.
  public enum Kind: Sendable, Hashable {
    /// A regular file that has bytes and can be opened. Its content is not checked.
    case file
    /// A regular file of zero bytes.
    case emptyFile
    /// A regular file that cannot be opened, for example because of its permissions.
    case unreadableFile
    case folder
    case symbolicLink
    /// A pipe, a socket or a device.
    case special
  }

  /// A name in the folder, and the type of its file.
  ///
  /// The name keeps its bytes. Two entries are equal if their names differ only in Unicode normalization, because
  /// Swift's `==` ignores it.
  public struct Entry: Sendable, Hashable {
    public var name: String
    public var kind: Kind
  }

  public var place: SoundPlace
  /// The folder that has the entries. It may be missing; the listing then has no entries.
  public var folder: URL
  public var entries: [Entry]

  /// The file URL of an entry.
  public func url(of entry: Entry) -> URL { folder.appending(path: entry.name, directoryHint: .notDirectory) }

  /// Returns the entries that a phone's file system regards as having this name. An entry with the same bytes comes
  /// first. The other normal forms follow in the order of their bytes.
  ///
  /// The file system of iOS distinguishes letter case, but not Unicode normal forms (Apple File System Guide,
  /// "Frequently Asked Questions"). Swift's `==` does the same. A phone's folder can have only one of these entries,
  /// but a folder on another file system, such as ext4, can have all of them.
  func entries(named name: String) -> [Entry] {
    entries.filter { $0.name == name }.sorted { first, second in
      let (isFirstExact, isSecondExact) = (first.name.hasSameBytes(as: name), second.name.hasSameBytes(as: name))
      if isFirstExact != isSecondExact { return isFirstExact }
      return first.name.precedesInBytes(second.name)
    }
  }
}

extension String {
  /// Returns whether both strings have the same UTF-8 bytes. In contrast, `==` also accepts another Unicode normal
  /// form.
  package func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }

  /// Returns whether this string's UTF-8 bytes come before those of another string. The operator `<` gives no order for
  /// names that differ only in Unicode normalization; this function does.
  func precedesInBytes(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }

  /// The string without differences of letter case, to compare names as the file system of a Mac does. The conversion
  /// to capitals and back also unifies variants such as ß and ss, or ς and σ.
  var withoutCase: String { uppercased().lowercased() }
}
