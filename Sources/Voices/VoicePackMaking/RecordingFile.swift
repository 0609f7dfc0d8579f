// SPDX-License-Identifier: Apache-2.0

private import CSndFile
public import Foundation

extension Recording {
  /// The size of the largest readable file in bytes: 512 MiB.
  public static let maximumFileSize = 512 << 20

  /// The duration of the longest readable recording in seconds: 2 h.
  public static let maximumSeconds = 7200

  /// Reads a sound file in any format that libsndfile supports (WAV, FLAC, Ogg, AIFF, CAF, …), of any depth, at 4 to
  /// 192 kHz. The file is opened only for reading.
  ///
  /// The channels are averaged. A voice that is equal in all channels keeps its level, and noise that differs between
  /// channels becomes quieter. There are two exceptions. Channels that are 26 dB below the loudest are ignored, because
  /// averaging with an unused input would halve the voice. If the channels cancel each other because one has reversed
  /// polarity, only the loudest channel is used.
  ///
  /// The file is read twice, in pieces. Memory therefore holds only the converted sound, which takes 85 kB per second.
  ///
  /// - Throws: `PackMakingError`: `recordingUnreadable`, `tooLong`, `conversionFailed`. The error's subject is the
  ///   file's name.
  public static func read(_ file: URL) throws(PackMakingError) -> Recording {
    let name = file.lastPathComponent
    func unreadable(_ problem: String, _ remedy: String) -> PackMakingError {
      PackMakingError(.recordingUnreadable, name, problem, remedy: remedy)
    }
    let facts = try? file.resolvingSymlinksInPath().resourceValues(forKeys: [.isRegularFileKey, .fileSizeKey])
    guard let facts, facts.isRegularFile == true, let size = facts.fileSize else {
      throw unreadable("is missing or not a file", "check the name")
    }
    guard size <= maximumFileSize else {
      throw unreadable("has more than 512 MiB", "divide the recording into shorter ones")
    }
    guard let handle = try? FileHandle(forReadingFrom: file) else {
      throw unreadable("is not readable", "check its permissions")
    }
    if let named = bytesNamed(by: handle), named > size {
      throw unreadable("is cut off: its header states \(named) bytes, but there are \(size)", "copy or record it again")
    }
    do throws(PackMakingError) {
      var measured = try SourceChannels(handle, file)
      try measured.measure()
      let weights = measured.weights
      // The mean is removed before the conversion, which would turn it into a click at both ends.
      let offset = measured.offset(weights)
      // The second reading starts at the beginning with a new libsndfile handle.
      guard (try? handle.seek(toOffset: 0)) != nil else {
        throw unreadable("cannot be read twice", "copy it to a disk")
      }
      var source = try SourceChannels(handle, file)
      let samples = try source.mix(weights, offset: Float(offset))
      return Recording(
        samples: samples, sourceSampleRate: measured.sampleRate, clippedSamples: measured.clippedSamples)
    } catch {
      throw PackMakingError(error.code, name, error.problem, remedy: error.remedy)
    }
  }
}

extension Recording {
  /// Returns the length in bytes that the header of a WAV or AIFF file states; `nil` when the header states none. The
  /// length is needed because libsndfile reads a truncated file as a shorter one. A writer that cannot seek leaves 0 or
  /// the largest length in the header. Both values count as no length.
  private static func bytesNamed(by handle: FileHandle) -> Int? {
    defer { try? handle.seek(toOffset: 0) }
    guard let head = try? handle.read(upToCount: 8), head.count == 8 else { return nil }
    let length: Int
    switch String(decoding: head.prefix(4), as: UTF8.self) {
    case "RIFF": length = head.dropFirst(4).reversed().reduce(0) { $0 << 8 | Int($1) }
    case "FORM": length = head.dropFirst(4).reduce(0) { $0 << 8 | Int($1) }
    default: return nil
    }
    return length == 0 || length >= 0x7FFF_FFFF ? nil : length + 8
  }
}

/// The channels of a sound file. The file is read once from beginning to end.
@safe  // The handle is private, belongs only to this value and is closed once.
private struct SourceChannels: ~Copyable {
  private let handle: OpaquePointer?
  private let file: FileHandle  // Keeps the descriptor open.
  let sampleRate: Int
  private let channels: Int
  private let frames: Int

  private(set) var clippedSamples: [Int32] = []
  private var sums: [Double]
  private var squares: [Double]
  private var mixSquare = 0.0

  /// The current series of equal samples in each channel.
  private var runs: [(value: Float, length: Int32)]

  /// - Parameter place: the file's name and path, for the error.
  init(_ file: FileHandle, _ place: URL) throws(PackMakingError) {
    let name = place.lastPathComponent
    var info = SF_INFO()
    // libsndfile reads through the descriptor, but does not close it.
    unsafe handle = unsafe sf_open_fd(file.fileDescriptor, Int32(SFM_READ), &info, Int32(SF_FALSE))
    self.file = file
    (sampleRate, channels, frames) = (Int(info.samplerate), max(0, Int(info.channels)), Int(info.frames))
    sums = Array(repeating: 0, count: channels)
    squares = sums
    runs = Array(repeating: (0, 0), count: channels)
    guard unsafe handle != nil else {
      guard !RecordingNames.isReadable(name) else {
        throw Self.unreadable("is not a sound file that libsndfile can read", "save it as WAV or FLAC")
      }
      throw PackMakingError(
        .formatUnknown, name, "is not a sound file that libsndfile can read",
        remedy: "convert it: \(SoundConversion.line(for: place.relativePath))")
    }
    guard (4_000...192_000).contains(sampleRate), channels > 0 else {
      throw Self.unreadable(
        "has \(channels) channels at \(sampleRate) Hz", "record at 4,000 to 192,000 Hz, best at 48,000 Hz")
    }
    guard frames <= Recording.maximumSeconds * sampleRate else { throw Self.tooLong }
  }

