// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The folder that an app shares with its extensions. It is the only folder that both can access.
///
/// iOS looks for a notification's sound in `Library/Sounds` of the app's own container, then in `Library/Sounds` of its
/// group containers, then in the app's bundle (Apple's documentation of `UNNotificationSound`). A service extension
/// cannot access the first folder, so its clips go into the second.
public struct GroupContainer: Sendable, Hashable {
  /// The container's folder. It may be a symbolic link, but no folder inside it may be a symbolic link.
  public let directory: URL

  /// The folder in which a phone looks for sounds: `Library/Sounds` of the container, whether or not it exists yet.
  public var soundsDirectory: URL {
    directory.appending(path: "Library", directoryHint: .isDirectory)
      .appending(path: "Sounds", directoryHint: .isDirectory)
  }

  /// Creates a container at a known place, such as the result of
  /// `FileManager.containerURL(forSecurityApplicationGroupIdentifier:)`.
  ///
  /// - Precondition: `directory` is a file URL.
  public init(directory: URL) {
    // Not from outside: the callers make the URL from a path on this machine, or get it from iOS.
    precondition(directory.isFileURL, "A group container is a folder on this machine.")
    self.directory = directory
  }

  /// Creates the container of a group, in a folder that has one subfolder for each group.
  ///
  /// - Parameters:
  ///   - containers: The folder that holds the groups' folders.
  ///   - group: The group's name: 1 to 155 of A-Z, a-z, 0-9, `.` and `-`, with no `.` at the start and no `..`. These
  ///     are the characters of Apple's group identifiers, and they cannot form a path that leaves `containers`.
  /// - Throws: ``SoundLibraryError`` with the code `invalidGroupName`.
  public init(containers: URL, group: String) throws(SoundLibraryError) {
    guard Self.isGroupName(group) else { throw SoundLibraryError.invalidGroupName(group) }
    self.init(directory: containers.appending(path: group, directoryHint: .isDirectory))
  }

  /// Returns whether a text is a valid group name; see ``init(containers:group:)`` for the rule.
  public static func isGroupName(_ name: String) -> Bool {
    guard (1...155).contains(name.utf8.count), !name.hasPrefix("."), !name.contains("..") else { return false }
    return name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
        true
      default: false
      }
    }
  }

  /// Returns whether a group name begins with `group.`, as the names of all app groups on iOS do. A name without this
  /// prefix can be valid for a folder on this machine, but no group on a phone can have it.
  public static func hasGroupPrefix(_ name: String) -> Bool { name.hasPrefix("group.") && name != "group." }
}
