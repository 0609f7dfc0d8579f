// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport

/// The words of the announcements that play or wait next, each written once. An entry's words never change.
final class WaitingWords: Sendable {
  typealias Words = (text: String, locale: String)

  /// The words by the entry's number; nil for an entry that has none.
  private let known = Locked<[Int64: Words?]>([:])

  var count: Int { known.withLock { $0.count } }

  /// Returns the words of an entry, and writes them if they are not known.
  func words(of number: Int64, _ write: () -> Words?) -> Words? {
    if let words = known.withLock({ $0[number] }) { return words }
    let words = write()
    known.withLock { $0[number] = .some(words) }
    return words
  }

  /// Forgets the words of all other entries.
  func keep(_ numbers: Set<Int64>) {
    known.withLock { known in known = known.filter { numbers.contains($0.key) } }
  }
}
