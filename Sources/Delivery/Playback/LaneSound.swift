// SPDX-License-Identifier: Apache-2.0

import Resampling
import Waveforms

/// The sound of an announcement: its clip, after the chime if there is one.
struct LaneSound: Sendable {
  var waveform: Waveform
  /// The inaudible parts at the start and the end, in ms.
  var quietStart: Int64
  var quietEnd: Int64
  var clip: String?

  var length: Int { waveform.durationMilliseconds }

  /// The threshold of silence: -44 dBFS, which is inaudible next to speech at -16 LUFS.
  private static let threshold: UInt16 = 200

  /// - Parameter again: The word "again" before a replay; nil if it is not a replay.
  /// - Throws: The error if `again` cannot be put before the sound. A replay is never played without it.
  init(_ sound: RenderedSound, again: Waveform?, chime: Waveform?, pause: Int) throws {
    var sound = sound
    if let again {
      let rate = sound.waveform.sampleRate
      let words =
        again.sampleRate == rate
        ? again
        : Waveform(samples: try Resampler.convert(again.samples, from: again.sampleRate, to: rate), sampleRate: rate)
      sound.waveform = try Waveform.joined([words, sound.waveform], pausesMilliseconds: [Self.pauseAfterAgain])
    }
    self.init(sound, chime: chime, pause: pause)
  }

  /// The pause after "again", in ms. It is as long as the pause between two clauses.
  private static let pauseAfterAgain = 180

  /// Creates the sound with the chime. A chime that cannot be added is left out, because it must never prevent an
  /// announcement.
  private init(_ sound: RenderedSound, chime: Waveform?, pause: Int) {
    clip = sound.clip
    waveform = sound.waveform
    if var chime {
      let rate = sound.waveform.sampleRate
      if chime.sampleRate != rate,
        let samples = try? Resampler.convert(chime.samples, from: chime.sampleRate, to: rate)
      {
        chime = Waveform(samples: samples, sampleRate: rate)
      }
      waveform = (try? Waveform.joined([chime, waveform], pausesMilliseconds: [pause])) ?? waveform
    }
    let samples = waveform.samples
    let start = samples.firstIndex { $0.magnitude > Self.threshold } ?? samples.count
    let end = samples.lastIndex { $0.magnitude > Self.threshold } ?? samples.count - 1
    quietStart = Int64(start * 1000 / waveform.sampleRate)
    quietEnd = Int64((samples.count - 1 - end) * 1000 / waveform.sampleRate)
  }
}
