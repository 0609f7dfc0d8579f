// SPDX-License-Identifier: Apache-2.0

/// Finds the voice in a recording. It uses the energy of frames of 5 ms and a threshold that adapts to the noise.
///
/// The search uses two signals. One is the sound itself, in which vowels and m, n, l are prominent. The other is the
/// difference between consecutive samples. It raises the hiss of f, h and s by up to 20 dB relative to hum and rumble.
/// A frame counts as voice when it is prominent in either signal.
///
/// **The noise floor** depends on whether there is steady noise. Noise is steady if the 25th percentile of the frames
/// lies within 4 dB of the 10th, and 250 ms of the recording are at most 6 dB above the 10th. No soft consonant is that
/// long, and in speech the percentiles lie further apart. With steady noise, the floor is the 10th percentile. Without
/// steady noise, the recording was cut close to the voice, and its quietest frames are voice too. The floor is then
/// twice the 3rd percentile, because lower frames would be an editor's fades. If a tenth of the frames is below one
/// 16-bit step, as in the output of gates and engines, there is no noise.
///
/// **The threshold** is 8 dB above the floor. In a recording that was cut close to the voice, it is at most 36 dB below
/// the loudest frame, which is quieter than any f or h. It is never lower than 50 dB below the loudest frame, a level
/// that is inaudible. From the frames above the threshold, the voice extends by up to 200 ms to both sides, as long as
/// no frame falls to within 3.5 dB of steady noise. A soft s therefore starts at its actual beginning.
struct VoiceActivity {
  /// The length of a frame in samples, which is 5 ms.
  static let frameLength = Recording.sampleRate / 200

  /// The noise floor as an amplitude, where 1 is full scale; 0 for digital silence.
  let noiseFloor: Float

  /// The energy of the loudest frame as an amplitude.
  let loudest: Float

  /// The ranges of voice that contain no pause of 200 ms or more, in samples and in order.
  private let stretches: [Range<Int>]

  /// The shortest pause between words, in ms. A pause inside a word is shorter: the closure before a t or k is at most
  /// 150 ms long.
  private static let wordPause = 200

  /// The shortest sound in ms that counts as voice. A click or a lip smack is shorter.
  static let shortest = 50

  /// Finds the voice in samples.
  ///
  /// - Parameter samples: samples at ``Recording/sampleRate``, without DC.
  init(_ samples: [Float]) {
    let whole = Levels(samples)
    let hiss = Levels(zip(samples.dropFirst(), samples).map { $0 - $1 }, mayBeSteady: false)
    noiseFloor = whole.floor
    loudest = whole.loudest
    let voiced = Self.voiced(whole, hiss)
    let frames = voiced.indices.filter { voiced[$0] }.map { index in
      index * Self.frameLength..<min(samples.count, (index + 1) * Self.frameLength)
    }
    stretches = Self.joined(frames, pause: Self.wordPause)
  }

  /// Whether no frame is above the threshold. A sound that is too short for a voice makes the value false, too.
  var isEmpty: Bool { stretches.isEmpty }

  /// The range from the start of the first utterance to the end of the last.
  var extent: Range<Int>? {
    let voices = stretches.filter(Self.isVoice)
    guard let first = voices.first, let last = voices.last else { return nil }
    return first.lowerBound..<last.upperBound
  }

  /// The longest silence between two sounds, in ms, without clicks; 0 if there is only one sound.
  var longestPauseMilliseconds: Int {
    let voices = stretches.filter(Self.isVoice)
    let pauses = zip(voices.dropFirst(), voices).map { $0.lowerBound - $1.upperBound }
    return (pauses.max() ?? 0) * 1000 / Recording.sampleRate
  }

  /// Returns the ranges of voice that contain no pause of the given length, which is at least 200 ms. Clicks, which are
  /// isolated sounds shorter than 50 ms, are left out.
  func utterances(minimumPauseMilliseconds pause: Int) -> [Range<Int>] {
    Self.joined(stretches.filter(Self.isVoice), pause: pause)
  }

  /// Joins ranges of samples that have less than a pause, in ms, between them.
  private static func joined(_ ranges: [Range<Int>], pause: Int) -> [Range<Int>] {
    var joined: [Range<Int>] = []
    for range in ranges {
      if let last = joined.last, range.lowerBound - last.upperBound < samples(pause) {
        joined[joined.count - 1] = last.lowerBound..<range.upperBound
      } else {
        joined.append(range)
      }
    }
    return joined
  }

  /// Returns for each frame whether it is voice. A frame is voice if it is above the threshold, or if it is near such a
  /// frame and still above the noise.
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

/// The energies of a signal's frames, expressed as amplitudes, and the limits derived from them.
private struct Levels {
  let frames: [Float]
  let loudest: Float
  let floor: Float
  let threshold: Float

  /// The amplitude above which the voice continues, once it has been above the threshold.
  let reach: Float

  /// Measures a signal.
  ///
  /// - Parameter mayBeSteady: whether one steady sound from end to end counts as voice if it is above -40 dBFS. Such a
  ///   sound cannot be distinguished from noise, but a recording would not have that much noise.
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
