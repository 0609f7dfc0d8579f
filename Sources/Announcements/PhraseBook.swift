// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// How one locale says that money moved: its sentences, units, channels, numbers and voice. One file under
/// `Templates/`, described in `docs/phrase-books.md`.
///
/// A class, though nothing in it changes: it is handed on for every word, and copying its tables cost more than writing
/// the words.
public final class PhraseBook: Sendable {
  /// BCP 47, as the file is named.
  public let locale: String

  /// The engine's voice for this language, such as `en-us+f2`.
  public let voice: String

  /// Words a minute when the caller asks for none.
  public let rate: Int

  let numbers: NumberWords
  let content: Content

  /// The names of currencies' major units in a text, and their codes.
  let unitNames: ReplacementTable

  /// How words that the voice cannot read are read.
  let readings: ReplacementTable

  /// The words that a number counts in a text.
  let counterNames: ReplacementTable

  /// The templates of the payment sentences, apart.
  let sentences: [Payment.Kind: SentenceTemplates]

  /// The phrases around a channel's name, apart, by kind of payment and `other`.
  let channelPhrases: [String: SentenceTemplate]

  /// The words of the book's sentences, to find names that speak of a payment.
  let sentenceWords: ReplacementTable

  /// Whether a voice of the engine reads this book's words: the book's own, or one it names beside it, with any variant.
  public func isReadable(by voice: String) -> Bool { voices.contains(String(voice.prefix { $0 != "+" })) }

  /// The voices, without a variant, that read this book's words.
  public var voices: [String] { [String(voice.prefix { $0 != "+" })] + (content.otherVoices ?? []) }

  /// The names of channels that the book has words for, in alphabetical order; others are spoken as they stand.
  public var channels: [String] { content.channels.keys.sorted() }

  /// The channels of the book, each with its name in the book's language, as the voice says it.
  public var channelNames: [String: String] { content.channels.mapValues(\.name) }

  /// How long a recorded voice is silent between two clips.
  public var pauses: ClipPauses { content.pauses ?? .usual }

  /// Adds the book's words of numbers and of units.
  func add(to sumWords: inout NumberWordTable) {
    sumWords.add(
      words: content.numberWords(numbers), joiners: content.joiners, units: content.allUnitNames)
  }

  /// The book's language, by BCP 47: `zh` of zh-CN.
  var language: Substring { locale.prefix { $0 != "-" } }

  /// The scripts (ISO 15924) that the voice reads.
  var writingSystems: Set<String> { content.writingSystems }

  /// The file as it stands.
  struct Content: Decodable, Sendable {
    var locale: String
    var voice: String
    /// Further voices that read the words rightly; of a neighbouring language (`cmn` for Chinese) that is not so.
    var otherVoices: [String]?
    var rate: Int
    /// A CLDR locale identifier and what to correct in it, or tables.
    var numbers: Numbers
    /// The scripts (ISO 15924) that the voice reads; text in another becomes a run for another voice.
    var writingSystems: Set<String>
    /// Between two words, and between a number and its unit.
    var wordSeparator: String
    /// Between the major and the minor part of a sum.
    var majorMinorSeparator: String
    /// The decimal point and the ten digits, for sums without a minor unit's name.
    var decimalPoint: String
    /// Said before a negative number in free text.
    var minus: String
    var digits: [String]
    var channels: [String: ChannelName]
    /// What is said around a channel's name, by kind of payment and `other`: `through {channel}`.
    var channelPhrases: [String: String]
    var currencies: [String: Units]
    var sentences: [String: SentenceForms]
    /// What is said before an announcement that is heard again: `Again`.
    var again: String
    /// How several payments are told as one.
    var summary: SummaryPhrases
    /// How long a recorded voice is silent between two clips.
    var pauses: ClipPauses?
    /// How a symbol inside free text is said.
    var symbols: [String: String]
    /// Which currency a sign before or after a number means in free text.
    var currencySigns: [String: String]
    /// What the last word of a number becomes before the decimal point: いってん.
    var pointContractions: [String: String]?
    /// Forms of address at the end of a name that the sentence says itself: さん, 님.
    var honorifics: [String]?
    /// How words that the voice cannot read are read: a family name in kanji.
    var readings: [String: String]?
    /// Scripts of the book's own language (ISO 15924) that only a voice of another language reads. The report says so.
    var borrowedScripts: Set<String>?
    /// How numbers in free text are read.
    var text: TextRules?
  }

