// SPDX-License-Identifier: Apache-2.0

import Mastering
import Resampling
import SoundFiles
import SoundHeaders
import Waveforms

/// The format of samples that a server sends: linear PCM, little-endian, interleaved.
struct PCMFormat: Sendable, Hashable {
  /// The sample rate in Hz.
  var rate: Int
  /// The bytes of a sample.
  var width: Int
  var channels: Int

  /// - Throws: `formatUnsupported`.
  init(rate: Int, width: Int, channels: Int, within limits: SpeechServerLimits) throws(SpeechServerError) {
    guard limits.sampleRates.contains(rate), width == 2, limits.channels.contains(channels) else {
      throw SpeechServerError.format(
        "\(channels) channels of \(width) bytes a sample at \(rate) Hz", limits)
    }
    (self.rate, self.width, self.channels) = (rate, width, channels)
  }

  var bytesPerFrame: Int { width * channels }
}

/// The samples of a sound that a server is sending.
struct ReceivedSound: Sendable {
  let format: PCMFormat
  private let mostBytes: Int
  private let mostSeconds: Int
  private var bytes: [UInt8] = []

  init(_ format: PCMFormat, within limits: SpeechServerLimits) {
    self.format = format
    mostSeconds = limits.mostSeconds
    mostBytes = limits.mostSeconds * format.rate * format.bytesPerFrame
  }

  /// - Throws: `soundTooLong`. The bytes are then discarded.
  mutating func append(_ piece: some Collection<UInt8>) throws(SpeechServerError) {
    guard bytes.count + piece.count <= mostBytes else { throw .tooLong(mostSeconds) }
    bytes.append(contentsOf: piece)
  }

  /// Returns the whole sound, with one channel, at the rate of the pipeline.
  ///
  /// - Throws: `noSound`; `lengthMismatch` for an incomplete sample.
  func waveform() throws(SpeechServerError) -> Waveform {
    guard !bytes.isEmpty else { throw .noSound }
    guard bytes.count.isMultiple(of: format.bytesPerFrame) else {
      throw SpeechServerError(
        .lengthMismatch, "sent \(bytes.count) bytes of sound, which end within a sample",
        remedy: "update or restart the server")
    }
    let samples = stride(from: 0, to: bytes.count, by: format.bytesPerFrame).map { start in
      let sum = (0..<format.channels).reduce(0) { sum, channel in
        let place = start + 2 * channel
        return sum + Int(Int16(truncatingIfNeeded: Int(bytes[place]) | Int(bytes[place + 1]) << 8))
      }
      return Int16(truncatingIfNeeded: sum / format.channels)  // The mean of 16-bit samples fits into 16 bits.
    }
    return try Waveform(samples: samples, sampleRate: format.rate).atPipelineRate()
  }
}

/// A WAV file that a server sent.
enum ReceivedWAV {
  /// Reads a file. The lengths in its header must match the file. A server that sends a sound while it makes it does
  /// not know the lengths yet, so it leaves them out or writes the largest number instead. In that case, the sound ends
  /// where the HTTP answer ends.
  ///
  /// - Parameter endIsKnown: Whether the HTTP answer marks its own end. If not, the end of the connection is the only
  ///   sign of the answer's end.
  /// - Throws: `answerInvalid`, `formatUnsupported`, `lengthMismatch`, `soundTooLong`, `noSound`.
  static func waveform(
    _ bytes: [UInt8], endIsKnown: Bool, within limits: SpeechServerLimits
  ) throws(SpeechServerError) -> Waveform {
    guard !bytes.isEmpty else { throw .noSound }
    guard let header = SoundHeader(of: bytes), header.container == .wav, let rate = header.sampleRate,
      let channels = header.channels
    else { throw .invalid("sent an answer that is not a WAV file") }
    guard limits.sampleRates.contains(rate), limits.channels.contains(channels), isReadable(header.codec) else {
      throw .format("a WAV file with \(channels) channels at \(rate) Hz", limits)
    }
    for fault in header.faults {
      switch fault {
      case .truncated(let stated, _) where stated < openEnd / (2 * channels): throw .cut
      case .truncated, .lengthMissing: guard endIsKnown else { throw .cut }
      case .mismatch: throw .invalid("sent a WAV file that contradicts itself")
      }
    }
    guard let frames = header.storedFrames, frames > 0 else { throw .noSound }
    guard frames <= limits.mostSeconds * rate else { throw .tooLong(limits.mostSeconds) }
    let waveform: Waveform
    do throws(SoundFileError) {
      // libsndfile reads a file with a length of 0 as an empty sound.
      let isOpen = header.faults.contains(.lengthMissing)
      let file = isOpen ? SoundHeader.readable(bytes) ?? bytes : bytes
      waveform = try SoundFiles.mix(file, longestSeconds: limits.mostSeconds)
    } catch {
      throw .invalid("sent a WAV file that cannot be read")
    }
    guard !waveform.samples.isEmpty else { throw .noSound }
    return try waveform.atPipelineRate()
  }

  /// A stated length of this many bytes or more is not a real length: programs that write into a pipe state 2 or 4 GiB
  /// minus the length of a header.
  private static let openEnd = 0x7FFF_0000

  private static func isReadable(_ codec: SoundCodec?) -> Bool {
    switch codec {
    case .pcm(let bits): [16, 24, 32].contains(bits)
    case .float(let bits): bits == 32
    default: false
    }
  }
}

extension Waveform {
  /// Returns the sound at the rate at which sounds are mastered and joined.
  fileprivate func atPipelineRate() throws(SpeechServerError) -> Waveform {
    do throws(ResamplingError) {
      return Waveform(
        samples: try Resampler.convert(samples, from: sampleRate, to: Mastering.sampleRate),
        sampleRate: Mastering.sampleRate)
    } catch {
      throw SpeechServerError(
        .formatUnsupported, "sent a sound whose rate of \(sampleRate) Hz cannot be converted",
        remedy: "choose a voice with another sample rate")
    }
  }
}

extension SpeechServerError {
  static func format(_ what: String, _ limits: SpeechServerLimits) -> SpeechServerError {
    SpeechServerError(
      .formatUnsupported, "sent \(what)",
      remedy: "set it to \(limits.channels.lowerBound) or \(limits.channels.upperBound) channels of 16 bits at "
        + "\(limits.sampleRates.lowerBound) to \(limits.sampleRates.upperBound) Hz")
  }

  static func tooLong(_ seconds: Int) -> SpeechServerError {
    SpeechServerError(.soundTooLong, "sent more than \(seconds) s of sound", remedy: "update or restart the server")
  }

  static func invalid(_ problem: String) -> SpeechServerError {
    SpeechServerError(
      .answerInvalid, problem, remedy: "check that the address belongs to a speech server of this protocol")
  }

  static var noSound: SpeechServerError {
    SpeechServerError(.noSound, "ended its answer without a sound", remedy: "check its voice, and look into its log")
  }

  /// The error for a sound that is shorter than its header states, or whose end cannot be known.
  static var cut: SpeechServerError {
    SpeechServerError(
      .lengthMismatch, "sent a sound that may be incomplete", remedy: "update or restart the server")
  }
}
