// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import VoicePackMaking

@Suite("SpeechFeatures and VoiceMapping")
struct SpeechFeaturesTests {
  private func sound(_ seed: UInt64, count: Int = 4_000) -> [Int16] {
    var random = FixedRandom(seed: seed)
    var last = 0.0
    return (0..<count).map { _ in
      last = 0.7 * last + Double.random(in: -3_000...3_000, using: &random)
      return Int16(last)
    }
  }

  @Test("the features of a sound have a frame every 15 ms, and at least one frame")
  func count() {
    #expect(SpeechFeatures(sound(1)).frames.count == 34)
    #expect(SpeechFeatures([]).frames.count == 1)
  }

  @Test("over all sounds of a speaker, each feature has the mean 0 and the variance 1")
  func normalized() {
    let frames = SpeechFeatures.normalized((1...5).map { SpeechFeatures(sound($0)) }).flatMap(\.frames)
    for lane in 0..<SpectralFrame.width {
      let values = frames.map { Double($0[lane]) }
      let mean = values.reduce(0, +) / Double(values.count)
      let variance = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(values.count)
      #expect(abs(mean) < 1e-3)
      #expect(abs(variance - 1) < 1e-2)
    }
  }

  @Test("the loudness of a recording does not change its normalised features")
  func loudness() {
    let sounds = (1...4).map { sound($0) }
    let quiet = sounds.map { $0.map { $0 / 2 } }
    let first = SpeechFeatures.normalized(sounds.map { SpeechFeatures($0) }).flatMap(\.frames)
    let second = SpeechFeatures.normalized(quiet.map { SpeechFeatures($0) }).flatMap(\.frames)
    #expect(zip(first, second).allSatisfy { $0.distance(to: $1) < 0.1 })
  }

  @Test("a mapping that is learned from enough frames reproduces a linear relation, including a constant")
  func mapping() {
    var random = FixedRandom(seed: 5)
    let frames = (0..<3_000).map { _ in
      var frame = SpectralFrame.zero
      for lane in 0..<SpectralFrame.width { frame[lane] = Float.random(in: -2...2, using: &random) }
      return frame
    }
    let contexts = VoiceMapping.contexts(frames)
    func related(_ index: Int) -> SpectralFrame {
      var frame = frames[index] + 0.5 * frames[max(0, index - 1)]
      frame[3] += 2
      return frame
    }
    var sums = VoiceMapping.Sums()
    for index in frames.indices { sums.add(contexts[index], related(index)) }
    let map = VoiceMapping(sums)
    let errors = frames.indices.map { map(contexts[$0]).distance(to: related($0)) }
    #expect(errors.reduce(0, +) / Float(errors.count) < 0.2)

    // Sums without a part are those of the rest.
    var rest = VoiceMapping.Sums()
    var part = VoiceMapping.Sums()
    for index in frames.indices.prefix(2_000) { rest.add(contexts[index], related(index)) }
    for index in frames.indices.dropFirst(2_000) { part.add(contexts[index], related(index)) }
    let (difference, direct) = (VoiceMapping(sums - part), VoiceMapping(rest))
    #expect(difference(contexts[7]).distance(to: direct(contexts[7])) < 1e-2)
  }
}
