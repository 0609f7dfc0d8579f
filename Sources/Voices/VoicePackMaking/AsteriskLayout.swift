// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The sound folders of the Asterisk telephone exchange. There is one folder for each language, with its numbers in
/// `digits/`.
///
/// A file is used only if it contains exactly the words of a token. The words of the English files come from the list
/// in Asterisk's core sounds (`core-sounds-en.txt`). The words of the Spanish files come from Asterisk's number grammar
/// (`say.c`). The Spanish `digits/hundred` says “cien” and not “ciento”: a measurement of the sound found no closure of
/// a “t”.
///
/// The following files are not used: the letters, for which no phrase book has tokens; `digits/20-and`, which is only
/// part of a word; and the Spanish `dollars`, whose words no list states. The English core sounds have no “cent”,
/// “cents” or “point”.
public enum AsteriskLayout {
  /// The codes of the languages that have a table.
  public static var languages: [String] { tables.keys.sorted() }

  /// Returns the sounds in a folder that match tokens.
  ///
  /// - Parameters:
  ///   - folder: the folder of one language and voice, such as `/usr/share/asterisk/sounds/en_US_f_Allison`. The files
  ///     may have any extension of a sound file. If several files differ only in their extension, the WAV file is used,
  ///     or else the first in alphabetical order.
  ///   - locale: a BCP 47 tag. Its language selects the table.
  /// - Returns: the sounds that exist, in the order of the table. Row numbers count all rows of the table, so that gaps
  ///   show which sounds are missing.
  /// - Throws: `PackMakingError`: `languageUnknown`; `noRecordings` when the folder has none of the sounds.
  public static func sources(in folder: URL, locale: String) throws(PackMakingError) -> [RecordingSource] {
    let language = String(locale.lowercased().prefix { $0 != "-" && $0 != "_" })
    guard let table = tables[language] else {
      throw PackMakingError(
        .languageUnknown, "The locale", "has a language without a table of Asterisk sounds",
        remedy: "choose one of \(languages.joined(separator: ", ")), or import a folder with a sheet")
    }
    let files = files(in: folder, table.map(\.path))
    var sources: [RecordingSource] = []
    for (index, sound) in table.enumerated() {
      // The table may have two names for the same word. The first name that exists is used.
      guard let file = files[sound.path], !sources.contains(where: { $0.row.text == sound.text }) else { continue }
      let row = SheetRow(number: index + 1, file: sound.path, token: sound.text, text: sound.text)
      sources.append(RecordingSource(file: file, row: row))
    }
    guard !sources.isEmpty else {
      throw PackMakingError(
        .noRecordings, folder.lastPathComponent, "has no digits/ with Asterisk's sounds",
        remedy: "give the folder of one language, such as sounds/en_US_f_Allison")
    }
    return sources
  }

  private static func files(in folder: URL, _ paths: [String]) -> [String: URL] {
    var files: [String: URL] = [:]
    for directory in Set(paths.map { ($0 as NSString).deletingLastPathComponent }) {
      let place = folder.appending(path: directory)
      let names = (try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? []
      let sounds = names.filter(RecordingNames.isSoundFile).sorted()
      for name in sounds.filter({ $0.hasSuffix(".wav") }) + sounds {
        let path = (directory as NSString).appendingPathComponent((name as NSString).deletingPathExtension)
        if files[path] == nil { files[path] = place.appending(path: name) }
      }
    }
    return files
  }
}

extension AsteriskLayout {
  private typealias Sound = (path: String, text: String)

  private static let tables: [String: [Sound]] = ["en": english, "es": spanish]

  private static let english: [Sound] =
    digits([
      "0": "zero", "1": "one", "2": "two", "3": "three", "4": "four", "5": "five", "6": "six", "7": "seven",
      "8": "eight", "9": "nine", "10": "ten", "11": "eleven", "12": "twelve", "13": "thirteen", "14": "fourteen",
      "15": "fifteen", "16": "sixteen", "17": "seventeen", "18": "eighteen", "19": "nineteen", "20": "twenty",
      "30": "thirty", "40": "forty", "50": "fifty", "60": "sixty", "70": "seventy", "80": "eighty", "90": "ninety",
      "hundred": "hundred", "thousand": "thousand", "million": "million", "billion": "billion", "dollars": "dollars",
    ]) + [("letters/dollar", "dollar"), ("vm-and", "and"), ("vm-received", "Received")]

  private static let spanish: [Sound] =
    digits([
      "0": "cero", "1": "uno", "1M": "un", "1F": "una", "2": "dos", "3": "tres", "4": "cuatro", "5": "cinco",
      "6": "seis", "7": "siete", "8": "ocho", "9": "nueve", "10": "diez", "11": "once", "12": "doce", "13": "trece",
      "14": "catorce", "15": "quince", "16": "dieciséis", "17": "diecisiete", "18": "dieciocho", "19": "diecinueve",
      "20": "veinte", "21": "veintiuno", "22": "veintidós", "23": "veintitrés", "24": "veinticuatro",
      "25": "veinticinco", "26": "veintiséis", "27": "veintisiete", "28": "veintiocho", "29": "veintinueve",
      "30": "treinta", "40": "cuarenta", "50": "cincuenta", "60": "sesenta", "70": "setenta", "80": "ochenta",
      "90": "noventa", "and": "y", "100": "cien", "hundred": "cien", "100-and": "ciento", "200": "doscientos",
      "300": "trescientos", "400": "cuatrocientos", "500": "quinientos", "600": "seiscientos", "700": "setecientos",
      "800": "ochocientos", "900": "novecientos", "thousand": "mil", "million": "millón", "millions": "millones",
    ])

  private static func digits(_ words: KeyValuePairs<String, String>) -> [Sound] {
    words.map { ("digits/\($0.key)", $0.value) }
  }
}
