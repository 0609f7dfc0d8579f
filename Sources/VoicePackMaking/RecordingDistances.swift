// SPDX-License-Identifier: Apache-2.0

/// How well recordings fit the words that a speech engine says: of each recording, the distance from each saying.
///
/// The engine's voice is first mapped to the speaker's (``VoiceMapping``). The map is learned from the recordings
/// themselves, because nearly all of them say what they should. A recording is never compared by a map that was learned
/// from it; otherwise a wrong recording would fit its own saying for that reason alone.
struct RecordingDistances: Sendable {
  typealias Frame = SpeechFeatures.Frame

  /// The number of parts of the recordings. The map for each part is learned from the other parts.
  private static let parts = 4

  /// The number of times that the map is learned. The second time, the sounds are aligned by the first map.
  private static let rounds = 2

  let count: Int
  private var values: [Float]
  /// For each of the engine's voices, the comparison, and the sayings mapped by all recordings.
  private var comparisons: [(comparison: VoiceComparison, sayings: [[Frame]])]

  /// The distance of a recording from a saying. The mean is about 5 for the right one.
  subscript(recording: Int, saying: Int) -> Float { values[recording * count + saying] }

  /// Compares recordings with sayings.
  ///
  /// - Parameters:
  ///   - recordings: the sounds of one speaker.
  ///   - voices: for each of the engine's voices, a saying of each recording's words.
  init(_ recordings: [SpeechFeatures], voices: [[SpeechFeatures]]) {
    count = recordings.count
    values = Array(repeating: 0, count: count * count)
    comparisons = []
    let recordings = SpeechFeatures.normalized(recordings).map(\.frames)
    for voice in voices {
      let comparison = VoiceComparison(recordings, SpeechFeatures.normalized(voice).map(\.frames))
      comparisons.append((comparison, comparison.mappedByAll))
      for part in 0..<Self.parts {
        let mapped = comparison.sayings(mappedWithout: part)
        for recording in stride(from: part, to: count, by: Self.parts) {
          for saying in 0..<count {
            values[recording * count + saying] +=
              TimeWarping.distance(comparison.recordings[recording], mapped[saying]) / Float(voices.count)
          }
        }
      }
    }
  }

  /// Returns how far two sayings differ, on the scale of the distances. It is small for words that sound alike.
  func difference(_ first: Int, _ second: Int) -> Float {
    let sum = comparisons.reduce(0) { $0 + TimeWarping.distance($1.sayings[first], $1.sayings[second]) }
    return sum / Float(max(1, comparisons.count))
  }

  /// Returns how much better two recordings fit each other's words than their own, for both together. It is negative
  /// for right recordings.
  ///
  /// The map is learned without the two recordings. If it were learned from one of them, a swapped recording would teach
  /// it what the other says, and so hide the swap.
  func gain(_ first: Int, _ second: Int) -> Float {
    comparisons.reduce(0) { $0 + $1.comparison.gain(first, second) } / Float(max(1, comparisons.count))
  }

  /// The recordings and the sayings of one of the engine's voices, in the space in which they are compared.
  private struct VoiceComparison {
    var recordings: [[Frame]]
    private var contexts: [[VoiceMapping.Context]]
    /// The last map is learned from all parts.
    private var maps: [VoiceMapping] = []
    private var scaling = ErrorScaling(errors: [])
    /// For each recording, what the map is learned from.
    private var sums: [VoiceMapping.Sums] = []
    private var total = VoiceMapping.Sums()

    init(_ recordings: [[Frame]], _ sayings: [[Frame]]) {
      self.recordings = recordings
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

    var mappedByAll: [[Frame]] { contexts.indices.map { mapped($0, by: maps[parts]) } }

    func gain(_ first: Int, _ second: Int) -> Float {
      let map = VoiceMapping(total - sums[first] - sums[second])
      let sayings = (mapped(first, by: map), mapped(second, by: map))
      let own =
        TimeWarping.distance(recordings[first], sayings.0) + TimeWarping.distance(recordings[second], sayings.1)
      return own - TimeWarping.distance(recordings[first], sayings.1)
        - TimeWarping.distance(recordings[second], sayings.0)
    }

    private func mapped(_ saying: Int, by map: VoiceMapping) -> [Frame] { contexts[saying].map { scaling(map($0)) } }
  }
}
