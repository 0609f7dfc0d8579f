// SPDX-License-Identifier: Apache-2.0

private import CEBUR128
private import CSndFile
import Foundation

/// The measurements of a sound file on disk, read by libsndfile and measured by libebur128.
///
/// This type is for tests. It shares nothing with the code that makes sounds, so that a fault in that code cannot hide
/// itself.
public struct SoundReport: Sendable, Hashable {
  public var frames: Int

  /// The sample rate in Hz.
  public var sampleRate: Int
  public var channels: Int

  /// The name that libsndfile uses, such as `WAV (Microsoft)`. The encoding below is similar, such as
  /// `Signed 16 bit PCM`.
  public var container: String
  public var encoding: String

  public var durationMilliseconds: Double

  /// The integrated loudness in LUFS; minus infinity for a sound under 400 ms or below the gate.
  public var loudnessLUFS: Double

  /// The highest true peak of any channel in dBTP, by libebur128's fourfold oversampling.
  public var truePeakDBTP: Double

  /// The highest magnitude of any sample, where 1 is full scale.
  public var samplePeak: Double

  /// The time at the beginning during which no channel exceeds the threshold; the whole length for silence. The time at
  /// the end is measured in the same way.
  public var leadingSilenceMilliseconds: Double
  public var trailingSilenceMilliseconds: Double

  /// The mean of all samples, where 1 is full scale.
  public var dcOffset: Double

  /// The greatest difference between consecutive samples of a channel, where 1 is full scale. Silence surrounds the
  /// samples, so a sound that does not begin or end at zero has a step there.
  public var largestStep: Double

  /// Reads and measures a file.
  ///
  /// - Parameter silenceThresholdDBFS: the highest sample that counts as silence.
  /// - Throws: `SoundReportError`.
  public static func measure(
    file path: String, silenceThresholdDBFS: Double = -50
  ) throws(SoundReportError) -> SoundReport {
    let sound = try readSound(path)
    guard sound.channels > 0, sound.sampleRate > 0, !sound.samples.isEmpty else {
      throw SoundReportError(.empty, path: path, reason: "it holds no samples.")
    }
    let level = try loudness(of: sound, path: path)
    let frames = sound.samples.count / sound.channels
    let milliseconds = 1000 / Double(sound.sampleRate)
    let threshold = pow(10, silenceThresholdDBFS / 20)
    let first = sound.samples.firstIndex { abs(Double($0)) > threshold }.map { $0 / sound.channels }
    let last = sound.samples.lastIndex { abs(Double($0)) > threshold }.map { $0 / sound.channels }
    var step: Double = 0
    var previous = [Float](repeating: 0, count: sound.channels)
    for (index, sample) in sound.samples.enumerated() {
      step = max(step, abs(Double(sample) - Double(previous[index % sound.channels])))
      previous[index % sound.channels] = sample
    }
    for sample in previous { step = max(step, abs(Double(sample))) }
    return SoundReport(
      frames: frames, sampleRate: sound.sampleRate, channels: sound.channels, container: sound.container,
      encoding: sound.encoding, durationMilliseconds: Double(frames) * milliseconds, loudnessLUFS: level.loudness,
      truePeakDBTP: 20 * log10(level.truePeak), samplePeak: sound.samples.reduce(0) { max($0, abs(Double($1))) },
      leadingSilenceMilliseconds: Double(first ?? frames) * milliseconds,
      trailingSilenceMilliseconds: Double(last.map { frames - 1 - $0 } ?? frames) * milliseconds,
      dcOffset: sound.samples.reduce(0) { $0 + Double($1) } / Double(sound.samples.count), largestStep: step)
  }
}

/// The reason why a sound file could not be measured.
public struct SoundReportError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable {
    case unreadable
    case empty
    case meterFailed
  }

  public var code: Code
  public var path: String
  public var reason: String

  init(_ code: Code, path: String, reason: String) {
    self.code = code
    self.path = path
    self.reason = reason
  }

  public var description: String { "The sound file \(path) cannot be measured: \(reason)" }
}

/// Interleaved samples, where 1 is full scale, and the values from the header.
private struct Sound {
  var samples: [Float]
  var sampleRate: Int
  var channels: Int
  var container: String
  var encoding: String
}

private func readSound(_ path: String) throws(SoundReportError) -> Sound {
  var info = SF_INFO()
  guard let handle = unsafe sf_open(path, Int32(SFM_READ), &info) else {
    throw SoundReportError(.unreadable, path: path, reason: "it is missing or no sound file that libsndfile knows.")
  }
  defer { unsafe sf_close(handle) }
  func name(_ command: Int, _ format: Int32) -> String {
    var description = unsafe SF_FORMAT_INFO()
    unsafe description.format = format
    // unsafe: the names are constants of the library.
    unsafe sf_command(handle, Int32(command), &description, Int32(MemoryLayout<SF_FORMAT_INFO>.size))
    return unsafe description.name.map { unsafe String(cString: $0) } ?? ""
  }
  let channels = Int(info.channels)
  var samples: [Float] = []
  var piece = [Float](repeating: 0, count: 4096 * channels)
  while true {
    // unsafe: `piece` has room for 4,096 frames.
    let count = unsafe piece.withUnsafeMutableBufferPointer { unsafe sf_readf_float(handle, $0.baseAddress, 4096) }
    guard count > 0 else { break }
    samples.append(contentsOf: piece[..<(Int(count) * channels)])
  }
  guard unsafe sf_error(handle) == 0, samples.count == Int(info.frames) * channels else {
    throw SoundReportError(.unreadable, path: path, reason: "its samples end before its header says.")
  }
  return Sound(
    samples: samples, sampleRate: Int(info.samplerate), channels: channels,
    container: name(Int(SFC_GET_FORMAT_INFO), info.format & Int32(SF_FORMAT_TYPEMASK)),
    encoding: name(Int(SFC_GET_FORMAT_INFO), info.format & Int32(SF_FORMAT_SUBMASK)))
}

private func loudness(
  of sound: Sound, path: String
) throws(SoundReportError) -> (loudness: Double, truePeak: Double) {
  let mode = Int32(EBUR128_MODE_I.rawValue | EBUR128_MODE_TRUE_PEAK.rawValue)
  var state = unsafe ebur128_init(UInt32(sound.channels), UInt(sound.sampleRate), mode)
  guard unsafe state != nil else {
    throw SoundReportError(.meterFailed, path: path, reason: "libebur128 does not measure at its sample rate.")
  }
  defer { unsafe ebur128_destroy(&state) }
  var loudness = 0.0
  var truePeak = 0.0
  // unsafe: the array contains complete frames.
  var failed = unsafe sound.samples.withUnsafeBufferPointer {
    unsafe ebur128_add_frames_float(state, $0.baseAddress, $0.count / sound.channels) != 0
  }
  failed = unsafe failed || ebur128_loudness_global(state, &loudness) != 0
  for channel in 0..<UInt32(sound.channels) {
    var peak = 0.0
    failed = unsafe failed || ebur128_true_peak(state, channel, &peak) != 0
    truePeak = max(truePeak, peak)
  }
  guard !failed else { throw SoundReportError(.meterFailed, path: path, reason: "libebur128 refused a call.") }
  return (loudness, truePeak)
}
