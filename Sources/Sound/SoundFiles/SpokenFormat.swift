// SPDX-License-Identifier: Apache-2.0

import SoundHeaders
public import Waveforms

/// The format of a sound for a program that asked for a text to be spoken. The formats of clips, which phones play, are
/// in ``SoundFormat``.
public enum SpokenFormat: String, Sendable, Hashable, CaseIterable {
  /// MPEG-2 layer III with a variable rate, about 90 kbit/s at 22,050 Hz.
  case mp3
  /// FLAC with 16 bits. Every sample is kept.
  case flac
  /// WAV with 16-bit PCM.
  case wav
  /// Only the samples: 16 bits, little-endian, without a header.
  case pcm

  /// The formats that can be written on this machine. MP3 and FLAC need a libsndfile that was built with them; Debian's
  /// has both.
  public static let writable = allCases.filter(\.isWritable)

  private var isWritable: Bool {
    switch self {
    case .wav, .pcm: true
    case .mp3, .flac: (try? SoundStream(writing: self, sampleRate: 22_050)) != nil
    }
  }

  /// Returns a sound in this format. Equal waveforms give equal bytes on machines with the same libraries. Marks are
  /// not written.
  ///
  /// An MP3 decodes to the same number of samples if its reader takes into account the encoder's delay in the first
  /// frame, as libsndfile and FFmpeg do. Its peaks were at most 0.1 dB higher than those of the waveform (five texts,
  /// measured with libsndfile 1.2.0 and LAME 3.100).
  ///
  /// - Throws: `SoundFileError` with `writingFailed`, also for a format that is not in ``writable``.
  public func encode(_ waveform: Waveform) throws(SoundFileError) -> [UInt8] {
    switch self {
    case .wav: return WAVFile.encode(waveform, comment: nil)
    case .pcm:
      return waveform.samples.flatMap { sample in
        let bits = UInt16(bitPattern: sample)
        return [UInt8(truncatingIfNeeded: bits), UInt8(truncatingIfNeeded: bits >> 8)]
      }
    case .mp3, .flac:
      var stream = try SoundStream(writing: self, sampleRate: waveform.sampleRate)
      try stream.write(waveform.samples)
      return try stream.close()
    }
  }
}
