// SPDX-License-Identifier: Apache-2.0

/// The reason why a sound could not be converted to another sample rate.
public struct ResamplingError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable {
    /// A rate is outside ``Resampler/supportedRates``.
    case unsupportedRate = "unsupported_rate"
    /// libsoxr refused a call.
    case conversionFailed = "conversion_failed"
  }

  public var code: Code

  /// What happened, and what to do next.
  public var reason: String

  init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  public var description: String { "The sample rate cannot be converted: \(reason)" }
}
