// SPDX-License-Identifier: Apache-2.0

import Announcements

/// The words of a run, held against the word events that came with its sound: whether these samples were made of these
/// words. A pure value.
///
/// The engine tells for each word where in the text it begins and when it is heard. Over 16,600 announcements, in the
/// voices of the phrase books and in 130 others, an event stood at the first letter of each word, in the order of the words,
/// but for these habits of espeak-ng 1.51:
/// - Phrases of its dictionaries are one word to it: of "from the shop" it tells "from" and "shop".
/// - A Korean word that begins with ㄴ or ㅁ has no event.
/// - A word that is spelled has many, at one place or behind it. A word behind an opening quotation mark has one of length 0,
///   which elsewhere tells a clause's end.
///
/// So each word that is the announcement's own, the sum above all, must have its event, and in text from outside a few in a
/// row may lack one, and events may stand anywhere within it. In the Chinese voice each character is a word. A run of text from outside alone, as a free text or a
/// name in a voice of its own, is held to the order of its times and to nothing else: it names no sum that was paid. It may
/// be silent; a run with a word of the announcement's own may not.
///
/// What it finds is another text's sound, and words that the engine left out. What it cannot find: two texts of equal shape
/// ("five dollars", "nine dollars"), and a child that its text took over, which can forge samples and events alike. That a
/// sound is the answer to its own request is the speaker's doing and not this one's. Phonemes of a second, independent
/// utterance would tell texts of one shape apart, but double what a clip costs the engine (5 of 8.6 ms), and would be
/// forged by the same text in the same way.
struct SpokenWords {
  private struct Word {
    /// From its first letter to its end, without the white space behind.
    var range: Range<Int>
    /// Whether nothing in it is a digit or a symbol, which are read as other words.
    var isPlain: Bool
    /// Whether it is the announcement's own.
    var isOwn: Bool
    var lacksEvent: Bool

    /// Whether it is more than punctuation.
    var isSpoken: Bool { !range.isEmpty || !isPlain }
  }

  /// The longest phrase in the engine's dictionaries has four words, which have one event.
  private static let longestPhrase = 4

  private let words: [Word]

  init(of run: Script.Run) {
    let isChinese = run.voice.hasPrefix("cmn")
    var words: [Word] = []
    var open: Word?
    var isBehindCharacter = false
    var position = 0
    for segment in run.segments {
      let isOwn = [.amount, .phrase, .count].contains(segment.role)
      for scalar in segment.spelling.unicodeScalars {
        let isCharacter = isChinese && scalar.properties.isIdeographic
        if scalar.properties.isWhitespace || isCharacter || isBehindCharacter && scalar.isLetter {
          if let open { words.append(open) }
          open = nil
        }
        if !scalar.properties.isWhitespace {
          var word = open ?? Word(range: position..<position, isPlain: true, isOwn: isOwn, lacksEvent: false)
          if !word.range.isEmpty {
            word.range = word.range.lowerBound..<position + 1
          } else if scalar.isLetter {
            // Its event stands here, and not at the punctuation before.
            word.range = position..<position + 1
            word.lacksEvent = scalar.isKoreanNasal
            word.isOwn = isOwn
          }
          if !scalar.isLetter, !scalar.isPunctuation { word.isPlain = false }
          open = word
        }
        isBehindCharacter = isCharacter
        position += 1
      }
    }
    if let open { words.append(open) }
    self.words = words
  }

  /// Whether the events can be those of the words. A sound that was cut is no clip's, and is not looked at.
  func fit(_ speech: Speech) -> Bool {
    guard speech.isComplete else { return true }
    let times = speech.words.map(\.startMilliseconds)
    guard zip(times, times.dropFirst()).allSatisfy({ $0 <= $1 }), times.last ?? 0 <= speech.totalMilliseconds else {
      return false
    }
    // Free text by itself names no sum that was paid. The engine sends events at odd places of it, as inside `$(id)` or
    // behind emoji, and to refuse it would be to refuse a harmless text.
    guard words.contains(where: \.isOwn) else { return true }
    // Own words are heard. Where all that is own is punctuation, as a pause, silence is what it sounds like.
    guard speech.isHeard || !words.contains(where: { $0.isOwn && $0.isSpoken }) else { return false }
    guard let told = told(speech.words) else { return false }
    return isEveryWord(told)
  }

  /// The words that events tell of; `nil` when one of them is at no word's place, or they are in another order.
  private func told(_ events: [Speech.Word]) -> Set<Int>? {
    var told: Set<Int> = []
    var current = 0
    for event in events {
      guard let index = words.lastIndex(where: { $0.range.lowerBound <= event.textPosition }) else {
        // Symbols before the first letter.
        guard words.first?.isPlain == false else { return nil }
        continue
      }
      let word = words[index]
      let isAtStart = event.textPosition == word.range.lowerBound
      guard event.length > 0 else {
        if isAtStart, !word.range.isEmpty { told.insert(index) }
        continue
      }
      guard index >= current else { return nil }
      // In text from outside it may stand anywhere: behind `x.` it comes a letter early.
      if word.isPlain, word.isOwn {
        // A letter that is spelled in two words has the second one behind it.
        guard event.textPosition <= word.range.upperBound, isAtStart || told.contains(index) else { return nil }
      }
      told.insert(index)
      current = index
    }
    return told
  }

  private func isEveryWord(_ told: Set<Int>) -> Bool {
    var lacking = Self.longestPhrase  // nothing is drawn into a word before the first
    for (index, word) in words.enumerated() where !word.range.isEmpty {
      if told.contains(index) {
        lacking = 0
      } else if word.isPlain, !word.lacksEvent {
        lacking += 1
        guard !word.isOwn, lacking < Self.longestPhrase else { return false }
      }
    }
    return true
  }

  static var mismatch: SpeechEngineError {
    SpeechEngineError(
      .speechMismatch, "speaking", "the words that the engine says it spoke are not those of the text",
      remedy: "try again; if it comes again, write the text another way")
  }
}

extension Speech {
  /// Whether it is louder than what a listener takes for silence: 1/128 of full scale.
  fileprivate var isHeard: Bool { samples.contains { $0.magnitude > 256 } }
}

extension Unicode.Scalar {
  fileprivate var isLetter: Bool {
    switch properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
      .spacingMark, .enclosingMark:
      true
    default: false
    }
  }

  fileprivate var isPunctuation: Bool {
    switch properties.generalCategory {
    case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation, .initialPunctuation,
      .finalPunctuation, .otherPunctuation, .format:
      true
    default: false
    }
  }

  /// Whether a Korean syllable begins with ㄴ or ㅁ, composed or not.
  fileprivate var isKoreanNasal: Bool {
    switch value {
    case 0xAC00...0xD7A3: [2, 6].contains((value - 0xAC00) / 588)
    case 0x1102, 0x1106, 0x3134, 0x3141: true
    default: false
    }
  }
}
