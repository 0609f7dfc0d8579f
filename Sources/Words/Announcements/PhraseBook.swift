// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The wording of one locale for payments: its sentences, units, channels, numbers and voice. Each book is one file in
/// `Templates/`, described in `docs/phrase-books.md`.
///
/// The book is immutable. It is still a class and not a structure, because it is passed along for every word. Copying
/// the structure's tables took more time than writing the words.
public final class PhraseBook: Sendable {
  /// The locale (BCP 47), which is also the file's name.
  public let locale: String

  /// The engine's voice for this language, such as `en-us+f2`; `nil` if the engine has no voice that shopkeepers would
  /// understand. Such a language is spoken from recordings, or by one of ``voices`` if the caller asks for it.
  public let voice: String?

  /// The speaking rate in words per minute that applies when a caller requests none.
  public let rate: Int

  let numbers: NumberWords
  let plurals: PluralRules
  let content: Content

  /// The names of the currencies' major units, to recognise them in a text. Each is mapped to its currency code.
  let unitNames: ReplacementTable

  /// The signs and abbreviations of currencies in a text: `€`, `Rp`.
  let currencySigns: ReplacementTable

  /// The book's own words that multiply the number before them.
  let scaleWords: ReplacementTable

  /// The sign before the decimals of a written number, `.` or `,`.
  let decimalSeparator: Unicode.Scalar

  /// Whether a point groups the digits of a written number, as in 1.234,50.
  let groupsByPoint: Bool

  /// The pronunciations of words that the voice cannot read.
  let readings: ReplacementTable

  /// The counter words that can follow a number in a text, such as the Korean `명`.
  let counterNames: ReplacementTable

  /// The words with which a number may begin or end, as they are heard; see ``isHeardAsNumber(_:)``.
  private let heardNumbers: Set<String>

  /// The minor units that several currencies share, by currency code.
  let minorUnits: [String: Unit]

  /// The codes of the book's currencies whose names are said before the number; see ``isHeardAsNumber(_:)``.
  let currenciesSaidFirst: Set<String>

  /// The templates of the payment sentences, parsed.
  private let sentences: [Payment.Kind: SentenceTemplates]
  /// The templates of the sentences that some channels have of their own.
  private let channelSentences: [String: [Payment.Kind: SentenceTemplates]]

  /// The phrases around a channel's name, parsed. The keys are the kinds of payment and `other`.
  let channelPhrases: [String: SentenceTemplate]

  /// The words of the book's sentences. A name that contains them may imitate a payment.
  let sentenceWords: ReplacementTable

  /// Returns the sentence for a payment. Some channels have a sentence of their own.
  func sentence(for payment: Payment) -> SentenceTemplate {
    let own = payment.channel.flatMap { channelSentences[$0.lowercased()]?[payment.kind] }
    // A valid book has a sentence for each kind of payment.
    return (own ?? sentences[payment.kind])?.template(for: payment.amount) ?? SentenceTemplate("{amount}")
  }

  /// Returns whether a voice of the engine can read this book's words. It can if it is the book's own voice or one of
  /// its other voices. A variant such as +f2 may follow the name.
  public func isReadable(by voice: String) -> Bool { voices.contains(String(voice.prefix { $0 != "+" })) }

  /// The voices that read this book's words, without a variant.
  public var voices: [String] { (voice.map { [String($0.prefix { $0 != "+" })] } ?? []) + (content.otherVoices ?? []) }

  /// The channels that the book translates, in alphabetical order. The names of other channels are spoken as given.
  public var channels: [String] { content.channels.keys.sorted() }

  /// The spoken names of the book's channels in the book's language, by channel.
  public var channelNames: [String: String] { content.channels.mapValues(\.name) }

  /// The pauses of a recorded voice between two clips.
  public var pauses: ClipPauses { content.pauses ?? .usual }

  /// Adds the book's words for numbers and units to a table.
  func add(to sumWords: inout NumberWordTable) {
    sumWords.add(content.guard)
    let words = content.numberWords(numbers)
    // A word that only joins other words is not a number. Without this filter, “y Franco” would be a sum.
    let joining = words.filter { !heardNumbers.contains(HeardText.word($0)) }
    sumWords.add(words: words, joiners: content.joiners.union(joining), units: content.allUnitNames)
  }

  /// The book's language (BCP 47): `zh` of zh-CN.
  var language: Substring { locale.prefix { $0 != "-" } }

  /// The scripts (ISO 15924) that the voice reads.
  var writingSystems: Set<String> { content.writingSystems }

