// SPDX-License-Identifier: Apache-2.0

import FileSystem
private import Resampling
import Waveforms

/// A WAV file of everything that is heard over a time. Silence is a hole in the file and takes no disk space.
///
/// Use it on one thread only. No sound is added beyond 4 GiB, which is RIFF's limit and lasts a day at 22,050 Hz.
final class TimelineFile {
  private let file: RandomAccessFile
  private let rate: Int
  private var start: Duration?
  private var frames = 0

  init(path: String, rate: Int) throws(SystemError) {
    self.rate = rate
    file = try RandomAccessFile(path: path)
    try writeHeader()
  }

  /// Adds a sound.
  ///
  /// - Parameter time: the time at which the sound began. A sound that would overlap the previous one follows it
  ///   instead.
  func add(_ sound: Waveform, at time: Duration) throws {
    let samples = try Resampler.convert(sound.samples, from: sound.sampleRate, to: rate)
    let first = start ?? time
    start = first
    let elapsed = time - first
    let place = max(frames, Int((elapsed / .seconds(1) * Double(rate)).rounded()))
    guard !samples.isEmpty, (place + samples.count) * 2 < Int(UInt32.max) - 44 else { return }
    try write(samples, at: 44 + place * 2)
    frames = place + samples.count
    try writeHeader()
  }

  private func writeHeader() throws(SystemError) {
    // The header is that of an empty file, with this file's lengths inserted.
    var header = WAVFile.encode(Waveform(samples: [], sampleRate: rate))
    for (offset, length) in [(4, 36 + frames * 2), (40, frames * 2)] {
      for byte in 0..<4 { header[offset + byte] = UInt8(truncatingIfNeeded: length >> (8 * byte)) }
    }
    try write(header, at: 0)
  }

  private func write(_ values: [some FixedWidthInteger], at offset: Int) throws(SystemError) {
    try file.write(
      values.flatMap { value in unsafe withUnsafeBytes(of: value.littleEndian) { unsafe Array($0) } }, at: offset)
  }
}
