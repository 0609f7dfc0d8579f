// SPDX-License-Identifier: Apache-2.0

private import CSndFile
public import Foundation

extension Recording {
  /// The largest file that is read, in bytes: 512 MiB.
  public static let maximumFileSize = 512 << 20

  /// The longest recording that is read, in seconds: 2 h.
  public static let maximumSeconds = 7200

  /// Reads a sound file in any format that libsndfile knows (WAV, FLAC, Ogg, AIFF, CAF, …), of any depth, at 4 to
  /// 192 kHz. It is opened for reading alone.
  ///
  /// Channels are averaged: a voice in the middle comes out at its level, and noise that differs between channels comes
  /// out softer. Not so channels 26 dB below the loudest (an unused input, which would halve the voice), and where the
  /// channels cancel each other (one wired the wrong way round); there the others, or the loudest alone, is taken.
  ///
  /// The file is read twice, in pieces, so that no more is in memory than the converted sound, 85 kB a second.
  /// - Throws: `PackMakingError`: `recordingUnreadable`, `tooLong`, `conversionFailed`; the subject is the file's name.
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
      throw unreadable("has more than 512 MiB", "cut the recording into shorter ones")
    }
    guard let handle = try? FileHandle(forReadingFrom: file) else {
      throw unreadable("may not be read", "check its permissions")
    }
    if let named = bytesNamed(by: handle), named > size {
      throw unreadable("is cut off: its header names \(named) bytes and there are \(size)", "copy or record it again")
    }
    do throws(PackMakingError) {
      var measured = try SourceChannels(handle)
      try measured.measure()
      let weights = measured.weights
      let offset = measured.offset(weights)
      // The second reading begins at the beginning, with a libsndfile that has seen nothing.
      guard (try? handle.seek(toOffset: 0)) != nil else {
        throw unreadable("cannot be read twice", "copy it to a disk")
      }
      var source = try SourceChannels(handle)
      let samples = try source.mix(weights, offset: Float(offset))
      return Recording(
        samples: samples, sourceOffset: offset, sourcePeak: measured.peak, clippedSamples: measured.clippedSamples)
    } catch {
      throw PackMakingError(error.code, name, error.problem, remedy: error.remedy)
    }
  }
}

extension Recording {
  /// How long the header of a WAV or AIFF file says it is, in bytes; `nil` where none does. libsndfile takes a file that
  /// was cut off for a shorter one. A writer that cannot go back leaves 0 or the highest length there, and means nothing.
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

/// A sound file's channels, read once from the beginning to the end.
@safe  // the handle is private, belongs to this value alone and is closed once
private struct SourceChannels: ~Copyable {
  private let handle: OpaquePointer?
  private let file: FileHandle  // keeps the descriptor open
  private let sampleRate: Int
  private let channels: Int
  private let frames: Int

  private(set) var peak: Float = 0
  private(set) var clippedSamples: [Int32] = []
  private var sums: [Double]
  private var squares: [Double]
  private var mixSquare = 0.0

  /// In each channel, how long the last sample has been standing still.
  private var runs: [(value: Float, length: Int32)]

  init(_ file: FileHandle) throws(PackMakingError) {
    var info = SF_INFO()
    // libsndfile reads through the descriptor and leaves it open.
    unsafe handle = unsafe sf_open_fd(file.fileDescriptor, Int32(SFM_READ), &info, Int32(SF_FALSE))
    self.file = file
    (sampleRate, channels, frames) = (Int(info.samplerate), Int(info.channels), Int(info.frames))
    sums = Array(repeating: 0, count: channels)
    squares = sums
    runs = Array(repeating: (0, 0), count: channels)
    guard unsafe handle != nil else {
      throw Self.unreadable("is no sound file that libsndfile reads", "save it as WAV or FLAC")
    }
    guard frames <= Recording.maximumSeconds * sampleRate else { throw Self.tooLong }
  }