  /// The contents of the file.
  struct Content: Decodable, Sendable {
    var locale: String
    var voice: String?
    /// Further voices that pronounce the words correctly. Voices of similar languages that mispronounce them are not
    /// listed, such as `cmn` for Chinese.
    var otherVoices: [String]?
    var rate: Int
    /// The source of number words: either rules, or tables.
    var numbers: Numbers
    /// The plural rules for whole numbers, by category; `one` for 1 if they are missing.
    var plurals: [String: String]?
    /// The scripts (ISO 15924) that the voice reads. Text in another script is given to another voice.
    var writingSystems: Set<String>
    /// The separator between two words, which also stands between a number and its unit.
    var wordSeparator: String
    /// The separator between the major and the minor part of a sum.
    var majorMinorSeparator: String
    /// The pause between a currency that is said first and its number; `, ` if it is missing.
    var currencyFirstSeparator: String?
    /// Further words and syllables that are heard as numbers: other readings of a number (し), syllables that sound like
    /// a number (巴 like 八), and names that begin like a number (Tunisian). No name of a currency after a number may
    /// begin with them.
    var numberSounds: [String]?
    /// The word for the decimal point. Sums whose minor unit has no name are spoken with this word and the ten digits.
    var decimalPoint: String
    /// The word before a negative number in free text.
    var minus: String
    var digits: [String]
    var channels: [String: ChannelName]
    /// The phrases around a channel's name, such as `through {channel}`. The keys are the kinds of payment and `other`.
    var channelPhrases: [String: String]
    var currencies: [String: Units]
    /// The names of currencies that have no entry in ``currencies``, where CLDR's name is wrong or stilted.
    var currencyNames: [String: PluralForms]?
    /// The minor units of currencies that have no entry in ``currencies``, or whose entry has no minor unit.
    var minorUnits: [SharedMinorUnit]?
    var sentences: [String: SentenceForms]
    /// The word before a very small sum, with the space or the pause that follows it: `only `.
    var only: String
    /// The word before a repeated announcement: `Again`.
    var again: String
    /// The sentences that summarise several payments.
    var summary: SummaryPhrases
    /// The phrases and names that are shown on a screen.
    var banner: BannerPhrases
    /// The pauses of a recorded voice between two clips.
    var pauses: ClipPauses?
    /// The words for symbols in free text.
    var symbols: [String: String]
    /// The currency signs before or after numbers in free text. Each is mapped to its currency.
    var currencySigns: [String: String]
    /// The form that a number's last word takes before the decimal point, such as いってん.
    var pointContractions: [String: String]?
    /// The forms of address that are removed from the end of a name, because the sentence itself adds one: さん, 님.
    var honorifics: [String]?
    /// The pronunciations of words that the voice cannot read, such as a family name in kanji.
    var readings: [String: String]?
    /// The scripts (ISO 15924) that belong to the book's own language, but that only a voice of another language can
    /// read. When such a voice is used, the report says so.
    var borrowedScripts: Set<String>?
    /// The permitted spelling of a name's pronunciation (`payer_reading`). If the key is missing, any spelling is
    /// permitted.
    var nameReadings: NameReading.Spelling?
    /// The words with which a name may imitate a sum in this language.
    var `guard`: GuardWords
    /// The rules for numbers in free text.
    var text: TextRules?
    /// The name of the spoken language, if some people who write the book's language code speak another language.
    var spokenLanguage: SpokenLanguage?
  }

  /// A spoken language that shares its code with other languages.
  struct SpokenLanguage: Decodable, Sendable {
    /// The name for a warning.
    var name: String
    /// The subtags (BCP 47), in lower case, of the people who speak another language.
    var unlike: Set<String>
  }

  enum Numbers: Decodable, Sendable {
    case rules([String], CountForms)
    case myriad(MyriadNumerals)

    private enum Key: String, CodingKey { case rules, myriad }

    init(from decoder: any Decoder) throws {
      let fields = try decoder.container(keyedBy: Key.self)
      if let rules = try fields.decodeIfPresent([String].self, forKey: .rules) {
        self = .rules(rules, try CountForms(from: decoder))
      } else {
        self = .myriad(try fields.decode(MyriadNumerals.self, forKey: .myriad))
      }
    }
  }

  /// A currency's units: one major unit and its minor units. The `value` of a minor unit is its worth in the smallest
  /// unit.
  struct Units: Decodable, Sendable {
    var major: Unit
    /// The minor units from large to small (角, 分); empty when sums are spoken with a decimal point.
    var minor: [Unit]
  }

