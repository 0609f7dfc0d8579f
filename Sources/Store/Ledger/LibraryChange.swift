// SPDX-License-Identifier: Apache-2.0

import FileSystem
public import Foundation
import TextFormats

/// The file of a clip or of a tone in the folder of an app group.
public struct LibrarySound: Sendable, Hashable {
  /// The file name, 1 to 255 bytes.
  public var name: String
  /// The app group, 1 to 255 bytes.
  public var group: String
  /// The SHA-256 digest of the file: 64 hexadecimal digits in lower case.
  public var sha256: String
  /// The size of the file in bytes.
  public var bytes: Int

  public init(name: String, group: String, sha256: String, bytes: Int) {
    self.name = name
    self.group = group
    self.sha256 = sha256
    self.bytes = bytes
  }

  /// The first rule that a value breaks; nil when the sound can be recorded.
  package var brokenRule: String? {
    for text in [name, group] where !isText(text, 1...255) {
      return "sound (a name and a group, each of 1 to 255 bytes without NUL)"
    }
    if Data(sha256: sha256) == nil { return "sha256 (64 hexadecimal digits in lower case)" }
    if bytes < 0 { return "bytes (not negative)" }
    return nil
  }

  /// The first rule that a value of one of the sounds breaks; nil when all can be recorded.
  package static func brokenRule(of sounds: [LibrarySound]) -> String? { sounds.lazy.compactMap(\.brokenRule).first }
}

/// An installed voice pack, which belongs to all accounts and app groups.
public struct LibraryPack: Sendable, Hashable {
  /// The pack's id, 1 to 255 bytes.
  public var id: String
  /// The SHA-256 digest of the pack's manifest: 64 hexadecimal digits in lower case.
  public var sha256: String
  /// The size of the manifest in bytes.
  public var bytes: Int

  public init(id: String, sha256: String, bytes: Int) {
    self.id = id
    self.sha256 = sha256
    self.bytes = bytes
  }

  /// The first rule that a value breaks; nil when the pack can be recorded.
  package var brokenRule: String? {
    LibrarySound(name: id, group: "-", sha256: sha256, bytes: bytes).brokenRule
  }
}

/// The latest change of a name in the library of an account and an app group.
public struct LibraryChange: Sendable, Hashable {
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    case clip
    case pack
    case tone
  }

  public enum Change: String, Sendable, Hashable, CaseIterable {
    case added
    /// The file has other bytes than before.
    case changed
    case removed

    /// The change for a file with a digest; nil if the library has this file already.
    ///
    /// - Parameter former: The name's latest change and digest; nil if there is none.
    package init?(from former: (change: Change, sha256: Data)?, to sha256: Data) {
      switch former {
      case nil, (.removed, _)?: self = .added
      case (_, sha256)?: return nil
      case _?: self = .changed
      }
    }
  }

  /// The position in the feed. Positions strictly increase, so a later change of the same name has a higher position.
  public let position: Int64
  public let kind: Kind
  /// The file name of the clip or tone, or the id of the pack.
  public let name: String
  /// The digest of the clip or tone, or of the pack's manifest: 64 hexadecimal digits. For a removed file, it is the
  /// last digest.
  public let sha256: String
  /// The size of the clip or tone, or of the pack's manifest, in bytes.
  public let bytes: Int
  public let change: Change
  public let changedAt: Date
}

extension LibraryChange {
  package init(row: some StoredRow) throws {
    self.init(
      position: try row.value("anchor"), kind: try row.name("kind"), name: try row.value("name"),
      sha256: (try row.value("sha256") as Data).hexadecimal, bytes: try row.value("bytes"),
      change: try row.name("change"), changedAt: try row.value("at"))
  }
}

/// The place in the changes of a library, for one account and app group, after which a reader continues.
///
/// Its text consists of three parts. The first is the position. The second is the position up to which removals do not
/// matter to the reader, because it began its list after them. The third is a digest of the feed, the account and the
/// group, by which an anchor of another feed is recognized.
public struct LibraryAnchor: Sendable, Hashable, LosslessStringConvertible {
  package let position: Int64
  package let since: Int64
  package let feed: String

  package init(position: Int64, since: Int64, feed: String) {
    (self.position, self.since, self.feed) = (position, since, feed)
  }

  public init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard parts.count == 3, let position = Self.number(parts[0]), let since = Self.number(parts[1]),
      parts[2].count == 16, parts[2].allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
    else { return nil }
    self.init(position: position, since: since, feed: String(decoding: parts[2], as: UTF8.self))
  }

  public var description: String { "\(position)-\(since)-\(feed)" }

  private static func number(_ digits: Substring.UTF8View.SubSequence) -> Int64? {
    guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int64(String(decoding: digits, as: UTF8.self))
  }

  /// Returns the digest of a feed, an account and a group. It only detects mistakes; it does not protect against forged
  /// anchors.
  package static func digest(of feed: String, account: String, group: String) -> String {
    "\(feed)\0\(account)\0\(group)".utf8.checksum
  }
}

/// A page of the changes of a library.
public struct LibraryPage: Sendable, Hashable {
  /// The changes in the order of their positions.
  public let changes: [LibraryChange]
  /// The anchor from which a reader continues.
  public let anchor: LibraryAnchor
  /// Whether there are no more changes now.
  public let isComplete: Bool
}

extension LibraryPage {
  /// - Parameters:
  ///   - found: The changes of the library after an anchor: all of them, or at least one more than the limit.
  ///   - from: The anchor.
  ///   - last: The position up to which changes were looked for.
  package init(_ found: [LibraryChange], limit: Int, from: LibraryAnchor, last: Int64) {
    let changes = Array(found.sorted { $0.position < $1.position }.prefix(limit))
    let isComplete = found.count <= limit
    let position = isComplete ? last : changes.last?.position ?? last
    self.init(
      changes: changes,
      anchor: LibraryAnchor(position: position, since: max(from.since, position), feed: from.feed),
      isComplete: isComplete)
  }
}

extension Data {
  /// Reads a SHA-256 digest; nil unless the text has 64 hexadecimal digits in lower case.
  package init?(sha256 text: String) {
    guard IncrementalSHA256.isHexadecimalDigest(text), let bytes = [UInt8](hexadecimal: text) else { return nil }
    self.init(bytes)
  }
}
