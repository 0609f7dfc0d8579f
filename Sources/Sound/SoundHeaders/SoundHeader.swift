// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The values that a sound file's header states, compared with the bytes that follow it.
public struct SoundHeader: Sendable, Hashable {
  /// A wrong statement in the header.
  public enum Fault: Sendable, Hashable {
    /// The header states more frames than the file has.
    case truncated(stated: Int, present: Int)
    /// The header states no length, for example because a program wrote the file into a pipe.
    case lengthMissing
    /// Two statements contradict each other, or a statement contradicts the file. The text says which, as a sentence.
    case mismatch(String)
  }

  public var container: SoundContainer
  public var codec: SoundCodec?
  /// The sample rate in Hz; `nil` when the header states none.
  public var sampleRate: Int?
  public var channels: Int?
  /// The length of the sound in frames, as stated by the header. If it states none, the number of frames in the file.
  public var frames: Int?
  /// The number of complete frames in the file, including the silence that fills the last block of a block encoding.
  public var storedFrames: Int?
  /// Whether the header of a CAF leaves the length open, which the format permits. If such a file is truncated, this
  /// cannot be noticed.
  public var isOpenEnded = false
  public var faults: [Fault] = []

  public init(container: SoundContainer, codec: SoundCodec? = nil) {
    self.container = container
    self.codec = codec
  }

  /// The duration in ms, rounded down; `nil` when the rate or the length is unknown.
  ///
  /// It is rounded down, because a sound just below 30 s could otherwise be shown as 30,000 ms.
  public var durationMilliseconds: Int? {
    guard let frames, let sampleRate, sampleRate > 0 else { return nil }
    let (product, overflow) = frames.multipliedReportingOverflow(by: 1000)
    return overflow ? nil : product / sampleRate
  }

  /// Reads the header of a file. The first bytes of the file tell its kind.
  ///
  /// - Returns: Nil if the file is not a sound, or if there is no reader for its kind. WAVE, AIFF, CAF, MPEG-4 and AAC
  ///   have a reader.
  public init?(of file: [UInt8]) {
    self.init(HeaderBytes(bytes: file))
  }

  /// Reads only the header of a file on the disk.
  ///
  /// - Returns: Nil if the file cannot be read or is not a sound, or if there is no reader for its kind.
  public init?(ofFileAt file: URL) {
    guard let bytes = try? HeaderBytes(file: file) else { return nil }
    self.init(bytes)
  }

  private init?(_ bytes: HeaderBytes) {
    guard let container = SoundContent.container(bytes), let header = Self.read(bytes, container) else { return nil }
    self = header
  }

  /// Reads the header of a file of a known kind; nil if there is no reader for it.
  package static func read(_ file: HeaderBytes, _ container: SoundContainer) -> SoundHeader? {
    switch container {
    case .wav: WAVHeader(file).header
    case .aiff: AIFFHeader(file).header
    case .caf: CAFHeader(file).header
    case .m4a: MP4Header.read(file)
    case .aac: ADTSHeader.read(file)
    default: nil
    }
  }

  mutating func report(_ text: String) { faults.append(.mismatch(text)) }

  /// Sets the frames of a sound whose encoding stores a fixed number of frames in each block of a fixed number of
  /// bytes.
  ///
  /// - Parameters:
  ///   - stated: the bytes of sound that the header states; `nil` when it states none.
  ///   - present: the bytes of sound in the file.
  mutating func setFrames(stated: Int?, present: Int, bytesPerBlock: Int, framesPerBlock: Int) {
    guard bytesPerBlock > 0, framesPerBlock > 0 else { return }
    let whole = present / bytesPerBlock * framesPerBlock
    storedFrames = whole
    frames = whole
    guard let stated else { return }
    if stated > present {
      // A header can state any number, so the product must not overflow.
      let promised = min(stated / bytesPerBlock, 1 << 48) * framesPerBlock
      frames = promised
      faults.append(.truncated(stated: promised, present: whole))
    } else if stated % bytesPerBlock != 0 {
      report("The \(stated) bytes of sound are not a whole number of frames.")
    }
  }
}