  /// A minor unit that several currencies share, such as the cent. It is worth one of the currency's smallest units,
  /// and is said only after a major unit, because “fifty cents” does not name the currency.
  struct SharedMinorUnit: Decodable, Sendable {
    var currencies: [String]
    var unit: Unit

    private enum CodingKeys: String, CodingKey { case currencies }

    init(from decoder: any Decoder) throws {
      currencies = try decoder.container(keyedBy: CodingKeys.self).decode([String].self, forKey: .currencies)
      unit = try Unit(from: decoder)
      unit.value = 1
    }
  }

  struct Unit: Decodable, Sendable {
    /// The word before the number, for a currency that is named on both sides of it: 新台币十二元. In a language whose units
    /// stand before their counts, this word is the only name, and `other` is empty.
    var before: String?
    /// The names after the number.
    var names: PluralForms
    /// The names of a major unit before a minor unit; `nil` if they are the same as ``names``.
    var beforeMinor: PluralForms?
    /// The plural categories whose names contain the number: درهمان means two dirhams.
    var uncounted: Set<String>?
    /// The unit's gender, which ``CountForms/genders`` names.
    var gender: String?
    /// The value of a minor unit in the currency's smallest units; `nil` for a major unit.
    var value: Int64?
    /// The word before this unit when the unit above it is zero: 十二元零五分.
    var skipped: String?
    /// The form that a count's last word takes before this unit: `よん` + `えん` becomes よえん.
    var contractions: [String: String]?
    /// The names of a minor unit that is spoken without a major unit, such as `euro cents`. They are needed if another
    /// currency has a minor unit of the same name.
    var alone: PluralForms?

    private enum CodingKeys: String, CodingKey {
      case before, beforeMinor, uncounted, gender, value, skipped, contractions, alone
    }

    init(names: PluralForms) { self.names = names }

    init(from decoder: any Decoder) throws {
      let fields = try decoder.container(keyedBy: CodingKeys.self)
      names = try PluralForms(from: decoder)
      before = try fields.decodeIfPresent(String.self, forKey: .before)
      beforeMinor = try fields.decodeIfPresent(PluralForms.self, forKey: .beforeMinor)
      uncounted = try fields.decodeIfPresent(Set<String>.self, forKey: .uncounted)
      gender = try fields.decodeIfPresent(String.self, forKey: .gender)
      value = try fields.decodeIfPresent(Int64.self, forKey: .value)
      skipped = try fields.decodeIfPresent(String.self, forKey: .skipped)
      contractions = try fields.decodeIfPresent([String: String].self, forKey: .contractions)
      alone = try fields.decodeIfPresent(PluralForms.self, forKey: .alone)
    }

    /// All names of the unit that are used next to a count.
    var allNames: Set<String> { names.all.union(beforeMinor?.all ?? []) }
  }

  /// Reads a phrase book.
  ///
  /// - Parameters:
  ///   - data: the file's contents, JSON.
  ///   - name: the file's name, for errors.
  /// - Throws: `.phraseBookInvalid`, with the file's name and the fault in the file.
  public init(data: Data, name: String) throws(AnnouncementError) {
    do {
      content = try JSONDecoder().decode(Content.self, from: data)
    } catch {
      throw Self.invalid(name, "is not a valid phrase book (\(Self.place(of: error)))")
    }
    locale = content.locale
    voice = content.voice
    rate = content.rate
    unitNames = content.unitNames
    currencySigns = content.currencySignTable
    scaleWords = content.scaleTable
    decimalSeparator = content.text?.decimalSeparator?.unicodeScalars.first ?? "."
    groupsByPoint = decimalSeparator == "," && content.text?.groupingSeparator ?? "." == "."
    readings = content.readingTable
    counterNames = content.counterNames
    sentenceWords = content.sentenceWords
    sentences = SentenceTemplates.byKind(content.sentences)
    channelSentences = content.channels.mapValues { SentenceTemplates.byKind($0.sentences) }.filter { !$1.isEmpty }
    channelPhrases = content.channelPhrases.mapValues { SentenceTemplate($0) }
    do throws(PluralRules.Fault) { plurals = try content.plurals.map(PluralRules.init) ?? .usual } catch {
      throw Self.invalid(name, error.text)
    }
    switch content.numbers {
    case .rules(let lines, let counts):
      let rules: NumberRules
      do throws(NumberRules.Fault) { rules = try NumberRules(lines, plurals: plurals) } catch {
        throw Self.invalid(name, "numbers.rules \(error.text)")
      }
      if let fault = counts.fault(rules) { throw Self.invalid(name, fault) }
      numbers = .rules(rules, CountRules(counts, in: rules))
    case .myriad(let numerals):
      if let fault = numerals.fault { throw Self.invalid(name, fault) }
      numbers = .myriad(numerals)
    }
    if let fault = content.fault { throw Self.invalid(name, fault) }
    minorUnits = content.sharedMinorUnits
    let heardNumbers = content.heardNumbers(numbers)
    self.heardNumbers = heardNumbers
    currenciesSaidFirst = Set(
      content.currencies.filter { Self.isHeardAsNumber($0.value.major.names.other, heardNumbers) }.map(\.key))
    if let unit = minorUnits.values.first(where: { heardNumbers.contains(HeardText.word($0.names.other)) }) {
      throw Self.invalid(name, "minorUnits has a unit, \(unit.names.other), that is a number")
    }
    for (code, units) in content.currencies.sorted(by: { $0.key < $1.key }) where !units.minor.isEmpty {
      // The name of a minor unit may begin like a number, as セント does, because the rest of the name is not a unit. The
      // whole name must not be a number.
      let heard = units.major.allNames.filter(isHeardAsNumber)
      let same = units.minor.flatMap(\.allNames).filter { heardNumbers.contains(HeardText.word($0)) }
      if let unit = (heard.sorted() + same.sorted()).first {
        throw Self.invalid(
          name, "currencies.\(code) has a unit, \(unit), that is heard as a part of the number before it")
      }
    }
  }

