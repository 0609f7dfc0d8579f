// SPDX-License-Identifier: Apache-2.0

import FileSystem
import Foundation
import SoundDownloads

/// A change of a clip, a tone or a voice pack in the library.
public struct LibraryChange: Sendable, Hashable {
  public enum Kind: Sendable, Hashable {
    case clip
    case pack
    case tone
    /// A kind that this version does not know.
    case other(String)
  }

  /// The file to fetch. For a voice pack, this is its manifest.
  public struct File: Sendable, Hashable, Codable {
    /// The SHA-256 of the bytes in 64 lower-case hexadecimal digits.
    public var sha256: String
    public var byteCount: Int
  }

  public enum Change: Sendable, Hashable {
    /// The name was added or changed, and has this file now.
    case present(File)
    case removed
    /// A change that this version does not know.
    case other(String)
  }

  public var kind: Kind
  /// The file name of the clip or tone, or the id of the voice pack, as the service sent it. It is not checked.
  public var name: String
  public var change: Change
}

/// A page of changes of the library.
public struct LibraryChanges: Sendable, Hashable {
  /// The changes in their order, the latest last.
  public var changes: [LibraryChange]
  /// The value with which to ask for the next page; nil on the last page.
  public var next: String?
  /// The anchor with which to ask for later changes; nil if there is another page.
  public var anchor: String?

  private struct Answer: Decodable {
    struct Change: Decodable {
      var kind: String
      var name: String
      var change: String
      var sha256: String?
      var bytes: Int?
    }

    var changes: [Change]
    var next: String?
    var anchor: String?
  }

  /// Reads an answer; nil if it does not have the documented form.
  init?(_ data: Data) {
    guard let answer = try? JSONDecoder().decode(Answer.self, from: data),
      (answer.next == nil) != (answer.anchor == nil)
    else { return nil }
    changes = []
    (next, anchor) = (answer.next, answer.anchor)
    for line in answer.changes {
      let kind: LibraryChange.Kind =
        switch line.kind {
        case "clip": .clip
        case "pack": .pack
        case "tone": .tone
        default: .other(line.kind)
        }
      let change: LibraryChange.Change
      switch line.change {
      case "added", "changed":
        if let sha256 = line.sha256, let bytes = line.bytes, IncrementalSHA256.isHexadecimalDigest(sha256), bytes >= 0 {
          change = .present(LibraryChange.File(sha256: sha256, byteCount: bytes))
        } else if case .other = kind {
          change = .other(line.change)
        } else {
          return nil
        }
      case "removed": change = .removed
      default: change = .other(line.change)
      }
      changes.append(LibraryChange(kind: kind, name: line.name, change: change))
    }
  }
}
