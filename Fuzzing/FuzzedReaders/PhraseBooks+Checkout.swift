// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import TestSupport

extension PhraseBooks {
  /// The phrase books of this checkout, read once.
  static let ofCheckout: PhraseBooks = {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Templates", directoryHint: .isDirectory).standardizedFileURL
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
