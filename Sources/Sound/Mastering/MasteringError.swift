// SPDX-License-Identifier: Apache-2.0

/// The reason why a sound could not be mastered.
public struct MasteringError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable {
    /// No part of the sound is loud enough to be heard.
    case silent
    /// The sound has a sample rate other than 22,050 Hz.
    case unsupportedSampleRate = "unsupported_sample_rate"
    /// The sound's peaks are so far above its loudness that the necessary limiting would be audible.
    case loudnessUnreachable = "loudness_unreachable"
    /// libebur128 refused a call.
    case meterFailed = "meter_failed"
  }

  public var code: Code

  /// The problem, and what to do next.
  public var reason: String

  init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  public var description: String { "The sound cannot be mastered: \(reason)" }
}
