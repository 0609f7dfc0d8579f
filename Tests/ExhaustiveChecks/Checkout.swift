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

/// Random numbers that come again: Steele, Lea and Flood's SplitMix64 (2014).
struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

struct Missing: Error {
  var what: String
}

extension Optional {
  func orThrow(_ what: String) throws -> Wrapped {
    guard let self else { throw Missing(what: what) }
    return self
  }
}
