// SPDX-License-Identifier: Apache-2.0

private import CSndFile

/// The bytes of an open `SoundStream`. libsndfile reads, writes and seeks in them as in a file.
private final class MemoryFile {
  var bytes: [UInt8]
  var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Returns the object that was passed to libsndfile as `userData`.
  static func from(_ userData: UnsafeMutableRawPointer?) -> MemoryFile? {
    // unsafe: the stream that opened the handle keeps the object alive until after the handle is closed.
    unsafe userData.map { unsafe Unmanaged<MemoryFile>.fromOpaque($0).takeUnretainedValue() }
  }

  func seek(_ offset: Int, whence: Int32) -> Int {
    let base = whence == SF_SEEK_SET ? 0 : whence == SF_SEEK_CUR ? position : bytes.count
    let (target, overflow) = base.addingReportingOverflow(offset)
    guard !overflow, target >= 0 else { return -1 }
    position = target
    return position
  }

  func read(into target: UnsafeMutableRawBufferPointer) -> Int {
    let start = min(position, bytes.count)
    let end = min(bytes.count, start + target.count)
    unsafe target.copyBytes(from: bytes[start..<end])  // At most as many as the target can hold.
    position = end
    return end - start
  }

  func write(_ source: UnsafeRawBufferPointer) -> Int {
    if position > bytes.count {
      bytes.append(contentsOf: repeatElement(0, count: position - bytes.count))
    }
    unsafe bytes.replaceSubrange(position..<min(bytes.count, position + source.count), with: source)
    position += source.count
    return source.count
  }
}

/// A sound file in memory that is open for reading or writing through libsndfile.
@safe  // The handle is private, belongs only to this value and is closed once.
struct SoundStream: ~Copyable {
  private var handle: OpaquePointer?
  private let memory: MemoryFile

  private(set) var sampleRate: Int
  private(set) var channels: Int

  /// The number of frames that the header states.
  private(set) var frames: Int

  private let format: Int32

  init(reading bytes: [UInt8]) throws(SoundFileError) {
    memory = MemoryFile(bytes)
    var info = SF_INFO()
    unsafe handle = unsafe Self.open(memory, SFM_READ, &info)
    guard unsafe handle != nil else {
      throw SoundFileError(.malformed, "the bytes are not a complete WAV, AIFF or CAF file.")
    }
    (sampleRate, channels, frames) = (Int(info.samplerate), Int(info.channels), Int(info.frames))
    format = info.format
  }

  init(writing soundFormat: SoundFormat, sampleRate: Int) throws(SoundFileError) {
    try self.init(
      writing: Self.code(soundFormat.container) | Self.code(soundFormat.encoding),
      named: "\(soundFormat.container) with \(soundFormat.encoding)", sampleRate)
  }

  /// - Parameter spokenFormat: A format that libsndfile writes.
  init(writing spokenFormat: SpokenFormat, sampleRate: Int) throws(SoundFileError) {
    try self.init(writing: Self.code(spokenFormat), named: spokenFormat.rawValue, sampleRate)
    guard spokenFormat == .mp3 else { return }
    // This is the best quality, with a variable bit rate. A constant bit rate would make the file twice as large, and
    // the sound quieter by 0.4 LU (measured, libsndfile 1.2.0 with LAME 3.100).
    var quality = 0.0
    unsafe sf_command(handle, Int32(SFC_SET_COMPRESSION_LEVEL), &quality, Int32(MemoryLayout<Double>.size))
    var mode = Int32(SF_BITRATE_MODE_VARIABLE)
    unsafe sf_command(handle, Int32(SFC_SET_BITRATE_MODE), &mode, Int32(MemoryLayout<Int32>.size))
  }

