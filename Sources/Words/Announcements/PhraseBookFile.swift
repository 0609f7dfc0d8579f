// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The file of a phrase book, together with the books that it extends.
///
/// A book with `"extends": "en-US"` contains only the differences from that book. It is applied to the other book as a
/// JSON merge patch (RFC 7396): an object is merged key by key, `null` removes a key, and anything else replaces the
/// value.
enum PhraseBookFile {
  /// The largest number of books that can extend each other in a chain.
  private static let longestChain = 4

  /// Reads the whole contents of a book.
  ///
  /// - Throws: `.phraseBooksMissing` when a file cannot be read; `.phraseBookInvalid` when a book extends itself, or
  ///   when the book or a book that it extends is not a JSON object.
  ///
  /// - Parameter files: the files of a folder, by name.
  static func contents(of name: String, in files: [String: Data?]) throws(AnnouncementError) -> Data {
    let data = try file(name, in: files)
    // Most books extend no other book, and need not be parsed twice.
    guard data.firstRange(of: Data("\"extends\"".utf8)) != nil else { return data }
    let merged = try object(name, in: files, left: longestChain)
    guard let data = try? JSONSerialization.data(withJSONObject: merged) else { throw notAnObject(name) }
    return data
  }

  private static func object(
    _ name: String, in files: [String: Data?], left: Int
  ) throws(AnnouncementError) -> [String: Any] {
    let data = try file(name, in: files)
    guard var object = (try? JSONSerialization.jsonObject(with: data)) as? [String: Any] else {
      throw notAnObject(name)
    }
    guard let base = object.removeValue(forKey: "extends") else { return object }
    guard let base = base as? String, base.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })
    else {
      throw invalid(name, "has no locale in extends", "name a book of the same folder, such as en-US")
    }
    guard left > 1 else {
      throw invalid(name, "extends too many books, or itself", "let it extend a book that is complete")
    }
    return merge(object, into: try self.object("\(base).json", in: files, left: left - 1))
  }

  private static func merge(_ patch: [String: Any], into object: [String: Any]) -> [String: Any] {
    var object = object
    for (key, value) in patch {
      if value is NSNull {
        object[key] = nil
      } else if let value = value as? [String: Any] {
        object[key] = merge(value, into: object[key] as? [String: Any] ?? [:])
      } else {
        object[key] = value
      }
    }
    return object
  }

  private static func file(_ name: String, in files: [String: Data?]) throws(AnnouncementError) -> Data {
    guard let data = files[name] ?? nil else { throw PhraseBooks.missing(name) }
    return data
  }

  private static func notAnObject(_ name: String) -> AnnouncementError {
    invalid(name, "is not a JSON object", "see docs/phrase-books.md for the fields")
  }

  private static func invalid(_ name: String, _ problem: String, _ remedy: String) -> AnnouncementError {
    AnnouncementError(.phraseBookInvalid, name, problem, remedy: remedy)
  }
}
