// SPDX-License-Identifier: Apache-2.0

/// The changes to the header of a WAV or AIFF file with which libsndfile can read the sound.
struct HeaderRepair {
  private let bytes: HeaderBytes
  private let isBigEndian: Bool
  /// The chunks that a sound reader needs or that are common in sound files.
  private let knownChunks: Set<String>
  /// The positions of missing padding bytes after chunks of odd length.
  private var missingPads: [Int] = []
  /// The correct length of the sound's chunk, and the position in the file where the header states this length.
  private var soundLength: (value: Int, position: Int)?

  init(_ bytes: HeaderBytes, isBigEndian: Bool, knownChunks: Set<String>) {
    self.bytes = bytes
    self.isBigEndian = isBigEndian
    self.knownChunks = knownChunks
  }

  /// Whether the padding byte after a chunk of odd length is missing, so that the next chunk follows immediately.
  ///
  /// - Parameter end: The position after the chunk's content.
  mutating func findMissingPad(at end: Int) -> Bool {
    // A padding byte is zero, which no chunk name begins with. If the byte is not zero, a known chunk must begin there.
    guard end + 8 <= bytes.count, let name = bytes.name(at: end),
      bytes.name(at: end + 1) == nil || knownChunks.contains(name)
    else { return false }
    missingPads.append(end)
    return true
  }

  /// Whether samples, and not another chunk, follow a sound chunk that states a length of zero.
  func isSound(at start: Int) -> Bool {
    guard start + 8 <= bytes.count else { return false }
    let length = isBigEndian ? bytes.big(4, at: start + 4) : bytes.little(4, at: start + 4)
    return bytes.name(at: start) == nil || length.map { $0 > bytes.count - start - 8 } ?? true
  }

  /// Extends the sound's chunk to the end of the file.
  ///
  /// - Parameter start: The position of the chunk's content.
  mutating func extendSound(from start: Int) { soundLength = (bytes.count - start, start - 4) }

  /// The mended file; `nil` if there is nothing to mend.
  var result: [UInt8]? {
    guard soundLength != nil || !missingPads.isEmpty else { return nil }
    var mended = bytes.bytes
    if let soundLength { set(soundLength.value, at: soundLength.position, in: &mended) }
    for position in missingPads.reversed() { mended.insert(0, at: position) }
    set(mended.count - 8, at: 4, in: &mended)
    return mended
  }

  private func set(_ value: Int, at position: Int, in file: inout [UInt8]) {
    let value = UInt32(clamping: value)
    let number = (0..<4).map { UInt8(truncatingIfNeeded: value >> UInt32($0 * 8)) }
    file.replaceSubrange(position..<position + 4, with: isBigEndian ? number.reversed() : number)
  }
}

extension SoundHeader {
  /// Returns a copy of a file, with the same samples, that libsndfile can read; `nil` if libsndfile reads the file as
  /// it is.
  ///
  /// Two kinds of files need a copy. One is a CAF that libsndfile cannot read. The other is a WAV or AIFF without the
  /// length of the sound, or without the byte that pads a chunk.
  package static func readable(_ bytes: [UInt8]) -> [UInt8]? {
    let file = HeaderBytes(bytes: bytes)
    return switch SoundContent.container(file) {
    case .caf: CAFHeader.readable(file)
    case .wav: WAVHeader(file).repair.result
    case .aiff: AIFFHeader(file).repair.result
    default: nil
    }
  }

  mutating func reportMissingPad(_ chunk: String) {
    report("The chunk “\(chunk)” has an odd length, and the byte that pads it is missing.")
  }
}
