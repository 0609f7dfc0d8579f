// SPDX-License-Identifier: Apache-2.0

import SoundHeaders
public import Waveforms

/// The result of decoding a sound file: its format, its levels, and its sound as a mono mix.
public struct SoundSurvey: Sendable, Hashable {
  /// The sample rate in Hz, above zero.
  public var sampleRate: Int

  public var channels: Int

  /// The number of frames that the file's header states; `nil` when it states none.
  public var statedFrames: Int?

  /// The highest magnitude of a sample in any channel, where 1 is full scale. Samples of a floating-point file may
  /// exceed 1. Samples that are not numbers count as silence.
  public var peak: Float

  /// The number of clipped samples in all channels. A sample is clipped if it belongs to a run of equal samples at
  /// 98 % of full scale or above. No voice and no instrument produces such runs.
  public var clippedSamples: Int

  /// The mean of the channels, rounded to 16 bits. Samples beyond full scale are limited to full scale.
  public var mix: Waveform
}

extension SoundFiles {
  /// Decodes the beginning of a sound file of any format that libsndfile reads, and measures it. If libsndfile cannot
  /// find the sound only because the header is wrong, the file is decoded with a corrected header.
  ///
  /// - Parameters:
  ///   - seconds: The length in seconds of the part that is decoded. Without a limit, a file could make the function
  ///     use any amount of time and memory.
  ///   - clippedRun: The smallest number of equal samples at full scale that count as clipped. Encodings of 8 bits have
  ///     few levels near full scale, so they need a longer run than other encodings.
  /// - Throws: `SoundFileError`: `malformed`.
  public static func survey(
    _ bytes: [UInt8], first seconds: Int, clippedRun: Int
  ) throws(SoundFileError) -> SoundSurvey {
    var stream = try SoundStream(reading: SoundHeader.readable(bytes) ?? bytes)
    guard stream.sampleRate > 0, (1...64).contains(stream.channels) else {
      throw SoundFileError(.malformed, "it has \(stream.channels) channels at \(stream.sampleRate) Hz.")
    }
    let channels = stream.channels
    let limit = seconds * stream.sampleRate
    var clipping = ClippingCounter(channels: channels, shortestRun: clippedRun)
    var peak: Float = 0
    var mix: [Int16] = []
    while mix.count < limit {
      let piece = try stream.nextFrames(atMost: min(16_384, limit - mix.count))
      guard !piece.isEmpty else { break }
      for start in stride(from: 0, to: piece.count, by: channels) {
        var sum: Float = 0
        for channel in 0..<channels {
          let value = piece[start + channel]
          // max() is not used, because it returns a sample that is not a number.
          if value.magnitude > peak { peak = value.magnitude }
          clipping.add(value, channel: channel)
          sum += value
        }
        mix.append(SoundStream.sample(sum / Float(channels)))
      }
    }
    // libsndfile states the largest number if it does not know the length.
    let isStated = (0..<Int(Int32.max) << 16).contains(stream.frames)
    return SoundSurvey(
      sampleRate: stream.sampleRate, channels: channels, statedFrames: isStated ? stream.frames : nil, peak: peak,
      clippedSamples: clipping.count, mix: Waveform(samples: mix, sampleRate: stream.sampleRate))
  }
}

/// Counts samples in runs of equal samples at full scale, for each channel on its own.
private struct ClippingCounter {
  private(set) var count = 0
  private let shortestRun: Int
  private var runs: [(value: Float, length: Int)]

  init(channels: Int, shortestRun: Int) {
    self.shortestRun = shortestRun
    runs = Array(repeating: (0, 0), count: channels)
  }

  mutating func add(_ value: Float, channel: Int) {
    guard value.magnitude >= 0.98 else {
      runs[channel].length = 0
      return
    }
    let length = value == runs[channel].value && runs[channel].length > 0 ? runs[channel].length + 1 : 1
    runs[channel] = (value, length)
    if length >= shortestRun { count += length == shortestRun ? shortestRun : 1 }
  }
}
