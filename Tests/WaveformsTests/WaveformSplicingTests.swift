// SPDX-License-Identifier: Apache-2.0

import SoundMeasurement
import TestSupport
import Testing
import Waveforms

@Suite("Waveform.SpliceBuilder: recorded clips become one waveform")
struct WaveformSplicingTests {
  /// 3 ms at 22,050 Hz.
  private let fade = 66

  @Test("a pause is silence between two clips, and there is silence at both ends")
  func pauses() {
    let whole = spliced([(constant(1000), 20), (constant(1000), 500)])
    #expect(whole.samples.count == 662 + 1000 + 441 + 1000 + 662)
    #expect(whole.samples[..<662].allSatisfy { $0 == 0 })
    #expect(whole.samples[1662..<2103].allSatisfy { $0 == 0 })
    #expect(whole.samples[3103...].allSatisfy { $0 == 0 })
    #expect(whole.samples[662 + fade..<1662 - fade].allSatisfy { $0 == 10_000 })
    #expect(whole.sampleRate == 22_050)
  }

  @Test("two clips without a pause between them overlap by 3 ms")
  func overlap() {
    #expect(spliced([(constant(1000), 0), (constant(1000), 0)], edge: 0).samples.count == 2000 - fade)
  }

  @Test("a joined clip keeps its samples, except near its ends")
  func bodies() {
    let (first, second) = (voice(1), voice(2))
    let whole = spliced([(first, 0), (second, 0)], edge: 0)
    let start = first.count - fade
    #expect(whole.samples[fade..<start] == first[fade..<start])
    #expect(whole.samples[(start + fade)..<(whole.samples.count - fade)] == second[fade..<second.count - fade])
  }

  @Test("the cross-fade of two clips preserves the power: the squares of both gains add up to one")
  func equalPower() {
    let ending = spliced([(constant(1000), 0), (constant(1000, 0), 0)], edge: 0).samples
    let beginning = spliced([(constant(1000, 0), 0), (constant(1000), 0)], edge: 0).samples
    for index in 934..<1000 {
      let (out, into) = (Double(ending[index]) / 10_000, Double(beginning[index]) / 10_000)
      #expect(abs(out * out + into * into - 1) < 0.0003)
    }
    #expect((934..<999).allSatisfy { ending[$0] >= ending[$0 + 1] && beginning[$0] <= beginning[$0 + 1] })
  }

  @Test("the fade between a clip and silence is a raised cosine, the same at both ends of the clip")
  func raisedCosine() {
    let samples = spliced([(constant(1000), 0)], edge: 0).samples
    #expect(Array(samples.reversed()) == samples)
    #expect(samples[0] <= 2)
    // sin²(π/4) is one half. The middle of 66 samples lies between two of them.
    #expect(samples[32] + samples[33] == 10_000)
    #expect(zip(samples[..<fade], samples[1...fade]).allSatisfy { $0 <= $1 })
  }

  @Test("a clip that is already faded begins and ends with its own zeros")
  func fadedAlready() {
    let clip = [0] + constant(500) + [0]
    let samples = spliced([(clip, 20), (clip, 0)], edge: 0).samples
    #expect([samples[0], samples[501], samples[943], samples[1444]] == [0, 0, 0, 0])
  }

  @Test("the same clips make the same samples on every machine")
  func reproducible() {
    let whole = spliced([(voice(1), 0), (voice(2, count: 90), 0), (voice(3, count: 7), 15), (voice(4), 0)])
    // This is an FNV-1a hash of the samples.
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for sample in whole.samples { hash = (hash ^ UInt64(UInt16(bitPattern: sample))) &* 0x100_0000_01B3 }
    #expect(hash == 13_191_364_871_849_438_693)
  }

  @Test("each mark has the text of its clip and the time at which the clip's voice is heard")
  func marks() {
    let whole = spliced([(constant(2205), 100), (constant(2205), 0), (constant(2205), 0)])
    #expect(whole.marks.map(\.text) == ["0", "1", "2"])
    #expect(whole.marks.map(\.startMilliseconds) == [30, 230, 327])
    #expect(whole.marks.map(\.endMilliseconds) == [130, 330, 427])
  }

  @Test("a clip without samples has a mark of zero length, and its pause is added")
  func empty() {
    let whole = spliced([(constant(2205), 10), ([], 20), (constant(2205), 0)], edge: 0)
    #expect(whole.samples.count == 2205 + 221 + 441 + 2205)
    #expect(whole.marks.map(\.startMilliseconds) == [0, 100, 130])
    #expect(whole.marks.map(\.endMilliseconds) == [100, 100, 230])
  }

  @Test("a clip without samples between two clips without pauses does not affect their cross-fade")
  func emptyBetween() {
    let with = spliced([(voice(1), 0), ([], 0), (voice(2), 0)])
    #expect(with.samples == spliced([(voice(1), 0), (voice(2), 0)]).samples)
  }

