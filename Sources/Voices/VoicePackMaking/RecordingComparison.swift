// SPDX-License-Identifier: Apache-2.0

import Resampling
public import Waveforms

/// A recording that seems to say other words than it should.
public struct RecordingSuspicion: Sendable, Hashable {
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// Two recordings fit each other's words clearly better than their own: they were swapped.
    case swapped
    /// One recording fits the words of another clearly better than its own.
    case otherWords = "other_words"
  }

  public var kind: Kind

  /// The index of the suspicious clip in the list of compared clips.
  public var clip: Int

  /// The index of the clip whose words the recording seems to say. For a swapped pair, it is the index of the second
  /// clip.
  public var soundsLike: Int
}

/// Finds recordings that say other words than they should. Each recording is compared with the engine's sayings of all
/// words. A saying is the sound in which the engine says a word.
///
/// Words that sound alike, such as “one” and “won”, cannot be distinguished. No list of such words is needed: a
/// recording fits both words equally well, so it is not suspicious.
public struct RecordingComparison: Sendable {
  /// The suspicions: swapped pairs first, each kind with the strongest first.
  public private(set) var suspicions: [RecordingSuspicion]

  /// The smallest number of clips that can be compared. Fewer clips do not show how the speaker differs from the
  /// engine.
  public static let fewestClips = 8

  /// The smallest advantage of swapping the words of two recordings that leads to a suspicion. The advantage is how
  /// much better the two recordings together fit each other's words. All thresholds here come from packs of other
  /// voices than those of the measurement in docs/voice-packs.md.
  private static let swapThreshold: Float = 0.35

  /// The smallest estimated advantage for which the exact advantage is computed. The estimate uses the maps of the
  /// parts; see ``RecordingDistances``.
  private static let candidateThreshold: Float = 0.1

  /// The threshold for swapped words that sound similar, such as “cent” and “cents”. The advantage must exceed `gain`,
  /// and it must exceed this `share` of the difference between the words.
  private static let similarSwapThreshold: (gain: Float, share: Float) = (0.18, 0.2)

  /// The smallest advantage of another recording's words over a recording's own words that leads to a suspicion.
  private static let otherWordsThreshold: Float = 1

  /// Compares clips with the same words in the engine's voices.
  ///
  /// - Parameters:
  ///   - clips: recorded clips of one speaker. With fewer than ``fewestClips``, there are no suspicions.
  ///   - sayings: for each of the engine's voices, a saying of each clip's words, trimmed like a clip.
  /// - Throws: `PackMakingError`: `conversionFailed`.
  public init(_ clips: [PackClip], sayings: [[Waveform]]) throws(PackMakingError) {
    suspicions = []
    guard let distances = try Self.distances(clips, sayings, TimeWarping.distance) else { return }
    let all = distances.all()
    suspicions = Self.suspicions(
      words: clips.map(\.text.words), distance: { all[$0, $1] }, gain: { distances.gain($0, $1) },
      difference: { distances.difference($0, $1) })
  }

  /// Compares one of the clips with the engine's speech of the words of all clips. It also compares all clips with the
  /// engine's speech of that one clip's words. Suspicions about other clips are not searched for, so the number of
  /// distances grows with the number of clips and not with its square.
  ///
  /// - Parameters:
  ///   - clip: the index of the clip. Each suspicion is about this clip, or about a swapped pair that contains it.
  ///   - clips: recorded clips of one speaker. With fewer than ``fewestClips``, there are no suspicions.
  ///   - sayings: for each of the engine's voices, a saying of each clip's words, trimmed like a clip.
  ///   - measure: returns the difference between two sounds.
  /// - Throws: `PackMakingError`: `conversionFailed`.
  init(
    of clip: Int, in clips: [PackClip], sayings: [[Waveform]],
    measure: @escaping RecordingDistances.Measure = TimeWarping.distance
  ) throws(PackMakingError) {
    suspicions = []
    guard let distances = try Self.distances(clips, sayings, measure) else { return }
    suspicions = Self.suspicions(
      about: clip, words: clips.map(\.text.words), distance: { distances.distance($0, $1) },
      gain: { distances.gain($0, $1) }, difference: { distances.difference($0, $1) })
  }