  private init(writing code: Int32, named name: String, _ sampleRate: Int) throws(SoundFileError) {
    memory = MemoryFile([])
    (self.sampleRate, channels, frames) = (sampleRate, 1, 0)
    format = code
    var info = SF_INFO()
    info.samplerate = Int32(clamping: sampleRate)
    info.channels = 1
    info.format = format
    unsafe handle = unsafe Self.open(memory, SFM_WRITE, &info)
    guard unsafe handle != nil else {
      throw SoundFileError(.writingFailed, "libsndfile cannot write \(name) at \(sampleRate) Hz.")
    }
    // By default, only floating-point files get this chunk, which contains a time stamp. It is turned off here in case
    // libsndfile changes that default.
    unsafe sf_command(handle, Int32(SFC_SET_ADD_PEAK_CHUNK), nil, Int32(SF_FALSE))
  }

  deinit {
    if let handle = unsafe handle { unsafe sf_close(handle) }
  }

  /// The container and encoding of the file, if they are supported.
  var soundFormat: SoundFormat? {
    let container = SoundFormat.Container.allCases.first {
      Self.code($0) == format & Int32(SF_FORMAT_TYPEMASK)
    }
    let encoding = SoundFormat.Encoding.allCases.first {
      Self.code($0) == format & Int32(SF_FORMAT_SUBMASK)
    }
    guard let container, let encoding else { return nil }
    return SoundFormat(container: container, encoding: encoding)
  }

  var comment: String? {
    // unsafe: libsndfile's string ends with NUL and lives as long as the handle.
    unsafe sf_get_string(handle, Int32(SF_STR_COMMENT)).map { unsafe String(cString: $0) }
  }

  /// Sets the comment. Call it before the first sample is written.
  mutating func setComment(_ comment: String) throws(SoundFileError) {
    try Self.check(
      unsafe sf_set_string(handle, Int32(SF_STR_COMMENT), comment), .writingFailed, "writing the comment")
  }

  mutating func write(_ samples: [Int16]) throws(SoundFileError) {
    // unsafe: there is one channel, so the array has as many frames as samples.
    let written = unsafe samples.withUnsafeBufferPointer {
      unsafe sf_writef_short(handle, $0.baseAddress, sf_count_t($0.count))
    }
    guard written == samples.count else {
      throw SoundFileError(.writingFailed, "libsndfile wrote \(written) of \(samples.count) samples.")
    }
  }

  /// Reads all frames of a mono file in pieces, so that the frame number in a file's header does not determine the
  /// memory use.
  mutating func readAll() throws(SoundFileError) -> [Int16] {
    var samples: [Int16] = []
    var piece = [Int16](repeating: 0, count: 65_536)
    while true {
      let count = unsafe piece.withUnsafeMutableBufferPointer {
        unsafe sf_readf_short(handle, $0.baseAddress, sf_count_t($0.count))
      }
      try Self.check(unsafe sf_error(handle), .malformed, "reading the samples")
      guard count > 0 else { return samples }
      samples.append(contentsOf: piece[..<Int(count)])
    }
  }

  /// Reads all frames of a file with any number of channels. Each resulting sample is the mean of the channels.
  ///
  /// - Parameter limit: the largest number of frames. A longer file is refused as `malformed`, so that it cannot
  ///   exhaust memory.
  mutating func readMean(limit: Int) throws(SoundFileError) -> [Int16] {
    var samples: [Int16] = []
    while true {
      // Read as floating-point numbers, because libsndfile does not scale floating-point samples to integers (seen with
      // 1.2.0: such a file was read as silence).
      let piece = try nextFrames(atMost: 16_384)
      guard !piece.isEmpty else { return samples }
      guard samples.count + piece.count / channels <= limit else {
        throw SoundFileError(.malformed, "it is longer than \(limit / max(1, sampleRate)) s.")
      }
      for start in stride(from: 0, to: piece.count, by: channels) {
        samples.append(Self.sample(piece[start..<start + channels].reduce(0, +) / Float(channels)))
      }
    }
  }

  /// Returns a 16-bit sample for a value whose full scale is ±1, rounded with halves to even. A value beyond full scale
  /// is limited to full scale. A value that is not a number becomes silence.
  static func sample(_ value: Float) -> Int16 {
    guard !value.isNaN else { return 0 }
    return Int16(max(-32_768, min(32_767, (value * 32_768).rounded(.toNearestOrEven))))
  }

