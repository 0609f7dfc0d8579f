// SPDX-License-Identifier: Apache-2.0

import Resampling
import Waveforms

/// What is played for an announcement: its clip, behind the chime if there is one.
struct LaneSound: Sendable {
  var waveform: Waveform
  /// What a listener does not hear of its start and its end, in ms.
  var quietStart: Int64
  var quietEnd: Int64
  var clip: String?

  var length: Int { waveform.durationMilliseconds }

  /// -44 dBFS, which nobody hears beside speech at -16 LUFS.
  private static let threshold: UInt16 = 200

  /// - Parameter again: what is heard before a replay; nil for what is heard for the first time.
  /// - Throws: what keeps `again` from being put before it: a replay is not heard without it.
  init(_ sound: RenderedSound, again: Waveform?, chime: Waveform?, pause: Int) throws {
    var sound = sound
    if let again {
      let rate = sound.waveform.sampleRate
      let words =
        again.sampleRate == rate
        ? again
        : Waveform(samples: try Resampler.convert(again.samples, from: again.sampleRate, to: rate), sampleRate: rate)
      sound.waveform = try Waveform.joined([words, sound.waveform], pauseMilliseconds: Self.pauseAfterAgain)
    }
    self.init(sound, chime: chime, pause: pause)
  }

  /// In ms; as long as between two clauses.
  private static let pauseAfterAgain = 180

  /// A chime that cannot be put before it is left out: nothing is silent because of a chime.
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
      waveform = (try? Waveform.joined([chime, waveform], pauseMilliseconds: pause)) ?? waveform
    }
    let samples = waveform.samples
    let start = samples.firstIndex { $0.magnitude > Self.threshold } ?? samples.count
    let end = samples.lastIndex { $0.magnitude > Self.threshold } ?? samples.count - 1
    quietStart = Int64(start * 1000 / waveform.sampleRate)
    quietEnd = Int64((samples.count - 1 - end) * 1000 / waveform.sampleRate)
  }
}
