// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Announcements
import Foundation
import TestSupport

extension PhraseBooks {
  fileprivate static let checkout = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../..", directoryHint: .isDirectory).standardizedFileURL

  /// The phrase books of this checkout, read once.
  static let ofCheckout: PhraseBooks = {
    let folder = checkout.appending(path: "Templates", directoryHint: .isDirectory)
    guard let books = try? PhraseBooks(directory: folder) else {
      fatalError("The phrase books of the checkout cannot be read.")
    }
    return books
  }()

  /// A writer for each locale, in alphabetical order.
  static let writers: [ScriptWriter] = ofCheckout.locales.map { locale in
    guard let writer = try? ofCheckout.writer(for: locale) else { fatalError("\(locale) has no writer.") }
    return writer
  }
}

extension AmountReaders {
  /// The readers of this checkout.
  static let ofCheckout = AmountReaders(
    directory: PhraseBooks.checkout.appending(path: "Readers", directoryHint: .isDirectory))
}

extension Script {
  /// Ends the program if the engine would receive forbidden characters, or far more text than was given.
  func requireSpeakable(characters: Int) {
    for run in runs {
      if let fault = EngineText.fault(in: run.spelling) { require(false, fault) }
    }
    require(
      runs.reduce(0) { $0 + $1.spelling.unicodeScalars.count } <= 1_000 + 200 * characters,
      "the length of the spoken text is limited by the given text")
  }
}
