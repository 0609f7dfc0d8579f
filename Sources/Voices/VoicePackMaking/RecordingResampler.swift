// SPDX-License-Identifier: Apache-2.0

import Resampling

/// Converts a recording to the sample rate of clips. Its errors are errors of the recording.
///
/// A recording is converted only once, when a pack is made. It therefore does not matter that the last bit may differ
/// between processors.
struct RecordingResampler: ~Copyable {
  private var resampler: Resampler

  /// Creates a resampler.
  ///
  /// - Parameter source: the source's rate, 4,000 to 192,000 Hz. If it is the rate of clips, nothing is converted.
  /// - Throws: `PackMakingError`: `recordingUnreadable` for any other rate, or `conversionFailed`.
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

  /// Converts samples; see `Resampler.next(_:)`.
  mutating func next(_ samples: [Float]) throws(PackMakingError) -> [Float] {
    do {
      return try resampler.next(samples)
    } catch {
      throw PackMakingError(error)
    }
  }

  /// Returns the remaining samples; see `Resampler.finish()`.
  mutating func finish() throws(PackMakingError) -> [Float] {
    do {
      return try resampler.finish()
    } catch {
      throw PackMakingError(error)
    }
  }
}

extension PackMakingError {
  init(_ error: ResamplingError) {
    self.init(
      .conversionFailed, "The recording", "cannot be converted to another sample rate: \(error.reason)",
      remedy: "try again")
  }
}
