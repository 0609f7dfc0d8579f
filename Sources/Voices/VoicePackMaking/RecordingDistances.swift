// SPDX-License-Identifier: Apache-2.0

/// The distance of each recording from each utterance of a speech engine. It shows how well the recordings fit the
/// words.
///
/// The engine's voice is first mapped to the speaker's (``VoiceMapping``). The map is learned from the recordings
/// themselves, because nearly all of them say what they should. A recording is never compared with a map that was
/// learned from this recording. Otherwise a wrong recording would fit the words that it should say, because the map
/// would have learned from it.
struct RecordingDistances: Sendable {
  typealias Frame = SpeechFeatures.Frame

  /// A function that returns how much two sounds differ. A test counts its calls.
  typealias Measure = @Sendable (_ first: [Frame], _ second: [Frame]) -> Float

  /// The number of parts of the recordings. The map for each part is learned from the other parts.
  private static let parts = 4

  /// The number of times that the map is learned. The second time, the sounds are aligned by the first map.
  private static let rounds = 2

  /// The comparisons, one for each of the engine's voices.
  private let comparisons: [VoiceComparison]
  private let measure: Measure

  /// Compares recordings with the same words in the engine's voices.
  ///
  /// - Parameters:
  ///   - recordings: the sounds of one speaker.
  ///   - voices: for each of the engine's voices, the sound of each recording's words in that voice.
  init(
    _ recordings: [SpeechFeatures], voices: [[SpeechFeatures]], measure: @escaping Measure = TimeWarping.distance
  ) {
    self.measure = measure
    let recordings = SpeechFeatures.normalized(recordings).map(\.frames)
    comparisons = voices.map { voice in
      VoiceComparison(recordings, SpeechFeatures.normalized(voice).map(\.frames), measure)
    }
  }

  /// The distance of each recording from each saying. A saying is the sound in which the engine says a word.
  struct Table: Sendable {
    let count: Int
    fileprivate var values: [Float]

    subscript(recording: Int, saying: Int) -> Float { values[recording * count + saying] }
  }

  /// Returns the distance of each recording from the engine's speech of each recording's words. The number of distances
  /// is the square of the number of recordings.
  func all() -> Table {
    let count = comparisons.first?.recordings.count ?? 0
    var table = Table(count: count, values: Array(repeating: 0, count: count * count))
    for comparison in comparisons {
      for part in 0..<Self.parts {
        let mapped = comparison.sayings(mappedWithout: part)
        for recording in stride(from: part, to: count, by: Self.parts) {
          for saying in 0..<count {
            table.values[recording * count + saying] +=
              measure(comparison.recordings[recording], mapped[saying]) / Float(comparisons.count)
          }
        }
      }
    }
    return table
  }

  /// Returns the distance of a recording from a saying, which is the engine's speech of a word. The mean distance from
  /// the right saying is about 5.
  func distance(_ recording: Int, _ saying: Int) -> Float {
    comparisons.reduce(0) { sum, comparison in
      sum + measure(comparison.recordings[recording], comparison.saying(saying, mappedFor: recording))
        / Float(comparisons.count)
    }
  }

  /// Returns the distance between the engine's speech of two words. The distance is small for words that sound alike.
  func difference(_ first: Int, _ second: Int) -> Float {
    let sum = comparisons.reduce(0) { sum, comparison in
      sum + measure(comparison.sayingMappedByAll(first), comparison.sayingMappedByAll(second))
    }
    return sum / Float(max(1, comparisons.count))
  }

  /// Returns how much better two recordings would fit if their words were swapped. The result is the sum for both
  /// recordings, and is negative if each recording says its own words.
  ///
  /// The map is learned without the two recordings. If it were learned from one of them, a swapped recording would
  /// teach the map the words of the other recording, and so hide the swap.
  func gain(_ first: Int, _ second: Int) -> Float {
    comparisons.reduce(0) { $0 + $1.gain(first, second) } / Float(max(1, comparisons.count))
  }

  /// The recordings, and their words as one of the engine's voices speaks them, in the space in which both are
  /// compared.
  private struct VoiceComparison {
    var recordings: [[Frame]]
    private var contexts: [[VoiceMapping.Context]]
    /// The maps, one for each part of the recordings, learned from the other parts. The last map is learned from all
    /// parts.
    private var maps: [VoiceMapping] = []
    private var scaling = ErrorScaling(errors: [])
    /// For each recording, the data from which the map is learned.
    private var sums: [VoiceMapping.Sums] = []
    private var total = VoiceMapping.Sums()
    private let measure: Measure

    init(_ recordings: [[Frame]], _ sayings: [[Frame]], _ measure: @escaping Measure) {
      self.recordings = recordings
      self.measure = measure
      contexts = sayings.map(VoiceMapping.contexts)
      var own = sayings
      for _ in 0..<rounds {
        let paths = recordings.indices.map { TimeWarping.path(self.recordings[$0], own[$0]) }
        sums = Array(repeating: VoiceMapping.Sums(), count: recordings.count)
        total = VoiceMapping.Sums()
        var partSums = Array(repeating: VoiceMapping.Sums(), count: parts)
        for (index, path) in paths.enumerated() {
          for (frame, other) in path { sums[index].add(contexts[index][other], recordings[index][frame]) }
          partSums[index % parts] += sums[index]
          total += sums[index]
        }
        maps = partSums.map { VoiceMapping(total - $0) } + [VoiceMapping(total)]
        let errors = paths.enumerated().flatMap { index, path in
          path.map { frame, other in recordings[index][frame] - maps[index % parts](contexts[index][other]) }
        }
        scaling = ErrorScaling(errors: errors)
        self.recordings = recordings.map { $0.map { scaling($0) } }
        own = contexts.indices.map { mapped($0, by: maps[$0 % parts]) }
      }
    }

    func sayings(mappedWithout part: Int) -> [[Frame]] { contexts.indices.map { mapped($0, by: maps[part]) } }

    /// Returns the engine's speech of a word, mapped for the comparison with a recording. The map was learned without
    /// the part that contains the recording.
    func saying(_ saying: Int, mappedFor recording: Int) -> [Frame] { mapped(saying, by: maps[recording % parts]) }

    func sayingMappedByAll(_ saying: Int) -> [Frame] { mapped(saying, by: maps[parts]) }

    func gain(_ first: Int, _ second: Int) -> Float {
      let map = VoiceMapping(total - sums[first] - sums[second])
      let sayings = (mapped(first, by: map), mapped(second, by: map))
      let own = measure(recordings[first], sayings.0) + measure(recordings[second], sayings.1)
      return own - measure(recordings[first], sayings.1) - measure(recordings[second], sayings.0)
    }

    private func mapped(_ saying: Int, by map: VoiceMapping) -> [Frame] { contexts[saying].map { scaling(map($0)) } }
  }
}
