// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport

/// The words with which a name may imitate a sum, in the languages of all installed phrase books.
///
/// The table is made when the first name is read, because making it takes longer than reading the books, and a payment
/// without names does not need it.
final class SumWords: Sendable {
  private let shelf: PhraseBookShelf
  private let made = Locked<NumberWordTable?>(nil)
  private let madeSounds = Locked<PinyinSounds?>(nil)

  init(_ shelf: PhraseBookShelf) { self.shelf = shelf }

  /// The words for numbers and units of all phrase books. The first caller makes the table, and callers on other
  /// threads wait meanwhile.
  var table: NumberWordTable {
    made.withLock { made in
      if let made { return made }
      let table = shelf.validBooks.reduce(into: NumberWordTable()) { $1.add(to: &$0) }
      made = table
      return table
    }
  }

  /// The sounds of the Chinese words. They are made when the first pronunciation in pinyin is read.
  var sounds: PinyinSounds {
    madeSounds.withLock { made in
      if let made { return made }
      let sounds = PinyinSounds(table)
      made = sounds
      return sounds
    }
  }
}
