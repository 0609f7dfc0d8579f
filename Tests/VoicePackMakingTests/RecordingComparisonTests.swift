// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Testing
import Waveforms

@testable import VoicePackMaking

@Suite("RecordingComparison: recordings are compared with the words that they should say")
struct RecordingComparisonTests {
  private let words = SyllableVoice.words
  private let speaker = SyllableVoice(height: 1.15, pace: 150)

  private var clips: [PackClip] { words.map { speaker.clip($0.text, $0.syllables) } }

  private func sayings(_ words: [(text: String, syllables: [Int])]) -> [[Waveform]] {
    [words.map { SyllableVoice().word($0.syllables) }]
  }

  private func suspicions(_ clips: [PackClip]) throws -> [RecordingSuspicion] {
    try RecordingComparison(clips, sayings: sayings(words)).suspicions
  }

  @Test("a pack whose speaker differs from the engine in pitch and speed is not suspected")
  func right() throws {
    #expect(try suspicions(clips) == [])
  }

  @Test("a swapped pair of clips is found and named, whichever clips were swapped", arguments: [(0, 1), (5, 11)])
  func swapped(first: Int, second: Int) throws {
    var clips = clips
    (clips[first].waveform, clips[second].waveform) = (clips[second].waveform, clips[first].waveform)
    #expect(try suspicions(clips) == [RecordingSuspicion(kind: .swapped, clip: first, soundsLike: second)])
  }

  @Test("two swapped pairs of clips are both found, and no clip is named twice")
  func twoPairs() throws {
    var clips = clips
    for (first, second) in [(0, 7), (2, 9)] {
      (clips[first].waveform, clips[second].waveform) = (clips[second].waveform, clips[first].waveform)
    }
    let found = try suspicions(clips)
    #expect(Set(found.map { [$0.clip, $0.soundsLike] }) == [[0, 7], [2, 9]])
    #expect(found.allSatisfy { $0.kind == .swapped })
  }

  /// Suspicions from distances. Each recording is 4 from its own saying and 7 from the others.
  private func suspicions(_ changed: [[Int]: Float], difference: Float = 3) -> [RecordingSuspicion] {
    func distance(_ recording: Int, _ saying: Int) -> Float {
      changed[[recording, saying]] ?? (recording == saying ? 4 : 7)
    }
    return RecordingComparison.suspicions(
      words: words.map(\.text), distance: distance,
      gain: { distance($0, $0) + distance($1, $1) - distance($0, $1) - distance($1, $0) },
      difference: { _, _ in difference })
  }

  @Test("a clip that sounds clearly more like another word is named together with this word")
  func repeated() {
    let repeated = RecordingSuspicion(kind: .otherWords, clip: 4, soundsLike: 10)
    #expect(suspicions([[4, 4]: 7, [4, 10]: 4]) == [repeated])
    #expect(suspicions([[4, 4]: 7, [4, 10]: 6.9]) == [])
  }

  @Test("a recording that fits no words is not suspected, and words that fit every recording lead to no suspicion")
  func tendencies() {
    var far: [[Int]: Float] = [:]
    var near: [[Int]: Float] = [:]
    for index in words.indices {
      far[[3, index]] = 9
      near[[index, 5]] = 3.5
    }
    #expect(suspicions(far) == [])
    #expect(suspicions(near) == [])
  }

  @Test(
    "the number of distances for one clip grows in proportion to the number of clips",
    arguments: [100, 800])
  func distancesOfOneClip(count: Int) {
    let words = (0..<count).map { "word\($0)" }
    var asked: Set<[Int]> = []
    var calls = 0
    let found = RecordingComparison.suspicions(
      about: 40, words: words,
      distance: { recording, saying in
        calls += 1
        asked.insert([recording, saying])
        return recording == 40 ? (saying == 70 ? 4 : 7) : recording == saying ? 4 : 7
      }, gain: { _, _ in 0 }, difference: { _, _ in 3 })
    #expect(found == [RecordingSuspicion(kind: .otherWords, clip: 40, soundsLike: 70)])
    #expect(calls == asked.count, "each distance is asked for once")
    #expect(calls <= 25 * count)
  }

