// SPDX-License-Identifier: Apache-2.0

import Announcements

/// The words of a run. They are compared with the word events of a sound, to decide whether the samples were made from
/// these words. The type is a pure value.
///
/// A word event reports where a word begins in the text and when the word is heard. Over 16,600 announcements, in the
/// voices of the phrase books and in 130 other voices, espeak-ng 1.51 reported an event at the first letter of each
/// word, in the order of the words, with these exceptions:
/// - A phrase in the engine's dictionaries counts as one word: for "from the shop" the engine reports "from" and
///   "shop".
/// - A Korean word that begins with ㄴ or ㅁ has no event.
/// - A word that is spelled out has several events, at the same place or after it. A word after an opening quotation
///   mark has an event of length 0, which otherwise marks the end of a clause.
///
/// Each of the announcement's own words, above all each word of the sum, must therefore have its event. In text from
/// outside, a few consecutive words may have no event, and an event may be anywhere within a word. In the Chinese
/// voice, each character is a word.
///
/// A run that consists only of text from outside, such as a free text or a name in a voice of its own, names no sum
/// that was paid. Such a run may be silent, and only the order of its times is checked. A run with one of the
/// announcement's own words must not be silent.
///
/// The comparison detects the sound of another text, and words that the engine left out. It cannot tell apart two texts
/// of the same shape ("five dollars", "nine dollars"). It cannot detect forged samples and events either, which a text
/// can produce if it controls its child process. The speaker, and not this type, ensures that a sound is the answer to
/// its own request. The phonemes of a second, independent utterance would distinguish texts of the same shape. However,
/// they would double the engine's time for a clip (5 ms of 8.6 ms), and the same text could forge them in the same way.
struct SpokenWords {
  private struct Word {
    /// The range from the word's first letter to its end, without the white space after it.
    var range: Range<Int>
    /// Whether the word contains neither digits nor symbols, which the engine reads as other words.
    var isPlain: Bool
    /// Whether the word is one of the announcement's own, and not from outside.
    var isOwn: Bool
    var lacksEvent: Bool

    /// Whether the word is more than punctuation.
    var isSpoken: Bool { !range.isEmpty || !isPlain }
  }

  /// The number of words in the longest phrase of the engine's dictionaries. Such a phrase has only one event.
  private static let longestPhrase = 4

  private let words: [Word]

  init(of run: Script.Run) {
    let isChinese = run.voice?.hasPrefix("cmn") == true
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
            // The word's event is here, and not at the punctuation before it.
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

  /// Returns whether the events can belong to the words. A sound that was cut off is not used for a clip, so its events
  /// are not checked.
  func fit(_ speech: Speech) -> Bool {
    guard speech.isComplete else { return true }
    let times = speech.words.map(\.startMilliseconds)
    guard zip(times, times.dropFirst()).allSatisfy({ $0 <= $1 }), times.last ?? 0 <= speech.totalMilliseconds else {
      return false
    }
    // A run that is only free text names no sum that was paid. In free text, the engine sends events at unusual places,
    // such as inside `$(id)` or after emoji, and a refusal would affect harmless text.
    guard words.contains(where: \.isOwn) else { return true }
    // The announcement's own words must be audible. If the announcement's own part is only punctuation, such as a
    // pause, silence is correct.
    guard speech.isHeard || !words.contains(where: { $0.isOwn && $0.isSpoken }) else { return false }
    guard let told = told(speech.words) else { return false }
    return isEveryWord(told)
  }

  /// Returns the indices of the words that have events; `nil` when an event is not at the place of a word, or when the
  /// events are not in the order of the words.
  private func told(_ events: [Speech.Word]) -> Set<Int>? {
    var told: Set<Int> = []
    var current = 0
    for event in events {
      guard let index = words.lastIndex(where: { $0.range.lowerBound <= event.textPosition }) else {
        // The event belongs to symbols before the first letter.
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
      // In text from outside, the event may be anywhere. For example, after `x.` it is one letter early.
      if word.isPlain, word.isOwn {
        // If a letter is spelled with two words, the second event comes after the letter.
        guard event.textPosition <= word.range.upperBound, isAtStart || told.contains(index) else { return nil }
      }
      told.insert(index)
      current = index
    }
    return told
  }

  private func isEveryWord(_ told: Set<Int>) -> Bool {
    var lacking = Self.longestPhrase  // The first word has no previous word that could absorb it.
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
      .speechMismatch, "speaking", "the words that the engine reported differ from the text",
      remedy: "try again; if the error persists, rephrase the text")
  }
}

extension Speech {
  /// Whether the sound is louder than silence for a listener: 1/128 of full scale.
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