  /// Returns whether a currency's name would be heard as a part of the number that is said before it: 오만 리알 (Omani
  /// rial) begins with the number 50,000, and 百慕大元 (Bermudian dollar) with the number 100.
  ///
  /// In Chinese, Japanese, Korean, and languages whose alphabet has no spaces between words, a listener hears no border
  /// between the number and the name, so a name must not begin with the sound of a number. In other languages, none of
  /// its words may be a number: अरब is Arab and 10⁹.
  func isHeardAsNumber(_ name: String) -> Bool { Self.isHeardAsNumber(name, heardNumbers) }

  private static func isHeardAsNumber(_ name: String, _ numbers: Set<String>) -> Bool {
    let words = HeardText.word(name).split(separator: " ").map(String.init)
    guard name.unicodeScalars.first?.isUnspaced == true else { return words.contains(where: numbers.contains) }
    let joined = words.joined()
    return numbers.contains { joined.hasPrefix($0) }
  }

  private static func invalid(_ name: String, _ problem: String) -> AnnouncementError {
    AnnouncementError(.phraseBookInvalid, name, problem, remedy: "see docs/phrase-books.md for the fields")
  }

  private static func place(of error: any Error) -> String {
    guard let error = error as? DecodingError else { return "not JSON" }
    switch error {
    case .keyNotFound(let key, let context):
      return "no " + (context.codingPath + [key]).map(\.stringValue).joined(separator: ".")
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
      let path = context.codingPath.map(\.stringValue).joined(separator: ".")
      return path.isEmpty ? "not JSON" : "at \(path)"
    @unknown default: return "not JSON"
    }
  }
}

extension PhraseBook.Content {
  /// What is wrong with the contents, apart from faults that decoding detects; `nil` if they are valid.
  var fault: String? {
    if digits.count != 10 { return "digits has \(digits.count) words instead of ten" }
    for (name, pause) in pauses?.named ?? [] where !ClipPauses.range.contains(pause) {
      return "pauses.\(name) is not between \(ClipPauses.range.lowerBound) and \(ClipPauses.range.upperBound) ms"
    }
    if !(80...450).contains(rate) { return "rate is not between 80 and 450 words per minute" }
    for kind in Payment.Kind.allCases {
      guard let forms = sentences[kind.rawValue] else { return "sentences.\(kind.rawValue) is missing" }
      for (suffix, sentence) in forms.named {
        if let fault = SentenceTemplate.fault(in: sentence) { return "sentences.\(kind.rawValue)\(suffix) \(fault)" }
      }
    }
    for (channel, name) in channels.sorted(by: { $0.key < $1.key }) {
      for (kind, forms) in name.sentences.sorted(by: { $0.key < $1.key }) {
        let place = "channels.\(channel).sentences.\(kind)"
        guard Payment.Kind(rawValue: kind) != nil else { return "\(place) is not a kind of payment" }
        for (suffix, sentence) in forms.named {
          if let fault = SentenceTemplate.fault(in: sentence) { return "\(place)\(suffix) \(fault)" }
        }
      }
    }
    guard channelPhrases["other"] != nil else { return "channelPhrases.other is missing" }
    for (kind, phrase) in channelPhrases {
      if let fault = SentenceTemplate.channelFault(in: phrase) { return "channelPhrases.\(kind) \(fault)" }
    }
    if !again.contains(where: \.isLetter) || again.contains(where: { $0.isNumber || "[]{}".contains($0) }) {
      return "again must consist of words, without digits and brackets"
    }
    if !only.contains(where: \.isLetter) || only.contains(where: { $0.isNumber || "[]{}".contains($0) }) {
      return "only must consist of words, without digits and brackets"
    }
    if let fault = summary.fault { return "summary\(fault)" }
    if let fault = banner.fault(spoken: channels.keys) { return "banner\(fault)" }
    if let fault = text?.fault { return "text\(fault)" }
    if let fault = sharedMinorUnit { return fault }
    if let fault = otherCurrenciesFault { return fault }
    if let fault = genderFault { return fault }
    for (code, units) in currencies {
      guard let currency = Currency(code: code) else { return "currencies.\(code) is not a currency in use (ISO 4217)" }
      let values = units.minor.map { $0.value ?? 0 }
      // Each unit must be a divisor of the unit above it, and the smallest must be 1. Otherwise some sums could not be
      // spoken exactly.
      var above = currency.minorUnitsPerMajor
      for value in values {
        guard value > 0, value < above, above % value == 0 else {
          return "currencies.\(code).minor has an invalid value"
        }
        above = value
      }
      if let smallest = values.last, smallest != 1 { return "currencies.\(code).minor has no unit of value 1" }
    }
    return nil
  }
}

