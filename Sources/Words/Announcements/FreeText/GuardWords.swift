// SPDX-License-Identifier: Apache-2.0

/// The words of one language with which a name may imitate a sum, in addition to the numbers and units of its phrase
/// book: other spellings of numbers, and the units of all currencies. In the book, their key is `guard`.
struct GuardWords: Decodable, Sendable {
  /// Words for numbers that the phrase book does not have.
  var numbers: [String]?
  /// Words that mean “one” before a unit. Elsewhere they are not numbers.
  var articles: [String]?
  /// Words that may stand between a number and its unit: particles, and the country of a currency.
  var fillers: [String]?
  /// Units of money: the names of all currencies in CLDR, the last words of these names, and colloquial names.
  var units: [String]?
  /// Units that are also the beginning of other words (엔터, 불고기, 五分) or of names. Inside a longer word, a sum with such
  /// a unit is recognised only if the sum ends the word.
  var openings: [String]?
  /// Units that are also names of people or places. They count as units before a number only if the number is long.
  var names: [String]?
  /// Characters before a sum that do not make the sum a part of a name: about nine yuan.
  var before: [String]?
  /// Words behind a sum that do not make the sum a part of a name: nine yuan sharp.
  var behind: [String]?
  /// Syllables that may follow a sum whose unit is separate from the number: 이원만 is a name, but 이 원만 is not.
  var particles: [String]?
}