  /// Returns the distances; `nil` if there are too few clips or no sayings.
  private static func distances(
    _ clips: [PackClip], _ sayings: [[Waveform]], _ measure: @escaping RecordingDistances.Measure
  ) throws(PackMakingError) -> RecordingDistances? {
    guard clips.count >= fewestClips, !sayings.isEmpty else { return nil }
    // Not from outside: each voice says the words of the same clips.
    precondition(sayings.allSatisfy { $0.count == clips.count }, "Each voice says each clip's words once.")
    var voices: [[SpeechFeatures]] = []
    for voice in sayings { voices.append(try features(voice)) }
    return RecordingDistances(try features(clips.map(\.waveform)), voices: voices, measure: measure)
  }

  /// Returns the features of sounds of any sample rate.
  static func features(_ sounds: [Waveform]) throws(PackMakingError) -> [SpeechFeatures] {
    var features: [SpeechFeatures] = []
    do {
      for sound in sounds {
        features.append(
          SpeechFeatures(
            try Resampler.convert(sound.samples, from: sound.sampleRate, to: SpeechFeatures.sampleRate)))
      }
    } catch {
      throw PackMakingError(error)
    }
    return features
  }

  /// Returns the suspicions that follow from distances.
  ///
  /// - Parameters:
  ///   - words: for each clip, its words.
  ///   - distance: how far a recording is from the engine's speech of another clip's words.
  ///   - gain: the sum of how much better each of two recordings fits the word of the other.
  ///   - difference: the distance between the engine's speech of one clip's words and of another clip's words.
  static func suspicions(
    words: [String], distance: (_ recording: Int, _ saying: Int) -> Float, gain: (Int, Int) -> Float,
    difference: (Int, Int) -> Float
  ) -> [RecordingSuspicion] {
    var found: [RecordingSuspicion] = []
    var pairs: [(gain: Float, first: Int, second: Int)] = []
    for first in words.indices {
      for second in words.indices where first < second && words[first] != words[second] {
        if let gain = swapGain(first, second, distance, gain, difference) { pairs.append((gain, first, second)) }
      }
    }
    var isNamed = Array(repeating: false, count: words.count)
    for pair in pairs.sorted(by: { $0.gain > $1.gain }) where !isNamed[pair.first] && !isNamed[pair.second] {
      (isNamed[pair.first], isNamed[pair.second]) = (true, true)
      found.append(RecordingSuspicion(kind: .swapped, clip: pair.first, soundsLike: pair.second))
    }
    return found + otherWords(words, distance).filter { !isNamed[$0.clip] }
  }

  /// Returns how much better two recordings together fit each other's words; `nil` if that is too little for a
  /// suspicion.
  private static func swapGain(
    _ first: Int, _ second: Int, _ distance: (Int, Int) -> Float, _ gain: (Int, Int) -> Float,
    _ difference: (Int, Int) -> Float
  ) -> Float? {
    let own = distance(first, first) + distance(second, second)
    // The exact gain and the difference take time to compute, so they are computed only where they can affect the
    // result.
    guard own - distance(first, second) - distance(second, first) >= candidateThreshold else { return nil }
    let gain = gain(first, second)
    let isSimilar =
      gain >= similarSwapThreshold.gain && gain >= similarSwapThreshold.share * difference(first, second)
    return gain >= swapThreshold || isSimilar ? gain : nil
  }

