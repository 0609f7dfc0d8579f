// SPDX-License-Identifier: Apache-2.0

import Testing
import Waveforms

@testable import VoicePackMaking

@Suite("Suspicions about recordings, as import and check report them")
struct SuspicionReportsTests {
  private let swapped = RecordingSuspicion(kind: .swapped, clip: 0, soundsLike: 1)
  private let other = RecordingSuspicion(kind: .otherWords, clip: 2, soundsLike: 0)

  private func imported() -> ImportedRecordings {
    let rows = ["one", "two", "three"].enumerated().map { index, word in
      SheetRow(number: index + 1, file: "00\(index + 1)", token: word, text: word)
    }
    let sound = Waveform(samples: [0], sampleRate: 22_050)
    return ImportedRecordings(
      clips: rows.map { PackClip(tokens: $0.tokens, text: $0.text, waveform: sound) }, rows: rows,
      names: ["001.wav", "002.wav", "row 3 (three)"], warnings: [], reports: [:])
  }

  @Test("a swapped pair is an error that names both rows and files, and nothing is imported")
  func refused() {
    var imported = imported()
    let error = #expect(throws: PackMakingError.self) { try imported.add([swapped, other], acceptingSwaps: false) }
    #expect(error?.code == .swappedRecordings)
    #expect(
      error?.description == """
        The recordings: seem to include 1 swapped pair, so nothing was imported; listen to both of each pair and rename \
        them, or import them as they are with --accept-swapped.
          row 1 (one, 001.wav): sounds like row 2 (two, 002.wav), and the other way round
        """)
    #expect(imported.warnings == [])
  }

  @Test("an accepted pair and a single suspicion are warnings")
  func warnings() throws {
    var imported = imported()
    try imported.add([swapped, other], acceptingSwaps: true)
    #expect(
      imported.warnings.map(\.description) == [
        "row 1 (one, 001.wav): sounds like row 2 (two, 002.wav), and the other way round; listen to both.",
        "row 3 (three): sounds more like row 1 (one, 001.wav); listen to both.",
      ])
    #expect(imported.warnings.allSatisfy { $0.code == .otherWords })
  }

  @Test("a single suspicion does not refuse an import")
  func single() throws {
    var imported = imported()
    try imported.add([other], acceptingSwaps: false)
    #expect(imported.warnings.count == 1)
  }
}