extension PhraseBook.Content {
  /// ``minorUnits`` by currency code.
  var sharedMinorUnits: [String: PhraseBook.Unit] {
    var units: [String: PhraseBook.Unit] = [:]
    for shared in minorUnits ?? [] {
      for code in shared.currencies { units[code] = shared.unit }
    }
    return units
  }

  /// What is wrong with the names of currencies, with ``currencyNames`` and with ``minorUnits``; `nil` if they are
  /// valid.
  private var otherCurrenciesFault: String? {
    var owners: [String: String] = [:]
    for (code, units) in currencies.sorted(by: { $0.key < $1.key }) {
      let name = (units.major.before ?? "") + units.major.names.other
      if let other = owners.updateValue(code, forKey: name) {
        return "currencies.\(code) and currencies.\(other) have the same name"
      }
    }
    for code in (currencyNames ?? [:]).keys.sorted() {
      if Currency(code: code) == nil { return "currencyNames.\(code) is not a currency in use (ISO 4217)" }
      if currencies[code] != nil { return "currencyNames.\(code) has an entry in currencies too" }
    }
    var named: Set<String> = []
    for code in (minorUnits ?? []).flatMap(\.currencies) {
      guard let currency = Currency(code: code) else {
        return "minorUnits has \(code), which is not a currency in use (ISO 4217)"
      }
      if currency.minorUnitsPerMajor == 1 { return "minorUnits has \(code), which has no minor unit" }
      if !named.insert(code).inserted { return "minorUnits has \(code) twice" }
      if currencies[code]?.minor.isEmpty == false {
        return "minorUnits has \(code), which has minor units in currencies"
      }
    }
    return nil
  }

  /// What is wrong with the genders of the units and of the summary; `nil` if the book has rules for each of them.
  private var genderFault: String? {
    var known: Set<String> = []
    if case .rules(_, let counts) = numbers { known = Set((counts.genders ?? [:]).keys) }
    let units = currencies.sorted { $0.key < $1.key }
      .flatMap { code, units in ([units.major] + units.minor).map { ("currencies.\(code)", $0.gender) } }
    let shared = (minorUnits ?? []).map { ("minorUnits", $0.unit.gender) }
    for (place, gender) in units + shared + [("summary", summary.gender)] {
      if let gender, !known.contains(gender) {
        return "\(place) has the gender “\(gender)”, which numbers.genders does not contain"
      }
    }
    return nil
  }

  /// The error for a minor unit whose name, spoken without a major unit, could mean two currencies. Amounts in the two
  /// currencies would sound alike. The value is `nil` if there is no such unit.
  private var sharedMinorUnit: String? {
    var owners: [String: String] = [:]
    for (code, units) in currencies.sorted(by: { $0.key < $1.key }) {
      for unit in units.minor {
        for name in (unit.alone ?? unit.names).all.sorted() {
          if let other = owners[name], other != code {
            return
              "currencies.\(code) and currencies.\(other) have a minor unit of the same name; "
              + "give one of them another name with its key \"alone\""
          }
          owners[name] = code
        }
      }
    }
    return nil
  }
}