  @Test("the number of compared sounds for one clip grows in proportion to the number of clips")
  func comparisonsOfOneClip() throws {
    let words = SyllableVoice.words(48)
    let clips = words.map { speaker.clip($0.text, $0.syllables) }
    let calls = Locked(0)
    _ = try RecordingComparison(of: 47, in: clips, sayings: sayings(words)) { _, _ in
      calls.withLock { $0 += 1 }
      return 5
    }
    #expect((1...25 * words.count).contains(calls.withLock { $0 }))
  }

  @Test(
    "the comparison of one clip gives the same suspicion as the comparison of the whole pack",
    arguments: [(3, 3), (3, 8), (7, 0)])
  func oneClipAsInPack(clip: Int, other: Int) throws {
    var clips = clips
    (clips[clip].waveform, clips[other].waveform) = (clips[other].waveform, clips[clip].waveform)
    let one = try RecordingComparison(of: clip, in: clips, sayings: sayings(words)).suspicions
    #expect(try one == suspicions(clips) && one.count == (clip == other ? 0 : 1))
    // Nothing is said about the others.
    #expect(try RecordingComparison(of: 11, in: clips, sayings: sayings(words)).suspicions == [])
  }

  @Test("between words that sound similar, a smaller difference is enough for a suspicion")
  func similar() {
    let swapped = RecordingSuspicion(kind: .swapped, clip: 1, soundsLike: 2)
    let distances: [[Int]: Float] = [[1, 2]: 3.9, [2, 1]: 3.8]
    #expect(suspicions(distances, difference: 3) == [])
    #expect(suspicions(distances, difference: 1) == [swapped])
    #expect(suspicions([[1, 2]: 3.7, [2, 1]: 3.8], difference: 3) == [swapped])
  }

  @Test("clips of words that the engine says alike are never suspected, even if they were swapped")
  func alike() throws {
    var words = words
    words[1].syllables = words[0].syllables
    var clips = words.map { speaker.clip($0.text, $0.syllables) }
    clips[0].waveform = SyllableVoice(height: 1.16, pace: 140).word(words[0].syllables)
    for _ in 0..<2 {
      #expect(try RecordingComparison(clips, sayings: sayings(words)).suspicions == [])
      (clips[0].waveform, clips[1].waveform) = (clips[1].waveform, clips[0].waveform)
    }
  }

  @Test("several recordings of the same words are not compared with each other")
  func sameWords() throws {
    var words = words
    words.append(("Ada", [0, 1]))
    var clips = words.map { speaker.clip($0.text, $0.syllables) }
    clips[12].position = .final
    clips[12].waveform = SyllableVoice(height: 1.0, pace: 190).word(words[0].syllables)
    (clips[0].waveform, clips[12].waveform) = (clips[12].waveform, clips[0].waveform)
    #expect(try RecordingComparison(clips, sayings: sayings(words)).suspicions == [])
  }

  @Test("the comparison of the same clips gives the same result each time")
  func repeatable() throws {
    var clips = clips
    (clips[2].waveform, clips[5].waveform) = (clips[5].waveform, clips[2].waveform)
    let first = try suspicions(clips)
    #expect(try suspicions(clips) == first)
  }

  @Test("in a pack of few clips, or without an engine's voice to compare with, no clip is suspected")
  func few() throws {
    var clips = Array(clips.prefix(RecordingComparison.fewestClips - 1))
    (clips[0].waveform, clips[1].waveform) = (clips[1].waveform, clips[0].waveform)
    #expect(try RecordingComparison(clips, sayings: sayings(Array(words.prefix(clips.count)))).suspicions == [])
    #expect(try RecordingComparison(self.clips, sayings: []).suspicions == [])
  }

  @Test("silent and very short clips are compared without a trap")
  func degenerate() throws {
    var clips = clips
    clips[0].waveform = Waveform(samples: [], sampleRate: 22_050)
    clips[1].waveform = Waveform(samples: [0], sampleRate: 22_050)
    clips[2].waveform = Waveform(samples: Array(repeating: 0, count: 22_050), sampleRate: 22_050)
    clips[3].waveform = Waveform(samples: Array(repeating: .max, count: 400), sampleRate: 22_050)
    _ = try suspicions(clips)
    let silent = clips.map { PackClip(tokens: $0.tokens, text: $0.text, waveform: clips[2].waveform) }
    #expect(try suspicions(silent) == [])
  }
}
