// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
  private import Darwin
#elseif canImport(Glibc)
  private import Glibc
#elseif canImport(Musl)
  private import Musl
#endif
private import Resampling
import Waveforms

/// What the system says when a file cannot be written.
struct SystemCallError: Error, CustomStringConvertible {
  let number: Int32

  static var last: SystemCallError { SystemCallError(number: errno) }

  var description: String { unsafe String(cString: strerror(number)) }  // ends with NUL; copied at once
}

/// A file that only grows.
final class AppendingFile: Sendable {
  private let descriptor: Int32

  init(path: String) throws(SystemCallError) {
    // A pipe that nobody reads is an error, and not to be waited for.
    descriptor = unsafe path.withCString {
      unsafe open($0, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0o600)
    }
    guard descriptor >= 0 else { throw .last }
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
  }

  deinit { close(descriptor) }

  /// One call of `write(2)`: another process that appends comes before or after all the bytes.
  func append(_ bytes: [UInt8]) throws(SystemCallError) {
    while true {
      let count = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
      if count == bytes.count { return }
      if count >= 0 { throw SystemCallError(number: ENOSPC) }
      if errno != EINTR { throw .last }
    }
  }
}

/// A WAV file of all that is heard over a time. Silence is a hole in the file and takes no space.
///
/// Used on one thread. At 4 GiB, RIFF's limit and a day at 22,050 Hz, nothing is added any more.
final class TimelineFile {
  private let descriptor: Int32
  private let rate: Int
  private var start: Duration?
  private var frames = 0

  init(path: String, rate: Int) throws(SystemCallError) {
    self.rate = rate
    descriptor = unsafe path.withCString { unsafe open($0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600) }
    guard descriptor >= 0 else { throw .last }
    try writeHeader()
  }

  deinit { close(descriptor) }

  /// - Parameter time: when it began; one that would overlap the sound before follows it.
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

  private func writeHeader() throws(SystemCallError) {
    // The header of an empty file, with the lengths of this one.
    var header = WAVFile.encode(Waveform(samples: [], sampleRate: rate))
    for (offset, length) in [(4, 36 + frames * 2), (40, frames * 2)] {
      for byte in 0..<4 { header[offset + byte] = UInt8(truncatingIfNeeded: length >> (8 * byte)) }
    }
    try write(header, at: 0)
  }

  private func write(_ values: [some FixedWidthInteger], at offset: Int) throws(SystemCallError) {
    var done = 0
    let bytes = values.flatMap { value in unsafe withUnsafeBytes(of: value.littleEndian) { unsafe Array($0) } }
    while done < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { source in
        // Within the array: `done` is below its count.
        let rest = unsafe UnsafeRawBufferPointer(rebasing: source[done...])
        return unsafe pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset + done))
      }
      if count < 0, errno != EINTR { throw .last }
      done += max(0, count)
    }
  }
}