  /// Reads the next frames with all their channels, interleaved; full scale is ±1. The array is empty at the end.
  mutating func nextFrames(atMost length: Int) throws(SoundFileError) -> [Float] {
    // unsafe: libsndfile writes at most `length` frames of `channels` samples.
    let piece = unsafe [Float](unsafeUninitializedCapacity: length * channels) { target, count in
      count = unsafe max(0, Int(sf_readf_float(handle, target.baseAddress, sf_count_t(length)))) * channels
    }
    try Self.check(unsafe sf_error(handle), .malformed, "reading the samples")
    return piece
  }

  /// Ends writing and returns the complete file.
  mutating func close() throws(SoundFileError) -> [UInt8] {
    let status = unsafe sf_close(handle)
    unsafe handle = nil
    try Self.check(status, .writingFailed, "finishing the file")
    return memory.bytes
  }

  private static func check(
    _ status: Int32, _ code: SoundFileError.Code, _ action: String
  ) throws(SoundFileError) {
    guard status == 0 else {
      let text = unsafe String(cString: sf_error_number(status))  // A constant of the library.
      throw SoundFileError(code, "libsndfile failed while \(action): \(text)")
    }
  }

  private static func open(_ memory: MemoryFile, _ mode: Int, _ info: inout SF_INFO) -> OpaquePointer? {
    var callbacks = unsafe SF_VIRTUAL_IO(
      get_filelen: { userData in unsafe sf_count_t(MemoryFile.from(userData)?.bytes.count ?? -1) },
      seek: { offset, whence, userData in
        unsafe sf_count_t(MemoryFile.from(userData)?.seek(Int(offset), whence: whence) ?? -1)
      },
      read: { target, count, userData in
        let target = unsafe UnsafeMutableRawBufferPointer(start: target, count: max(0, Int(count)))
        return unsafe sf_count_t(MemoryFile.from(userData)?.read(into: target) ?? 0)
      },
      write: { source, count, userData in
        let source = unsafe UnsafeRawBufferPointer(start: source, count: max(0, Int(count)))
        return unsafe sf_count_t(MemoryFile.from(userData)?.write(source) ?? 0)
      },
      tell: { userData in unsafe sf_count_t(MemoryFile.from(userData)?.position ?? -1) })
    // unsafe: libsndfile copies the table. The object outlives the handle, because the stream holds both.
    return unsafe sf_open_virtual(&callbacks, Int32(mode), &info, Unmanaged.passUnretained(memory).toOpaque())
  }

  private static func code(_ container: SoundFormat.Container) -> Int32 {
    switch container {
    case .wav: Int32(SF_FORMAT_WAV)
    case .aiff: Int32(SF_FORMAT_AIFF)
    case .caf: Int32(SF_FORMAT_CAF)
    }
  }

  private static func code(_ spokenFormat: SpokenFormat) -> Int32 {
    switch spokenFormat {
    case .mp3: Int32(SF_FORMAT_MPEG) | Int32(SF_FORMAT_MPEG_LAYER_III)
    case .flac: Int32(SF_FORMAT_FLAC) | Int32(SF_FORMAT_PCM_16)
    case .wav: Int32(SF_FORMAT_WAV) | Int32(SF_FORMAT_PCM_16)
    case .pcm: Int32(SF_FORMAT_RAW) | Int32(SF_FORMAT_PCM_16)
    }
  }

  private static func code(_ encoding: SoundFormat.Encoding) -> Int32 {
    switch encoding {
    case .pcm16: Int32(SF_FORMAT_PCM_16)
    case .ulaw: Int32(SF_FORMAT_ULAW)
    case .alaw: Int32(SF_FORMAT_ALAW)
    case .ima4: Int32(SF_FORMAT_IMA_ADPCM)
    }
  }
}
