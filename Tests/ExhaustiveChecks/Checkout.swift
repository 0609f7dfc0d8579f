// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import SpeechEngine

/// This checkout's data, and the speaker that was built with these tests.
enum Checkout {
  static let installation = Installation(
    data: nil, environment: [:], executable: Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0]))

  static func phraseBooks() throws -> PhraseBooks { try PhraseBooks(directory: installation.templates) }

  static func engine(speakers: Int = 2, longestQueue: Int = 256) -> SpeechEngine {
    SpeechEngine(.init(speaker: installation.speaker, speakers: speakers, longestQueue: longestQueue))
  }

  static func announcer(speakers: Int = 2) throws -> Announcer {
    Announcer(phraseBooks: try phraseBooks(), engine: engine(speakers: speakers))
  }
}
