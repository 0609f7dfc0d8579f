// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The sound folders of the Asterisk telephone exchange: one folder a language, numbers in `digits/`.
///
/// Only files that say a token's words and nothing else are taken. What the English ones say is told by the list that
/// comes with Asterisk's core sounds (`core-sounds-en.txt`), what the Spanish ones say by its number grammar (`say.c`);
/// there `digits/hundred` is “cien”: it was measured to have no closure of a t. Left out are the letters, for which no
/// phrase book has tokens, `digits/20-and`, a part of a word, and the Spanish `dollars`, whose words no list tells.
/// English core sounds have no “cent”, “cents” and “point”.
public enum AsteriskLayout {
  /// The language codes that there are tables for.
  public static var languages: [String] { tables.keys.sorted() }

  /// The sounds in a folder that stand for tokens.
  ///
  /// - Parameters:
  ///   - folder: of one language and voice, such as `/usr/share/asterisk/sounds/en_US_f_Allison`; the files may have any
  ///     ending of a sound file, and one of each name is taken: WAV, else the first in alphabetical order.
  ///   - locale: BCP 47; its language chooses the table.
  /// - Returns: what is there, in the order of the table; the rows are numbered through the table, so that what is
  ///   missing is known by the numbers left out.
  /// - Throws: `PackMakingError`: `languageUnknown`; `noRecordings` when the folder has none of the sounds.
  public static func sources(in folder: URL, locale: String) throws(PackMakingError) -> [RecordingSource] {
    let language = String(locale.lowercased().prefix { $0 != "-" && $0 != "_" })
    guard let table = tables[language] else {
      throw PackMakingError(
        .languageUnknown, "The locale", "is of a language whose Asterisk sounds are not known",
        remedy: "choose one of \(languages.joined(separator: ", ")), or import a folder with a sheet")
    }
    let files = files(in: folder, table.map(\.path))
    var sources: [RecordingSource] = []
    for (index, sound) in table.enumerated() {
      // One word may have two names, of which the first serves.
      guard let file = files[sound.path], !sources.contains(where: { $0.row.text == sound.text }) else { continue }
      let row = SheetRow(number: index + 1, file: sound.path, token: sound.text, text: sound.text)
      sources.append(RecordingSource(file: file, row: row))
    }
    guard !sources.isEmpty else {
      throw PackMakingError(
        .noRecordings, folder.lastPathComponent, "has no digits/ with Asterisk's sounds",
        remedy: "name the folder of one language, such as sounds/en_US_f_Allison")
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