  private static func otherWords(
    _ words: [String], _ distance: (_ recording: Int, _ saying: Int) -> Float
  ) -> [RecordingSuspicion] {
    // Some sayings are close to every recording, and some recordings are close to no saying. The means are subtracted,
    // so that only the remaining difference counts.
    let means = words.indices.map { saying in
      words.indices.reduce(Float(0)) { $0 + ($1 == saying ? 0 : distance($1, saying)) } / Float(words.count - 1)
    }
    var singles: [(excess: Float, clip: Int, other: Int)] = []
    for clip in words.indices {
      let own = distance(clip, clip) - means[clip]
      let others = words.indices.filter { words[$0] != words[clip] }
      let best = others.min { distance(clip, $0) - means[$0] < distance(clip, $1) - means[$1] }
      guard let best else { continue }
      let excess = own - (distance(clip, best) - means[best])
      if excess >= otherWordsThreshold { singles.append((excess, clip, best)) }
    }
    return singles.sorted { $0.excess > $1.excess }.map {
      RecordingSuspicion(kind: .otherWords, clip: $0.clip, soundsLike: $0.other)
    }
  }
}

// MARK: - One clip

extension RecordingComparison {
  /// The number of recordings whose mean distance from a saying is an estimate for all recordings.
  private static let sampledRecordings = 16

  /// The number of words with the best estimates, for which the exact mean is computed.
  private static let likelyWords = 4

  /// Returns the suspicions about one clip that follow from the distances: at most one. At most 25 distances are
  /// computed for each clip.
  ///
  /// - Parameters:
  ///   - clip: the index of the clip.
  ///   - words: for each clip, its words.
  ///   - distance: how far a recording is from the engine's speech of another clip's words.
  ///   - gain: the sum of how much better each of two recordings fits the word of the other.
  ///   - difference: the distance between the engine's speech of one clip's words and of another clip's words.
  static func suspicions(
    about clip: Int, words: [String], distance: (_ recording: Int, _ saying: Int) -> Float, gain: (Int, Int) -> Float,
    difference: (Int, Int) -> Float
  ) -> [RecordingSuspicion] {
    var known: [Int: Float] = [:]
    func kept(_ recording: Int, _ saying: Int) -> Float {
      let place = recording * words.count + saying
      if let distance = known[place] { return distance }
      let distance = distance(recording, saying)
      known[place] = distance
      return distance
    }
    let others = words.indices.filter { words[$0] != words[clip] }
    var pair: (gain: Float, first: Int, second: Int)?
    for other in others {
      let (first, second) = (min(clip, other), max(clip, other))
      guard let gain = swapGain(first, second, kept, gain, difference), gain > pair?.gain ?? 0 else { continue }
      pair = (gain, first, second)
    }
    if let pair { return [RecordingSuspicion(kind: .swapped, clip: pair.first, soundsLike: pair.second)] }

    // As for a whole pack, the mean distance of a saying is subtracted. The mean is exact only for the words that
    // affect the result.
    func mean(_ saying: Int, of recordings: some Collection<Int>) -> Float {
      let rest = recordings.filter { $0 != saying }
      return rest.reduce(Float(0)) { $0 + kept($1, saying) } / Float(max(1, rest.count))
    }
    let sample = Set((0..<sampledRecordings).map { $0 * words.count / sampledRecordings }).sorted()
    let estimates = others.map { (other: $0, excess: kept(clip, $0) - mean($0, of: sample)) }
    let likely = estimates.sorted { $0.excess < $1.excess }.prefix(likelyWords).map { estimate in
      (other: estimate.other, excess: kept(clip, estimate.other) - mean(estimate.other, of: words.indices))
    }
    guard let best = likely.min(by: { $0.excess < $1.excess }) else { return [] }
    let excess = kept(clip, clip) - mean(clip, of: words.indices) - best.excess
    guard excess >= otherWordsThreshold else { return [] }
    return [RecordingSuspicion(kind: .otherWords, clip: clip, soundsLike: best.other)]
  }
}

extension String {
  /// The text without letter case, spaces and punctuation. Texts with the same words are the same here.
  fileprivate var words: String { lowercased().filter { $0.isLetter || $0.isNumber } }
}