  enum Numbers: Decodable, Sendable {
    case cldr(String, corrections: [String: String], isSyllabic: Bool, counts: CountForms)
    case myriad(MyriadNumerals)

    private enum Key: String, CodingKey { case cldr, corrections, syllabic, myriad }

    init(from decoder: any Decoder) throws {
      let fields = try decoder.container(keyedBy: Key.self)
      if let locale = try fields.decodeIfPresent(String.self, forKey: .cldr) {
        self = .cldr(
          locale, corrections: try fields.decodeIfPresent([String: String].self, forKey: .corrections) ?? [:],
          isSyllabic: try fields.decodeIfPresent(Bool.self, forKey: .syllabic) ?? false,
          counts: try CountForms(from: decoder))
      } else {
        self = .myriad(try fields.decode(MyriadNumerals.self, forKey: .myriad))
      }
    }
  }

  /// A currency's units: `[major, minor …]`, each worth `value` minor units of the smallest.
  struct Units: Decodable, Sendable {
    var major: Unit
    /// From large to small (角, 分); empty when sums are said with a decimal point.
    var minor: [Unit]
  }

  struct Unit: Decodable, Sendable {
    /// After one; the same as `other` where the language has one form.
    var one: String?
    var other: String
    /// For minor units: how many of the currency's smallest units it is worth.
    var value: Int64?
    /// Said before this unit when the unit above it is skipped: 十二元零五分.
    var skipped: String?
    /// What the last word of the count becomes before this unit: `よん` + `えん` is よえん.
    var contractions: [String: String]?
    /// The names of a minor unit that is said without the major one, where another currency has a unit of the same name:
    /// `euro cents`.
    var alone: Names?

    struct Names: Decodable, Sendable {
      var one: String?
      var other: String
    }

    func name(of count: Int64, isAlone: Bool) -> String {
      if isAlone, let alone { return count == 1 ? alone.one ?? alone.other : alone.other }
      return count == 1 ? one ?? other : other
    }
  }

  /// - Parameters:
  ///   - data: the file's bytes, JSON.
  ///   - name: the file's name, for errors.
  /// - Throws: `.phraseBookInvalid`, naming the file and what is wrong in it.
  public init(data: Data, name: String) throws(AnnouncementError) {
    do {
      content = try JSONDecoder().decode(Content.self, from: data)
    } catch {
      throw Self.invalid(name, "does not read as a phrase book (\(Self.place(of: error)))")
    }
    locale = content.locale
    voice = content.voice
    rate = content.rate
    unitNames = content.unitNames
    readings = content.readingTable
    counterNames = content.counterNames
    sentenceWords = content.sentenceWords
    sentences = content.sentences.reduce(into: [:]) { sentences, entry in
      if let kind = Payment.Kind(rawValue: entry.key) { sentences[kind] = SentenceTemplates(entry.value) }
    }
    channelPhrases = content.channelPhrases.mapValues { SentenceTemplate($0) }
    switch content.numbers {
    case .cldr(let identifier, let corrections, let isSyllabic, let counts):
      // CLDR answers an unknown language in English and says nothing: the wrong words, spoken with confidence.
      guard !NumberFormatter.fallsBackToRoot(identifier) else {
        throw Self.invalid(name, "names a CLDR locale that has no spelled-out numbers of its own")
      }
      if let fault = counts.fault { throw Self.invalid(name, fault) }
      numbers = .cldr(SpelledOutNumbers(locale: identifier, corrections: corrections, isSyllabic: isSyllabic), counts)
    case .myriad(let numerals):
      if let fault = numerals.fault { throw Self.invalid(name, fault) }
      numbers = .myriad(numerals)
    }
    if let fault = content.fault { throw Self.invalid(name, fault) }
  }

