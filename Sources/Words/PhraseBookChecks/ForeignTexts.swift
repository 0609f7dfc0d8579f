// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Finds texts in another language that remain in a book after it was copied from a book in that language.
public struct ForeignTexts {
  /// The parts of a book that are sentences. Single words, and the names of channels, are the same in many languages.
  private static let parts = ["sentences", "channelPhrases", "summary", "banner"]

  /// The texts of the other books. The first key is the place of a text, such as `sentences.received`, the second one
  /// the text, and the value is the locale of the book.
  private var known: [String: [String: String]] = [:]

  public init() {}

  /// Adds a book of another language.
  ///
  /// - Parameter data: The file's contents. A file that is not a JSON object is skipped.
  public mutating func add(_ data: Data, locale: String) {
    for (place, text) in Self.texts(data) { known[place, default: [:]][text] = locale }
  }

  /// Returns a problem for each text that also occurs in another book in the same place.
  public func findings(in data: Data) -> [BookFinding] {
    Self.texts(data).sorted { $0.key < $1.key }.compactMap { place, text in
      known[place]?[text].map { BookFinding(.problem, "\(place) is still the text of \($0): “\(text)”") }
    }
  }

  /// The sentences with at least two words besides their placeholders, by their places.
  private static func texts(_ data: Data) -> [String: String] {
    guard let book = try? JSONSerialization.jsonObject(with: data) as? [String: Any] else { return [:] }
    var texts: [String: String] = [:]
    func add(_ value: Any, at place: String) {
      if let object = value as? [String: Any] {
        for (key, value) in object where key != "channels" { add(value, at: "\(place).\(key)") }
      } else if let text = value as? String {
        let words = text.replacing(#/\{[^}]*\}/#, with: " ").split { !$0.isLetter }.filter { $0.count > 1 }
        if words.count > 1 { texts[place] = text }
      }
    }
    for part in parts { if let value = book[part] { add(value, at: part) } }
    return texts
  }
}
