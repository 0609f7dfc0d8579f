// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Announcements
import Announcer
import Foundation
import SpeechEngine

/// This checkout's data, and the speaker that was built with these tests.
enum Checkout {
  static let installation = Installation(
    data: nil, environment: [:], executable: Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0]))

  /// The locales in `CRIER_LOCALES`, such as `cs-CZ,pl-PL`; nil if it is not set.
  static let chosenLocales = ProcessInfo.processInfo.environment["CRIER_LOCALES"]
    .map { $0.split(separator: ",").map(String.init) }

  /// The locales for checks that take long in each of them: those in `CRIER_LOCALES`, or else all, or every nth with
  /// `CRIER_LOCALE_STEP`.
  static func locales() throws -> [String] {
    if let chosenLocales { return chosenLocales }
    let step = Int(ProcessInfo.processInfo.environment["CRIER_LOCALE_STEP"] ?? "") ?? 1
    let all = try phraseBooks().locales
    return stride(from: 0, to: all.count, by: step).map { all[$0] }
  }

  static func phraseBooks() throws -> PhraseBooks { try PhraseBooks(directory: installation.templates) }

  static func engine(speakers: Int = 2, longestQueue: Int = 256) -> SpeechEngine {
    SpeechEngine(.init(speaker: installation.speaker, speakers: speakers, longestQueue: longestQueue))
  }

  static func announcer(speakers: Int = 2) throws -> Announcer {
    Announcer(phraseBooks: try phraseBooks(), readers: .ofCheckout, engine: engine(speakers: speakers))
  }
}

extension AmountReaders {
  static let ofCheckout = AmountReaders(directory: Checkout.installation.readers)
}