  @Test("without any clips, the result of joining is the silence of both ends")
  func none() {
    #expect(spliced([]) == Waveform(samples: constant(1324, 0), sampleRate: 22_050))
    #expect(spliced([], edge: 0).samples.isEmpty)
    #expect(spliced([([], 5), ([], 5)], edge: 0).samples.isEmpty)
  }

  @Test("two clips at full scale saturate in their overlap and never wrap around")
  func saturation() {
    let loud = spliced([(constant(500, .max), 0), (constant(500, .max), 0)], edge: 0).samples
    #expect(loud[434..<500].contains(.max) && loud.allSatisfy { $0 >= 0 })
    let low = spliced([(constant(500, .min), 0), (constant(500, .min), 0)], edge: 0).samples
    #expect(low[434..<500].contains(.min) && low.allSatisfy { $0 <= 0 })
  }

  @Test("a clip shorter than two fades fades over half its length", arguments: [2, 3, 10, 65, 66, 67, 131, 132])
  func short(count: Int) {
    let samples = spliced([(constant(count), 20), (constant(count), 0)], edge: 10).samples
    #expect(samples.count == 2 * 221 + 2 * count + 441)
    // A clip of this length becomes a half sine, which is steepest in its middle.
    let steepest = 10_000 * 3.2 / Double(count)
    #expect(zip(samples, samples.dropFirst()).allSatisfy { abs(Double($0) - Double($1)) <= steepest })
  }

  @Test("a constant value at the edge of a clip fades in slowly, however long it lasts")
  func constantAtEdge() {
    let samples = spliced([(constant(5000, .max), 0), (voice(1), 60), (constant(5000, .min), 0)]).samples
    // This is the steepest fade, π/2 over 66 samples, together with the greatest step of the voice.
    let limit = 32_768 * 0.0239 + Double(ClipMovement(of: voice(1), sampleRate: 22_050).largestStep)
    #expect(zip(samples, samples.dropFirst()).allSatisfy { abs(Double($0) - Double($1)) <= limit })
  }

  @Test("negative pauses between clips become zero, and long pauses are limited to a minute")
  func absurdPauses() {
    let clip = constant(1000)
    #expect(spliced([(clip, -5), (clip, .min)]) == spliced([(clip, 0), (clip, 0)]))
    #expect(spliced([(clip, .max), (clip, .max)], edge: .min) == spliced([(clip, 60_000), (clip, 0)], edge: 0))
  }

  @Test("joining clips of any content, length and rate, with any pauses, never causes a trap")
  func anything() {
    var random = SplitMix64(seed: 3)
    for round in 0..<1000 {
      let rate = [1, 100, 333, 8000, 22_050, 48_000, 192_000][round % 7]
      var builder = Waveform.SpliceBuilder(sampleRate: rate, edgeMilliseconds: Int.random(in: -1...3, using: &random))
      let count = Int.random(in: 0...8, using: &random)
      for _ in 0..<count {
        let extremes = Bool.random(using: &random)
        let length = Int.random(in: 0...(Bool.random(using: &random) ? 4 : 300), using: &random)
        let clip = (0..<length).map { _ -> Int16 in
          extremes ? (Bool.random(using: &random) ? .max : .min) : .random(in: .min ... .max, using: &random)
        }
        builder.append(
          clip.span, text: "", pauseMilliseconds: Int.random(in: -2...2, using: &random))
      }
      let whole = builder.finish()
      #expect(whole.marks.count == count)
      #expect(
        whole.marks.allSatisfy {
          0 <= $0.startMilliseconds && $0.startMilliseconds <= $0.endMilliseconds
            && $0.endMilliseconds <= whole.durationMilliseconds
        })
    }
  }
}

@Suite("Joins, measured")
struct JoinTests {
  private let pairs = (0..<50).map { (first: voice(UInt64(2 * $0)), second: voice(UInt64(2 * $0 + 1))) }

