// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The parent of each locale, which is used when the locale has no phrase book. The file is `Templates/parents.json`,
/// which is made from the parent locales of CLDR. If a locale has no entry, its parent is the locale without its last
/// subtag: the parent of fr-CA is fr.
struct LocaleParents: Sendable {
  /// The parents by locale, both in lower case.
  private var parents: [String: String] = [:]

  /// The largest number of locales in a chain of parents, including the first locale.
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

  /// Returns the locales whose phrase books may be used for a locale, in lower case. The locale itself comes first, and
  /// its parents follow.
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