  private static func invalid(_ name: String, _ problem: String) -> AnnouncementError {
    AnnouncementError(.phraseBookInvalid, name, problem, remedy: "see docs/phrase-books.md for the fields")
  }

  private static func place(of error: any Error) -> String {
    guard let error = error as? DecodingError else { return "not JSON" }
    switch error {
    case .keyNotFound(let key, _): return "no \(key.stringValue)"
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
      let path = context.codingPath.map(\.stringValue).joined(separator: ".")
      return path.isEmpty ? "not JSON" : "at \(path)"
    @unknown default: return "not JSON"
    }
  }
}

extension PhraseBook.Content {
  /// What decoding does not see.
  var fault: String? {
    if digits.count != 10 { return "digits has \(digits.count) words and not ten" }
    for (name, pause) in pauses?.named ?? [] where !ClipPauses.range.contains(pause) {
      return "pauses.\(name) is not between \(ClipPauses.range.lowerBound) and \(ClipPauses.range.upperBound) ms"
    }
    if !(80...450).contains(rate) { return "rate is not between 80 and 450 words a minute" }
    for kind in Payment.Kind.allCases {
      guard let forms = sentences[kind.rawValue] else { return "sentences has no \(kind.rawValue)" }
      for (suffix, sentence) in forms.named {
        if let fault = SentenceTemplate.fault(in: sentence) { return "sentences.\(kind.rawValue)\(suffix) \(fault)" }
      }
    }
    guard channelPhrases["other"] != nil else { return "channelPhrases has no other" }
    for (kind, phrase) in channelPhrases {
      if let fault = SentenceTemplate.channelFault(in: phrase) { return "channelPhrases.\(kind) \(fault)" }
    }
    if !again.contains(where: \.isLetter) || again.contains(where: { $0.isNumber || "[]{}".contains($0) }) {
      return "again is not words without digits and brackets"
    }
    if let fault = summary.fault { return "summary\(fault)" }
    if let fault = text?.fault { return "text\(fault)" }
    if let fault = sharedMinorUnit { return fault }
    for (code, units) in currencies {
      guard let currency = Currency(code: code) else { return "currencies.\(code) is not in ISO 4217" }
      let values = units.minor.map { $0.value ?? 0 }
      // Each unit divides the one above it, and the smallest is 1: else a sum could not be said to the last digit.
      var above = currency.minorUnitsPerMajor
      for value in values {
        guard value > 0, value < above, above % value == 0 else { return "currencies.\(code).minor has a wrong value" }
        above = value
      }
      if let smallest = values.last, smallest != 1 { return "currencies.\(code).minor does not reach 1" }
    }
    return nil
  }
}

extension PhraseBook.Content {
  /// A minor unit whose name by itself could mean two currencies: both amounts would sound alike.
  private var sharedMinorUnit: String? {
    var owners: [String: String] = [:]
    for (code, units) in currencies.sorted(by: { $0.key < $1.key }) {
      for unit in units.minor {
        for name in Set([unit.name(of: 1, isAlone: true), unit.name(of: 2, isAlone: true)]) {
          if let other = owners[name], other != code {
            return
              "currencies.\(code) and currencies.\(other) have a minor unit of the same name; give one of them alone"
          }
          owners[name] = code
        }
      }
    }
    return nil
  }
}

extension NumberFormatter {
  /// Whether spelling out in this locale gives English although the locale is not English.
  fileprivate static func fallsBackToRoot(_ identifier: String) -> Bool {
    let formatter = NumberFormatter()
    formatter.locale = Locale(identifier: identifier)
    formatter.numberStyle = .spellOut
    let isEnglish = Locale(identifier: identifier).language.languageCode == .english
    return (formatter.string(from: 7) == "seven") != isEnglish
  }
}