  @Test("clips that were cut in the middle of a vowel fade into silence without a click", arguments: [1, 5, 20, 60])
  func noClickAtSilence(pause: Int) {
    for pair in pairs {
      for join in joins(pair.first, pair.second, pause: pause) { #expect(!join.isClick, "\(join)") }
    }
  }

  @Test("clips with the fades of a pack are joined to each other without a click")
  func noClickOfFadedClips() {
    for pair in pairs {
      for join in joins(faded(pair.first), faded(pair.second), pause: 0) { #expect(!join.isClick, "\(join)") }
    }
  }

  @Test("overlapping vowels have steps of at most √2 times the steps of one voice")
  func overlappingVowels() {
    for pair in pairs {
      for join in joins(pair.first, pair.second, pause: 0) {
        #expect(Double(join.step) <= Double(join.allowedStep) * 1.4143, "\(join)")
        #expect(join.meanJump <= join.allowedMeanJump * 1.4143, "\(join)")
      }
    }
  }

  @Test("clips that were cut at a crest and a trough click when concatenated, but not when spliced")
  func plainConcatenation() throws {
    for pair in pairs {
      let crest = try #require(pair.first.indices.dropFirst(2000).max { pair.first[$0] < pair.first[$1] })
      let trough = try #require(pair.second.indices.dropLast(2000).min { pair.second[$0] < pair.second[$1] })
      let (first, second) = (Array(pair.first[...crest]), Array(pair.second[trough...]))
      let movements = [first, second].map { ClipMovement(of: $0, sampleRate: 22_050) }
      let plain = JoinMeasurement(of: first + second, at: first.count, sampleRate: 22_050, between: movements)
      #expect(plain.hasStep, "\(plain)")
      for join in joins(first, second, pause: 20) { #expect(!join.isClick, "\(join)") }
    }
  }

  @Test("a clip that does not end at zero clicks against silence")
  func abruptEnd() {
    let clip = voice(1).prefix(through: voice(1).firstIndex { $0 > 6000 } ?? 0)
    let movement = ClipMovement(of: Array(clip), sampleRate: 22_050)
    let join = JoinMeasurement(of: clip + constant(500, 0), at: clip.count, sampleRate: 22_050, between: [movement])
    #expect(join.hasStep)
  }

  @Test("a constant value that begins at a join counts as a jump, although each of its steps is small")
  func meanJump() {
    let quiet = (0..<2000).map { Int16($0 % 2 == 0 ? 400 : -400) }
    let movement = ClipMovement(of: quiet, sampleRate: 22_050)
    let join = JoinMeasurement(
      of: quiet + quiet.map { $0 + 300 }, at: quiet.count, sampleRate: 22_050, between: [movement, movement])
    #expect(join.meanJump == 300 && join.allowedMeanJump == 0)
    #expect(join.hasMeanJump)
    let still = JoinMeasurement(of: quiet + quiet, at: quiet.count, sampleRate: 22_050, between: [movement, movement])
    #expect(!still.isClick)
  }

  @Test("the steps and jumps of a clip are measured inside the clip, not at its ends")
  func movement() {
    let step = ClipMovement(of: constant(44) + constant(44, 4000), sampleRate: 22_050)
    #expect(step == ClipMovement(of: constant(44, 4000) + constant(44), sampleRate: 22_050))
    #expect(step.largestStep == 6000 && step.largestMeanJump == 6000)
    let short = ClipMovement(of: constant(87), sampleRate: 22_050)
    #expect(short.largestStep == 0 && short.largestMeanJump == 0)
    #expect(ClipMovement(of: [], sampleRate: 22_050).largestStep == 0)
  }
}

/// Measures every place where two joined clips meet each other or silence.
private func joins(_ first: [Int16], _ second: [Int16], pause: Int) -> [JoinMeasurement] {
  let samples = spliced([(first, pause), (second, 0)]).samples
  let ends = 662 + first.count
  let begins = ends + (pause * 22_050 + 500) / 1000
  let movements = [first, second].map { ClipMovement(of: $0, sampleRate: 22_050) }
  let positions = pause == 0 ? [ends - 33, ends - 66 + second.count] : [ends, begins, begins + second.count]
  return ([662] + positions).map {
    JoinMeasurement(of: samples, at: $0, sampleRate: 22_050, between: movements)
  }
}

/// Returns the clip with 3 ms fades at both ends.
private func faded(_ clip: [Int16]) -> [Int16] {
  clip.indices.map { Int16(Int(clip[$0]) * min($0, clip.count - 1 - $0, 66) / 66) }
}

/// Joins clips, each with the pause after it. Their texts are their numbers.
private func spliced(_ clips: [([Int16], Int)], edge: Int = 30) -> Waveform {
  var builder = Waveform.SpliceBuilder(sampleRate: 22_050, edgeMilliseconds: edge)
  for (index, clip) in clips.enumerated() {
    builder.append(clip.0.span, text: "\(index)", pauseMilliseconds: clip.1)
  }
  return builder.finish()
}

private func constant(_ count: Int, _ value: Int16 = 10_000) -> [Int16] { Array(repeating: value, count: count) }

/// Returns a vowel-like sound of integers: pulses of one pitch, as sharp as those of a glottis, that excite two
/// resonators. It may be cut anywhere.
private func voice(_ seed: UInt64, count: Int = 4000) -> [Int16] {
  var random = SplitMix64(seed: seed)
  let period = Int.random(in: 90...220, using: &random)  // 245 to 100 Hz
  let start = Int.random(in: 3000...3500, using: &random)
  // y[n] = (a y[n-1] - b y[n-2]) / 1024 + pulse: formants near 500 and 1,500 Hz.
  let low = Int.random(in: 1990...2010, using: &random)
  let high = Int.random(in: 1770...1850, using: &random)
  var (lowState, highState) = ((0, 0), (0, 0))
  var samples: [Int] = []
  for index in 0..<start + count {
    let pulse = index % period == 0 ? 4000 : 0
    let first = (low * lowState.0 - 990 * lowState.1) / 1024 + pulse
    lowState = (first, lowState.0)
    let second = (high * highState.0 - 980 * highState.1) / 1024 + pulse
    highState = (second, highState.0)
    samples.append(first + second)
  }
  let peak = samples.reduce(1) { max($0, abs($1)) }
  return samples[start...].map { Int16($0 * 12_000 / peak) }
}
