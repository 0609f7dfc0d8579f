// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import SpeechEngine

/// The speaker that was built with these tests.
enum BuiltSpeaker {
  static let url = (Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0]))
    .deletingLastPathComponent().appending(path: "speaker")

  static func engine(
    speakers: Int = 2, longestQueue: Int = 256, deadlineMilliseconds: Int = 2_000
  ) -> SpeechEngine {
    // The limits are longer than in a shop, because all tests share the processors.
    SpeechEngine(
      .init(
        speaker: url, speakers: speakers, longestQueue: longestQueue, deadlineMilliseconds: deadlineMilliseconds,
        allowance: .seconds(20)))
  }

  /// The phrase books of this checkout.
  static func phraseBooks() throws -> PhraseBooks {
    let templates = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Templates", directoryHint: .isDirectory)
    return try PhraseBooks(directory: templates.standardizedFileURL)
  }

  static let chinese = Utterance(voice: "cmn-latn-pinyin+f2", rate: 170, text: "支付宝到账十二元五角")
  static let english = Utterance(voice: "en-us+f2", rate: 160, text: "Received twelve dollars and fifty cents")

  /// About 440 bytes of this text crash espeak-ng 1.51.
  static let deadly = Utterance(voice: "en-us+f2", rate: 160, text: String(repeating: "s'", count: 220))
}