  deinit {
    if let handle = unsafe handle { unsafe sf_close(handle) }
  }

  /// The weight of each channel in the mono sound.
  var weights: [Float] {
    let count = Double(max(1, framesRead))
    func power(_ sum: Double, _ square: Double) -> Double { max(0, square / count - (sum / count) * (sum / count)) }
    let powers = zip(sums, squares).map(power)
    let loudest = powers.max() ?? 0
    let heard = powers.map { $0 * 400 >= loudest }  // 26 dB
    let mixed = power(sums.reduce(0, +) / Double(channels), mixSquare)
    let cancels = mixed * 100 < loudest  // A delay between microphones cancels less than 20 dB.
    let chosen = cancels ? powers.firstIndex(of: loudest).map { [$0] } ?? [] : heard.indices.filter { heard[$0] }
    return heard.indices.map { chosen.contains($0) ? 1 / Float(chosen.count) : 0 }
  }

  /// Returns the mean of the mono sound.
  func offset(_ weights: [Float]) -> Double {
    zip(weights, sums).reduce(0) { $0 + Double($1.0) * $1.1 } / Double(max(1, framesRead))
  }

  private var framesRead = 0

  /// Measures the clipped samples and the channels' levels.
  mutating func measure() throws(PackMakingError) {
    while let piece = try next() {
      for frame in 0..<piece.count / channels {
        var mix = 0.0
        for channel in 0..<channels {
          let value = piece[frame * channels + channel]
          guard value.magnitude <= 65_536 else {  // Also refuses NaN.
            throw Self.unreadable("contains samples far above full scale", "save it again with levels up to full scale")
          }
          sums[channel] += Double(value)
          squares[channel] += Double(value) * Double(value)
          mix += Double(value)
          countClipping(value, channel: channel, frame: framesRead + frame)
        }
        mix /= Double(channels)
        mixSquare += mix * mix
      }
      framesRead += piece.count / channels
    }
    guard framesRead >= frames || frames == Int.max else {
      throw Self.unreadable(
        "ends after \(framesRead) of the \(frames) frames that its header states", "copy or record it again")
    }
  }

  private mutating func countClipping(_ value: Float, channel: Int, frame: Int) {
    let length = value == runs[channel].value && value.magnitude >= 0.99 ? runs[channel].length + 1 : 1
    runs[channel] = (value, length)
    let block = frame * 100 / sampleRate
    while clippedSamples.count <= block { clippedSamples.append(0) }
    if length >= 3 { clippedSamples[block] += length == 3 ? 3 : 1 }
  }

  /// Returns the sum of the channels, each multiplied by its weight, minus a constant. The rate is
  /// ``Recording/sampleRate``.
  mutating func mix(_ weights: [Float], offset: Float) throws(PackMakingError) -> [Float] {
    // Another program may have written to the file since it was measured.
    guard weights.count == channels else {
      throw Self.unreadable("changes while it is read", "wait until it is written")
    }
    var resampler = try RecordingResampler(from: sampleRate)
    var samples: [Float] = []
    while let piece = try next() {
      let mono = stride(from: 0, to: piece.count, by: channels).map { start in
        weights.indices.reduce(-offset) { $0 + piece[start + $1] * weights[$1] }
      }
      samples += try resampler.next(mono)
    }
    return try samples + resampler.finish()
  }

  private var position = 0

  /// Returns some complete frames, interleaved; `nil` at the end of the file.
  private mutating func next() throws(PackMakingError) -> [Float]? {
    let length = 16_384
    // unsafe: libsndfile writes at most `length` frames of `channels` samples.
    let piece = unsafe [Float](unsafeUninitializedCapacity: length * channels) { target, count in
      count = unsafe max(0, Int(sf_readf_float(handle, target.baseAddress, sf_count_t(length)))) * channels
    }
    let status = unsafe sf_error(handle)
    guard status == 0 else {
      let text = unsafe String(cString: sf_error_number(status))  // A constant of the library.
      throw Self.unreadable("is damaged (libsndfile: \(text))", "copy or record it again")
    }
    position += piece.count / channels
    // The length in the header was checked earlier, but the header may be wrong.
    guard position <= Recording.maximumSeconds * sampleRate else { throw Self.tooLong }
    return piece.isEmpty ? nil : piece
  }

  private static func unreadable(_ problem: String, _ remedy: String) -> PackMakingError {
    PackMakingError(.recordingUnreadable, "The recording", problem, remedy: remedy)
  }

  private static var tooLong: PackMakingError {
    PackMakingError(.tooLong, "The recording", "lasts more than 2 h", remedy: "divide it into shorter ones")
  }
}
