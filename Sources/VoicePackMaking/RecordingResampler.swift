// SPDX-License-Identifier: Apache-2.0

import Resampling

/// Converts a recording to a clip's rate, and says what is wrong in a recording's words.
///
/// Clips are converted once, when a pack is made; so a last bit that differs between processors matters to nobody.
struct RecordingResampler: ~Copyable {
  private var resampler: Resampler

  /// - Parameter source: 4,000 to 192,000 Hz; a clip's own rate converts nothing.
  /// - Throws: `PackMakingError`, `recordingUnreadable` for another rate, or `conversionFailed`.
  init(from source: Int) throws(PackMakingError) {
    guard (4_000...192_000).contains(source) else {
      throw PackMakingError(
        .recordingUnreadable, "The recording", "has a sample rate of \(source) Hz",
        remedy: "record at 4,000 to 192,000 Hz, best at 44,100 or 48,000 Hz")
    }
    do {
      resampler = try Resampler(from: source, to: Recording.sampleRate)
    } catch {
      throw PackMakingError(error)
    }
  }

  /// As `Resampler.next(_:)`.
  mutating func next(_ samples: [Float]) throws(PackMakingError) -> [Float] {
    do {
      return try resampler.next(samples)
    } catch {
      throw PackMakingError(error)
    }
  }

  /// As `Resampler.finish()`.
  mutating func finish() throws(PackMakingError) -> [Float] {
    do {
      return try resampler.finish()
    } catch {
      throw PackMakingError(error)
    }
  }
}

extension PackMakingError {
  fileprivate init(_ error: ResamplingError) {
    self.init(
      .conversionFailed, "The recording", "cannot be converted to another sample rate: \(error.reason)",
      remedy: "try again")
  }
}
