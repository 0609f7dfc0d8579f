// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The parent of each locale, which is used when the locale has no phrase book. The file is `Templates/parents.json`,
/// which is made from the parent locales of CLDR. If a locale has no entry, its parent is the locale without its last
/// subtag: the parent of fr-CA is fr.
struct LocaleParents: Sendable {
  /// The parents by locale, both in lower case.
  private var parents: [String: String] = [:]

  /// The locales of this length and more are not looked up.
  private static let longestChain = 8

  /// - Throws: `.phraseBookInvalid` when the file is not an object of strings.
  init(data: Data) throws(AnnouncementError) {
    guard let texts = try? JSONDecoder().decode([String: String].self, from: data) else {
      throw AnnouncementError(
        .phraseBookInvalid, "parents.json", "is not an object of strings", remedy: "map each locale to its parent")
    }
    for (locale, parent) in texts { parents[locale.lowercased()] = parent.lowercased() }
  }

  /// Creates a list without entries, so that each locale falls back to its language.
  init() {}

  /// Returns the locales that can serve for a locale, in lower case, the locale itself first.
  func chain(from locale: String) -> [String] {
    var chain = [locale.lowercased()]
    while let last = chain.last, chain.count < Self.longestChain {
      let shorter = last.lastIndex(of: "-").map { String(last[..<$0]) }
      guard let next = parents[last] ?? shorter, !chain.contains(next) else { break }
      chain.append(next)
    }
    return chain
  }
}