  deinit {
    if let handle = unsafe handle { unsafe sf_close(handle) }
  }

  /// How much of each channel is in the mono sound.
  var weights: [Float] {
    let count = Double(max(1, framesRead))
    func power(_ sum: Double, _ square: Double) -> Double { max(0, square / count - (sum / count) * (sum / count)) }
    let powers = zip(sums, squares).map(power)
    let loudest = powers.max() ?? 0
    let heard = powers.map { $0 * 400 >= loudest }  // 26 dB
    let mixed = power(sums.reduce(0, +) / Double(channels), mixSquare)
    let cancels = mixed * 100 < loudest  // 20 dB: more than any delay between two microphones takes away
    let chosen = cancels ? powers.firstIndex(of: loudest).map { [$0] } ?? [] : heard.indices.filter { heard[$0] }
    return heard.indices.map { chosen.contains($0) ? 1 / Float(chosen.count) : 0 }
  }

  /// The mean of the mono sound.
  func offset(_ weights: [Float]) -> Double {
    zip(weights, sums).reduce(0) { $0 + Double($1.0) * $1.1 } / Double(max(1, framesRead))
  }

  private var framesRead = 0

  /// Finds the peak, the clipped samples and the channels' levels.
  mutating func measure() throws(PackMakingError) {
    guard (4_000...192_000).contains(sampleRate), channels > 0 else {
      throw Self.unreadable(
        "has \(channels) channels at \(sampleRate) Hz", "record at 4,000 to 192,000 Hz, best at 48,000 Hz")
    }
    while let piece = try next() {
      for frame in 0..<piece.count / channels {
        var mix = 0.0
        for channel in 0..<channels {
          let value = piece[frame * channels + channel]
          guard value.magnitude <= 65_536 else {  // also refuses what is no number
            throw Self.unreadable("holds samples far above full scale", "save it again with levels up to full scale")
          }
          peak = max(peak, value.magnitude)
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
        "ends after \(framesRead) of the \(frames) frames its header names", "copy or record it again")
    }
  }

  private mutating func countClipping(_ value: Float, channel: Int, frame: Int) {
    let length = value == runs[channel].value && value.magnitude >= 0.99 ? runs[channel].length + 1 : 1
    runs[channel] = (value, length)
    let block = frame * 100 / sampleRate
    while clippedSamples.count <= block { clippedSamples.append(0) }
    if length >= 3 { clippedSamples[block] += length == 3 ? 3 : 1 }
  }

  /// The weighted sum of the channels, less a constant, at ``Recording/sampleRate``.
  mutating func mix(_ weights: [Float], offset: Float) throws(PackMakingError) -> [Float] {
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

  /// Some whole frames, interleaved; nil at the end.
  private mutating func next() throws(PackMakingError) -> [Float]? {
    let length = 16_384
    // libsndfile writes at most `length` frames of `channels` samples.
    let piece = unsafe [Float](unsafeUninitializedCapacity: length * channels) { target, count in
      count = unsafe max(0, Int(sf_readf_float(handle, target.baseAddress, sf_count_t(length)))) * channels
    }
    let status = unsafe sf_error(handle)
    guard status == 0 else {
      let text = unsafe String(cString: sf_error_number(status))  // a constant of the library
      throw Self.unreadable("is damaged (libsndfile: \(text))", "copy or record it again")
    }
    position += piece.count / channels
    // The header was asked before; but it is not to be trusted.
    guard position <= Recording.maximumSeconds * sampleRate else { throw Self.tooLong }
    return piece.isEmpty ? nil : piece
  }

  private static func unreadable(_ problem: String, _ remedy: String) -> PackMakingError {
    PackMakingError(.recordingUnreadable, "The recording", problem, remedy: remedy)
  }

  private static var tooLong: PackMakingError {
    PackMakingError(.tooLong, "The recording", "lasts more than 2 h", remedy: "cut it into shorter ones")
  }
}
