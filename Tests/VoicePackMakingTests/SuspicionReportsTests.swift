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
      names: ["001.wav", "002.wav", "row 3 (three)"], warnings: [])
  }

  @Test("a swapped pair of recordings is an error that names both rows and files, and nothing is imported")
  func refused() {
    var imported = imported()
    let error = #expect(throws: PackMakingError.self) { try imported.add([swapped, other], acceptingSwaps: false) }
    #expect(error?.code == .swappedRecordings)
    #expect(
      error?.description == """
        The recordings: seem to include 1 swapped pair, so nothing was imported; listen to both recordings of each \
        pair, and rename them or import them unchanged with --accept-swapped.
          row 1 (one, 001.wav): sounds like row 2 (two, 002.wav), and the other way round
        """)
    #expect(imported.warnings == [])
  }

  @Test("an accepted swapped pair, and a single suspicion, are warnings")
  func warnings() throws {
    var imported = imported()
    try imported.add([swapped, other], acceptingSwaps: true)
    #expect(
      imported.warnings.map(\.description) == [
        "row 1 (one, 001.wav): sounds like row 2 (two, 002.wav), and the other way round; listen to both recordings.",
        "row 3 (three): sounds more like row 1 (one, 001.wav); listen to both recordings.",
      ])
    #expect(imported.warnings.allSatisfy { $0.code == .otherWords })
  }

  @Test("a single suspicion does not make an import fail")
  func single() throws {
    var imported = imported()
    try imported.add([other], acceptingSwaps: false)
    #expect(imported.warnings.count == 1)
  }

  /// Twelve recordings, of which these pairs seem to be swapped.
  private func refusal(
    _ pairs: [(Int, Int)], others: [(Int, Int)] = [], times: [String] = []
  ) -> PackMakingError? {
    let rows = (1...12).map { SheetRow(number: $0, file: "\($0)", token: "t\($0)", text: "word \($0)") }
    let sound = Waveform(samples: [0], sampleRate: 22_050)
    var imported = ImportedRecordings(
      clips: rows.map { PackClip(tokens: $0.tokens, text: $0.text, waveform: sound) }, rows: rows,
      names: rows.map { RecordingImport.name($0) }, times: times, warnings: [])
    let suspicions =
      pairs.map { RecordingSuspicion(kind: .swapped, clip: $0, soundsLike: $1) }
      + others.map { RecordingSuspicion(kind: .otherWords, clip: $0, soundsLike: $1) }
    return #expect(throws: PackMakingError.self) { try imported.add(suspicions, acceptingSwaps: false) }
  }

  @Test("if all recordings are shifted against the rows, the first shifted row is reported, and no pairs")
  func shifted() {
    for error in [
      refusal([(8, 9), (4, 5), (6, 7), (10, 11)]), refusal([(8, 9), (6, 7), (4, 5)]),
      refusal([(8, 9), (6, 7)], others: [(4, 5)]),
    ] {
      #expect(error?.code == .swappedRecordings)
      #expect(
        error?.problem
          == "seem to be shifted against the rows from about row 5 (word 5) on, so nothing was imported")
      #expect(error?.remedy.contains("--accept-swapped") == false)
      #expect(error?.details == [])
    }
  }

  @Test("many pairs that do not form a shift are reported as another order or language, without a row")
  func otherLanguage() {
    let error = refusal([(0, 5), (1, 7), (2, 11), (3, 9)])
    #expect(
      error?.problem == "seem to be shifted against the rows, or to be in another language, so nothing was imported")
    #expect(error?.remedy.contains("--accept-swapped") == false)
    #expect(error?.details == [])
  }

  @Test("up to three swapped pairs, or two pairs of adjacent rows, are each listed as swapped")
  func fewPairs() {
    #expect(refusal([(0, 5), (1, 7), (2, 11)])?.details.count == 3)
    #expect(refusal([(0, 1), (2, 3)])?.details.count == 2)
  }

  @Test("the swapped pairs of a long recording are named by their times, and the remedy does not say to rename a file")
  func times() {
    let error = refusal([(0, 5)], times: (0..<12).map { "0:0\($0).10–0:0\($0).50" })
    #expect(
      error?.details == [
        "row 1 (word 1, 0:00.10–0:00.50): sounds like row 6 (word 6, 0:05.10–0:05.50), and the other way round"
      ])
    #expect(error?.remedy.contains("rename") == false && error?.remedy.contains("at these times") == true)
  }
}
