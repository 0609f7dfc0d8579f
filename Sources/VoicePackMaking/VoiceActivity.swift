// SPDX-License-Identifier: Apache-2.0

/// Where in a recording somebody speaks, by energy in frames of 5 ms, with a threshold that follows the noise.
///
/// Looked for in two signals: the sound itself, in which vowels and m, n, l stand out, and its differences from sample
/// to sample, which lift the hiss of f, h and s by up to 20 dB over hum and rumble. A frame is voice when it stands
/// out in either.
///
/// **The noise floor** is the 10th percentile of the frames, if there is steady noise: if the 25th lies within 4 dB of
/// it, and 250 ms of the recording are no more than 6 dB above it. No soft consonant is that long, and in speech the
/// percentiles lie further apart: without steady noise the recording was cut close to the voice, whose softest frames
/// are voice too, and twice the 3rd percentile is taken (less would be an editor's fades). Where a tenth of the frames
/// is below one 16-bit step, as gates and engines leave them, there is no noise.
///
/// **The threshold** is 8 dB above the floor; in a recording cut close at most 36 dB under the loudest frame, which is
/// softer than any f or h; and never lower than 50 dB under it, which nobody hears. From there voice reaches up to
/// 200 ms to both sides as long as no frame falls to within 3.5 dB of steady noise: so a soft s begins where it begins.
struct VoiceActivity {
  /// 5 ms, in samples.
  static let frameLength = Recording.sampleRate / 200

  /// The noise floor as an amplitude, full scale being 1; 0 for digital silence.
  let noiseFloor: Float

  /// The energy of the loudest frame as an amplitude.
  let loudest: Float

  /// In samples, in order: voice without a pause of 200 ms.
  private let stretches: [Range<Int>]

  /// A pause inside a word is shorter, in ms: the closure before a t or k is at most 150 ms long.
  private static let wordPause = 200

  /// Voice lasts longer than a click or a lip's smack, in ms.
  static let shortest = 50

  /// - Parameter samples: at ``Recording/sampleRate``, without DC.
  init(_ samples: [Float]) {
    let whole = Levels(samples)
    let hiss = Levels(zip(samples.dropFirst(), samples).map { $0 - $1 }, mayBeSteady: false)
    noiseFloor = whole.floor
    loudest = whole.loudest
    var ranges: [Range<Int>] = []
    for (index, isVoiced) in Self.voiced(whole, hiss).enumerated() where isVoiced {
      let frame = index * Self.frameLength..<min(samples.count, (index + 1) * Self.frameLength)
      if let last = ranges.last, frame.lowerBound - last.upperBound < Self.samples(Self.wordPause) {
        ranges[ranges.count - 1] = last.lowerBound..<frame.upperBound
      } else {
        ranges.append(frame)
      }
    }
    stretches = ranges
  }

  /// Whether anything stands out, even for shorter than a voice would.
  var isEmpty: Bool { stretches.isEmpty }

  /// From the beginning of the first utterance to the end of the last.
  var extent: Range<Int>? {
    let voices = stretches.filter(Self.isVoice)
    guard let first = voices.first, let last = voices.last else { return nil }
    return first.lowerBound..<last.upperBound
  }

  /// What is said without a pause of so many ms, at least 200; clicks, which are shorter than 50 ms and stand alone, are
  /// left out.
  func utterances(minimumPauseMilliseconds pause: Int) -> [Range<Int>] {
    var utterances: [Range<Int>] = []
    for stretch in stretches where Self.isVoice(stretch) {
      if let last = utterances.last, stretch.lowerBound - last.upperBound < Self.samples(pause) {
        utterances[utterances.count - 1] = last.lowerBound..<stretch.upperBound
      } else {
        utterances.append(stretch)
      }
    }
    return utterances
  }

  /// For each frame whether it is voice: above the threshold, or beside such a frame and not yet down at the noise.
  private static func voiced(_ whole: Levels, _ hiss: Levels) -> [Bool] {
    func above(_ threshold: KeyPath<Levels, Float>) -> [Bool] {
      whole.frames.indices.map { index in
        whole.frames[index] > whole[keyPath: threshold]
          || (index < hiss.frames.count && hiss.frames[index] > hiss[keyPath: threshold])
      }
    }
    let (sure, near) = (above(\.threshold), above(\.reach))
    var voiced = sure
    let reach = samples(wordPause) / frameLength
    func spread(_ order: some Sequence<Int>) {
      var left = 0
      for index in order {
        left = sure[index] ? reach : near[index] ? left - 1 : 0
        if left > 0 { voiced[index] = true }
      }
    }
    spread(voiced.indices)
    spread(voiced.indices.reversed())
    return voiced
  }

  private static func isVoice(_ stretch: Range<Int>) -> Bool { stretch.count >= samples(shortest) }

  static func samples(_ milliseconds: Int) -> Int { milliseconds * Recording.sampleRate / 1000 }
}

/// The energies of a signal's frames as amplitudes, and what follows from them.
private struct Levels {
  let frames: [Float]
  let loudest: Float
  let floor: Float
  let threshold: Float

  /// Down to where a sound that was above the threshold goes on.
  let reach: Float

  /// - Parameter mayBeSteady: whether one steady sound from end to end, above -40 dBFS, is voice: nothing in it can be
  ///   told from noise, and noise that loud is no recording.
  init(_ samples: [Float], mayBeSteady: Bool = true) {
    let length = VoiceActivity.frameLength
    let frames = stride(from: 0, to: samples.count, by: length).map { start in
      let frame = samples[start..<min(samples.count, start + length)]
      return (frame.reduce(Float(0)) { $0 + $1 * $1 } / Float(length)).squareRoot()
    }
    self.frames = frames
    let loudest = frames.max() ?? 0
    self.loudest = loudest
    let inaudible = max(loudest / 316, 1 / 32_768)  // 50 dB
    let sorted = frames.sorted()
    func percentile(_ percent: Int) -> Float { sorted.isEmpty ? 0 : sorted[sorted.count * percent / 100] }
    let tenth = percentile(10)
    let isSteady = percentile(25) <= tenth * 1.6 && frames.count { $0 <= tenth * 2 } >= 50
    if tenth <= 1 / 32_768 || (mayBeSteady && isSteady && tenth * 4 > loudest && loudest > 0.01) {
      (floor, threshold, reach) = (min(tenth, 1 / 32_768), inaudible, inaudible)
    } else if isSteady {
      (floor, threshold, reach) = (tenth, max(inaudible, tenth * 2.5), max(inaudible, tenth * 1.5))
    } else {
      floor = percentile(3) * 2
      threshold = max(inaudible, min(floor * 2.5, loudest / 64))
      reach = threshold
    }
  }
}
